/** The page of one domain: what people link to and show each other. */

import { useState } from 'preact/hooks';
import type { OverrideAction } from '../admin.ts';
import type { DomainRisk } from '../api.ts';
import { domainIn } from '../domain-in.ts';
import { door } from '../door.ts';
import { cancelLookup, type Lookup, lookUp } from '../lookup.ts';
import { Answer } from '../parts/answer.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Code } from '../parts/copy.tsx';
import { Field } from '../parts/field.tsx';
import { useInSight } from '../parts/in-sight.ts';
import { GraphCard } from '../parts/lazy-graph.tsx';
import { Empty, FailureNotice, Notice, Waiting } from '../parts/notice.tsx';
import { Samples } from '../parts/samples.tsx';
import { apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { moment } from '../time.ts';
import { bandOf, headline } from '../verdict.ts';

export function Outcome({ lookup: { domain, result, isWaiting } }: { lookup: Lookup }) {
  const { text: secret } = useShared(apiKey);
  const card = useInSight<HTMLElement>(true, domain, isWaiting);
  return (
    <section class="card result" aria-labelledby="result-title" aria-busy={isWaiting} ref={card}>
      <h2 id="result-title" class="domain" tabIndex={-1}>
        <Breakable name={domain} />
      </h2>
      <p class="hidden" role="status">
        {result?.ok && spoken(result.data, result.degraded)}
      </p>
      {isWaiting && (
        <>
          <Waiting doing="Looking up" for={domain} />
          <button type="button" class="button" onClick={cancelLookup}>
            Cancel
          </button>
        </>
      )}
      {!isWaiting && !result && (
        <Empty title="Not looked up yet">
          <p>Sign in with an API key and look it up. It uses one lookup of the key's quota.</p>
        </Empty>
      )}
      {result?.ok && <Answer key={domain} risk={result.data} degraded={result.degraded} />}
      {result?.ok && (
        <p class="hint">
          Looked up {moment(new Date(result.at).toISOString())}. A reload uses one lookup of your quota.
        </p>
      )}
      {result && !result.ok && <FailureNotice failure={result} onRetry={() => lookUp(domain, secret)} />}
      {!isWaiting && domainIn(domain) === domain && <Decide key={domain} domain={domain} />}
    </section>
  );
}

const spoken = (risk: DomainRisk, degraded: boolean) =>
  `${risk.domain}: ${risk.risk_score} of 100, ${bandOf(risk.risk_score).word}. ${headline(risk, degraded)}`;

/** Below the answer, over the whole width. */
export function More({ risk }: { risk: DomainRisk }) {
  return (
    <>
      {risk.evidence?.graph && <GraphCard key={risk.domain} risk={risk} />}
      <section class="card" aria-labelledby="call-title">
        <h2 id="call-title">The same lookup in code</h2>
        <Samples domain={risk.domain} isShowing />
        <details>
          <summary>Raw JSON</summary>
          <Code text={JSON.stringify(risk, null, 2)} what="JSON" />
        </details>
      </section>
    </>
  );
}

const DECISIONS = {
  allow: { verb: 'Allow', effect: 'Answered as safe with score 0 from the next call on.' },
  deny: { verb: 'Deny', effect: 'Answered as disposable with score 100 from the next call on.' },
} as const satisfies Partial<Record<OverrideAction, unknown>>;
type Decision = keyof typeof DECISIONS;

/** For operators who are signed in, whether or not they have a key to look it up with. */
function Decide({ domain }: { domain: string }) {
  const isOperator = useShared(door) === 'open';
  const [wanted, setWanted] = useState<Decision>();
  const [done, setDone] = useState<Decision>();
  // A token that is refused closes the door: what was asked for still has its answer, in the dialog.
  if (!isOperator && !wanted) return null;
  return (
    <section aria-labelledby="decide-title">
      <h3 id="decide-title">Your decision</h3>
      <p class="buttons">
        {(Object.keys(DECISIONS) as Decision[]).map(name => (
          <button
            key={name}
            type="button"
            class="button"
            aria-haspopup="dialog"
            aria-label={`${DECISIONS[name].verb} ${domain}`}
            onClick={() => setWanted(name)}
          >
            {DECISIONS[name].verb}
          </button>
        ))}
      </p>
      <p class="hint">
        Overrides every list and DNS. Remove it under <a href="#/operator/overrides">Overrides</a>.
      </p>
      {done && <Notice tone="info" title={`Override set: ${DECISIONS[done].verb.toLowerCase()} ${domain}`} />}
      {wanted && (
        <Decision
          domain={domain}
          action={wanted}
          onDone={() => setDone(wanted)}
          onClosed={() => setWanted(undefined)}
        />
      )}
    </section>
  );
}

interface DecisionProps {
  readonly domain: string;
  readonly action: Decision;
  onDone(): void;
  onClosed(): void;
}

function Decision({ domain, action, onDone, onClosed }: DecisionProps) {
  const { text: secret } = useShared(apiKey);
  const [note, setNote] = useState('');
  const [below, setBelow] = useState(false);
  const { verb, effect } = DECISIONS[action];
  return (
    <Confirm
      title={`${verb} ${domain}`}
      verb={verb}
      isDangerous={action === 'deny'}
      act={async () =>
        (await import('../admin.ts')).setOverride(domain, {
          action,
          below,
          note: note.trim() || null,
          expires_at: null,
        })
      }
      onAnswered={() => {}}
      onDone={() => {
        onDone();
        if (secret) lookUp(domain, secret);
      }}
      onClosed={onClosed}
    >
      <p>
        {effect} It replaces an override that is there and is recorded in the audit log.
        {secret && ' Then the page looks it up again, which uses one lookup.'}
      </p>
      <Field label="Note">
        {ids => (
          <input
            {...ids}
            maxLength={200}
            value={note}
            onInput={event => setNote(event.currentTarget.value)}
          />
        )}
      </Field>
      <label class="check">
        <input type="checkbox" checked={below} onChange={event => setBelow(event.currentTarget.checked)} />
        Include subdomains
      </label>
    </Confirm>
  );
}
