/** The front: type a domain, paste or upload a list, and see whether it can be trusted, and why. */

import type { DomainRisk } from '../api.ts';
import { lookup } from '../lookup.ts';
import { Answer } from '../parts/answer.tsx';
import { route } from '../route.ts';
import { run } from '../run.ts';
import { useShared } from '../shared.ts';
import { More, Outcome } from './domain.tsx';
import { LookUpForm } from './lookup-form.tsx';
import { Results } from './results.tsx';

export function LookUp() {
  const [view, domain] = useShared(route);
  const list = useShared(run);
  const one = useShared(lookup);
  const isPage = view === 'd' && domain !== undefined;
  // Until the browser has told of the new address, what is being looked up is there already.
  const shown = isPage && one ? one : undefined;
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Can this email domain be trusted?</h1>
        <p>
          A score from 0 to 100 and the evidence behind every point. Only the domain is sent, never the full
          email address.
        </p>
      </div>
      <div class="columns">
        <LookUpForm />
        <div>{shown ? <Outcome lookup={shown} /> : list ? <Results run={list} /> : <Example />}</div>
      </div>
      {shown?.result?.ok && <More key={shown.domain} risk={shown.result.data} />}
    </>
  );
}

/** Without a date: it would need what writes dates, which the first page does not load. */
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
      { feed: 'fakefilter', entry: 'mailinator.com', since: null },
    ],
    dns: { state: 'not_asked', mx: [], stale: false },
    snapshot: '0a7e5fb169eb',
  },
};

/** Before the first lookup: what an answer looks like. */
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
