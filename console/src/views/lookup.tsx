/** The front: type a domain or paste a list, and see whether it can be trusted, and why. */

import { useRef, useState } from 'preact/hooks';
import type { DomainRisk } from '../api.ts';
import { cancelLookup, type Lookup, lookUp, lookUpAll, lookup, typedNames } from '../lookup.ts';
import { domainParts, MOST_NAMES, type Names, readNames } from '../names.ts';
import { Answer } from '../parts/answer.tsx';
import { Field, SecretField } from '../parts/field.tsx';
import { FailureNotice, Waiting } from '../parts/notice.tsx';
import { SENT_ONCE } from '../parts/sent-once.ts';
import { run } from '../run.ts';
import { apiKey, looksLikeKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { plural } from '../time.ts';
import { bandOf, REASON_WORDS } from '../verdict.ts';
import { Results } from './results.tsx';

const EXAMPLES = ['gmail.com', 'mailinator.com', 'nothing.invalid'];

export function LookUp() {
  const list = useShared(run);
  const one = useShared(lookup);
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Can this email domain be trusted?</h1>
        <p>
          A score from 0 to 100, and every point of it explained. Only domains are sent, never an address.
        </p>
      </div>
      <div class="columns">
        <LookUpForm />
        <div>{list ? <Results run={list} /> : one ? <Outcome lookup={one} /> : <Example />}</div>
      </div>
    </>
  );
}

function LookUpForm() {
  const text = useShared(typedNames);
  const { text: secret } = useShared(apiKey);
  const [missing, setMissing] = useState<'domain' | 'key' | 'other'>();
  const form = useRef<HTMLFormElement>(null);
  const names = readNames(text);
  const count = names.domains.length;

  function submit(event: Event): void {
    event.preventDefault();
    const lacks = lacking(names, secret);
    setMissing(lacks);
    if (lacks) form.current?.querySelector<HTMLElement>(lacks === 'key' ? 'input' : 'textarea')?.focus();
    else if (count === 1) void lookUp(names.domains[0]!, secret);
    else lookUpAll(names.domains, secret);
  }

  function type(next: string): void {
    setMissing(undefined);
    typedNames.set(next);
  }

  return (
    <form class="card ask" ref={form} onSubmit={submit} noValidate {...SENT_ONCE}>
      <Field
        label="Domain or list of domains"
        hint={
          <NamesHint
            names={names}
            isMissing={missing === 'domain'}
            isStopped={missing === 'other'}
            onType={type}
          />
        }
      >
        {ids => (
          <textarea
            {...ids}
            class="mono"
            rows={Math.min(8, Math.max(1, text.split('\n').length))}
            value={text}
            aria-invalid={missing === 'domain' || missing === 'other'}
            placeholder="example.com"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={event => type(event.currentTarget.value)}
            onKeyDown={event => {
              const isAsking = event.key === 'Enter' && !event.shiftKey && !event.isComposing;
              if (isAsking && !event.repeat) submit(event);
            }}
          />
        )}
      </Field>
      <SecretField label="API key" secret={apiKey} hint={keyHint(secret, missing === 'key')} />
      <button type="submit" class="button primary">
        {count > 1 ? `Look up ${count} domains` : 'Look up'}
      </button>
      <p class="examples">
        Try{' '}
        {EXAMPLES.map(name => (
          <button key={name} type="button" class="chip" onClick={() => type(name)}>
            {name}
          </button>
        ))}
      </p>
    </form>
  );
}

function lacking(names: Names, secret: string): 'domain' | 'key' | 'other' | undefined {
  if (names.domains.length === 0) return 'domain';
  if (names.addresses.length > 0 || names.domains.length > MOST_NAMES) return 'other';
  return secret === '' ? 'key' : undefined;
}

function keyHint(secret: string, isMissing: boolean) {
  if (isMissing)
    return (
      <span class="wrong" role="alert">
        Type a key: each call is made in its name.
      </span>
    );
  if (secret !== '' && !looksLikeKey(secret))
    return 'Keys are drk_ and 49 letters and digits: this one is not whole yet.';
  return 'Kept in this page only; never in the address or on disk.';
}

interface NamesHintProps {
  readonly names: Names;
  readonly isMissing: boolean;
  /** The person tried to send it as it is. */
  readonly isStopped: boolean;
  onType(text: string): void;
}

function NamesHint({
  names: { domains, addresses, repeated },
  isMissing,
  isStopped,
  onType,
}: NamesHintProps) {
  if (isMissing)
    return (
      <span class="wrong" role="alert">
        Type a domain first, such as gmail.com.
      </span>
    );
  if (addresses.length > 0)
    return (
      <span {...(isStopped ? { class: 'wrong', role: 'alert' } : {})}>
        {addresses.length === 1
          ? 'This is an email address'
          : `${addresses.length} of these are email addresses`}
        . Only domains are looked up.{' '}
        <button type="button" class="link" onClick={() => onType(domainParts(domains.join('\n')))}>
          Use the domain {addresses.length === 1 ? 'part' : 'parts'}
        </button>
      </span>
    );
  if (domains.length > MOST_NAMES)
    return (
      <span class="wrong">
        {plural(domains.length, 'domain')}: at most {MOST_NAMES} at once, so none is looked up.{' '}
        <button type="button" class="link" onClick={() => onType(domains.slice(0, MOST_NAMES).join('\n'))}>
          Keep the first {MOST_NAMES}
        </button>
      </span>
    );
  if (domains.length > 1)
    return (
      <span>
        <strong>{plural(domains.length, 'call')} against your quota</strong>
        {repeated > 0 && `; ${plural(repeated, 'repetition')} left out`}.
      </span>
    );
  return <span>One call against your quota. Up to {MOST_NAMES} at once: paste a list.</span>;
}

function Outcome({ lookup: { domain, result } }: { lookup: Lookup }) {
  const { text: secret } = useShared(apiKey);
  const title = result?.ok ? result.data.domain : domain;
  return (
    <section class="card result" aria-labelledby="result-title" aria-busy={!result}>
      <h2 id="result-title" class="domain">
        {title}
      </h2>
      <p class="hidden" role="status">
        {result?.ok && spoken(result.data)}
      </p>
      {!result && (
        <>
          <Waiting for={domain} />
          <button type="button" class="button" onClick={cancelLookup}>
            Cancel
          </button>
        </>
      )}
      {result?.ok && (
        <Answer key={domain} risk={result.data} degraded={result.degraded} {...(secret ? { secret } : {})} />
      )}
      {result && !result.ok && <FailureNotice failure={result} onRetry={() => void lookUp(domain, secret)} />}
    </section>
  );
}

const spoken = ({ domain, risk_score, reason }: DomainRisk) =>
  `${domain}: ${risk_score} of 100, ${bandOf(risk_score).word}, ${REASON_WORDS[reason]}`;

const SAMPLE: DomainRisk = {
  domain: 'inbox.mailinator.com',
  risk_score: 100,
  reason: 'disposable',
  is_free_provider: false,
  is_corporate_email: false,
  mx_provider_label: null,
  evidence: {
    signals: [
      {
        signal: 'verified_list',
        points: 100,
        detail: 'mailinator.com is in disposable-email-domains, fakefilter',
      },
    ],
    lists: [
      { feed: 'disposable-email-domains', entry: 'mailinator.com', since: null },
      { feed: 'fakefilter', entry: 'mailinator.com', since: '2024-06-29' },
    ],
    dns: { state: 'not_asked', mx: [], stale: false },
    snapshot: '0a7e5fb169eb',
  },
};

/** Before the first question: what an answer looks like. */
function Example() {
  return (
    <section class="card result example" aria-labelledby="example-title">
      <p class="eyebrow">Example answer</p>
      <h2 id="example-title" class="domain">
        {SAMPLE.domain}
      </h2>
      <Answer risk={SAMPLE} />
    </section>
  );
}
