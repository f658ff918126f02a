/** One answer: a plain sentence, the score with its advice, and the evidence behind it. */

import type { DomainRisk, Evidence } from '../api.ts';
import { listsWords } from '../lists.ts';
import { listsInUse } from '../lists-in-use.ts';
import { useShared } from '../shared.ts';
import { day } from '../time.ts';
import { bandOf, DNS_WORDS, headline, isNeutral, reasonWord, signalWords } from '../verdict.ts';
import { Notice } from './notice.tsx';
import { BandBadge, Scale } from './scale.tsx';

interface AnswerProps {
  readonly risk: DomainRisk;
  readonly degraded?: boolean;
}

export function Answer({ risk, degraded = false }: AnswerProps) {
  return (
    <div class="answer">
      <p class="headline">{headline(risk, degraded)}</p>
      <Verdict risk={risk} degraded={degraded} />
      {degraded && (
        <Notice tone="warning" title="Degraded answer">
          <p>
            DNS did not answer in time (<code>X-Risk-Degraded: dns</code>).{' '}
            {isNeutral(risk.reason, degraded)
              ? 'The score is the neutral one.'
              : 'It is judged by its name alone.'}{' '}
            Try again in 30 seconds.
          </p>
        </Notice>
      )}
      {risk.evidence && <Why evidence={risk.evidence} score={risk.risk_score} />}
    </div>
  );
}

function Verdict({ risk, degraded }: { risk: DomainRisk; degraded: boolean }) {
  const { risk_score, reason, is_free_provider, is_corporate_email, mx_provider_label } = risk;
  const { name, advice } = bandOf(risk_score);
  return (
    <>
      <div class="verdict">
        <p class={`score band-${name}`}>
          <span class="score-number">{risk_score}</span>
          <span class="score-of">of 100</span>
        </p>
        <div class="verdict-words">
          <p class="verdict-band">
            <BandBadge score={risk_score} /> <span>{advice}</span>
          </p>
          <p class="verdict-reason">
            <strong>{reasonWord(reason, degraded)}</strong>
          </p>
        </div>
        <Scale score={risk_score} />
      </div>
      <dl class="facts">
        <Fact name="Reason" value={<code>{reason}</code>} />
        <Fact name="Mail received by" value={mx_provider_label ?? 'None known'} />
        <Fact name="Free provider" value={is_free_provider ? 'Yes' : 'No'} />
        <Fact name="Corporate email" value={is_corporate_email ? 'Yes' : 'No'} />
      </dl>
    </>
  );
}

function Fact({ name, value }: { name: string; value: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Why({ evidence, score }: { evidence: Evidence; score: number }) {
  const { signals, lists, dns, snapshot } = evidence;
  const inUse = useShared(listsInUse);
  return (
    <div class="why">
      <section>
        <h3>Signals</h3>
        <table class="signals">
          <caption class="hidden">Signals and their points, which add up to the score</caption>
          <thead class="hidden">
            <tr>
              <th scope="col">Signal</th>
              <th scope="col">Points</th>
            </tr>
          </thead>
          <tbody>
            {signals.map(({ signal, points, detail }) => (
              <tr key={signal}>
                <th scope="row">
                  {signalWords(signal)} <code>{signal}</code>
                  <span class="detail">{detail}</span>
                </th>
                <td class="number">{points > 0 ? `+${points}` : points}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Score</th>
              <td class="number">{score}</td>
            </tr>
          </tfoot>
        </table>
      </section>
      <section>
        <h3>DNS</h3>
        <p>
          {DNS_WORDS[dns.state]} <code>{dns.state}</code>
          {dns.stale && ' · an older answer: DNS is not answering now'}
        </p>
        {dns.mx.length > 0 && (
          <ul class="exchanges">
            {dns.mx.map(host => (
              <li key={host} class="mono">
                {host}
              </li>
            ))}
          </ul>
        )}
      </section>
      <Lists lists={lists} />
      <p class="hint lists-used">{listsWords(snapshot, inUse)}</p>
    </div>
  );
}

function Lists({ lists }: { lists: Evidence['lists'] }) {
  return (
    <section>
      <h3>Lists</h3>
      {lists.length === 0 ? (
        <p>Not on any list.</p>
      ) : (
        <table class="lists">
          <caption class="hidden">Lists that name it</caption>
          <thead>
            <tr>
              <th scope="col">List</th>
              <th scope="col">Entry</th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {lists.map(({ feed, entry, since }) => (
              <tr key={feed + entry}>
                <th scope="row">{feed}</th>
                <td class="mono">{entry}</td>
                <td>{since ? day(since) : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
