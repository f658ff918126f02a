/** One answer in full: the verdict at a glance, the evidence behind it, and the call as a program makes it. */

import { useState } from 'preact/hooks';
import { type DomainRisk, domainPath, type Evidence } from '../api.ts';
import { day } from '../time.ts';
import { bandOf, DNS_WORDS, isNeutral, meaning, REASON_WORDS, signalWords } from '../verdict.ts';
import { Code } from './copy.tsx';
import { Notice } from './notice.tsx';
import { BandBadge, Scale } from './scale.tsx';

interface AnswerProps {
  readonly risk: DomainRisk;
  readonly degraded?: boolean;
  /** For the option to show the real key in the curl line; without it there is none. */
  readonly secret?: string;
}

export function Answer({ risk, degraded = false, secret }: AnswerProps) {
  return (
    <div class="answer">
      <Verdict risk={risk} degraded={degraded} />
      {degraded && (
        <Notice tone="warning" title="Degraded answer">
          <p>
            DNS did not answer in time (<code>X-Risk-Degraded: dns</code>).{' '}
            {isNeutral(risk.reason, degraded)
              ? 'The score is the neutral one.'
              : 'It is judged by its name alone.'}{' '}
            Ask again in half a minute.
          </p>
        </Notice>
      )}
      {risk.evidence && <Why evidence={risk.evidence} score={risk.risk_score} />}
      <Raw risk={risk} secret={secret} />
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
            <strong>{REASON_WORDS[reason]}.</strong> {meaning(risk, degraded)}
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
          {dns.stale && ' · an older answer, since DNS does not answer now'}
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
      <p class="hint">
        Judged by the lists of snapshot <code>{snapshot}</code>
      </p>
    </div>
  );
}

function Lists({ lists }: { lists: Evidence['lists'] }) {
  return (
    <section>
      <h3>Lists</h3>
      {lists.length === 0 ? (
        <p>No list names it.</p>
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

export function curlLine(path: string, secret = '$API_KEY'): string {
  return `curl -H "Authorization: Bearer ${secret}" "${location.origin}${path}"`;
}

function Raw({ risk, secret }: { risk: DomainRisk; secret: string | undefined }) {
  const [isReal, setIsReal] = useState(false);
  const line = curlLine(domainPath(risk.domain), isReal ? secret : undefined);
  return (
    <div class="raw">
      <details>
        <summary>Raw JSON</summary>
        <Code text={JSON.stringify(risk, null, 2)} what="JSON" />
      </details>
      <details>
        <summary>The same call with curl</summary>
        <Code text={line} what="curl line" isWrapped />
        {secret && (
          <label class="check">
            <input
              type="checkbox"
              checked={isReal}
              onChange={event => setIsReal(event.currentTarget.checked)}
            />
            Put my key into the line
          </label>
        )}
      </details>
    </div>
  );
}
