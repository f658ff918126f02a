/** Getting started, with this service's own address and the visitor's own key filled in. */

import { Elsewhere } from '../parts/frame.tsx';
import { Samples } from '../parts/samples.tsx';
import { apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { BANDS } from '../verdict.ts';

export function Docs() {
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Docs</h1>
        <p>
          From nothing to a protected sign-up in five minutes.{' '}
          <Elsewhere href="/docs">API reference: every field and parameter.</Elsewhere>{' '}
          <Elsewhere href="/openapi.json">OpenAPI document for machines.</Elsewhere>
        </p>
      </div>
      <Start />
      <Scores />
      <FailOpen />
      <Errors />
    </>
  );
}

function Start() {
  const { text: secret } = useShared(apiKey);
  return (
    <section class="card" aria-labelledby="start-title">
      <h2 id="start-title">Getting started</h2>
      <ol class="steps">
        <li>
          <strong>Get a key.</strong>{' '}
          {secret ? 'Yours is filled in below.' : 'Sign in with it to fill it in below. '}
          {!secret && (
            <>
              An operator makes one with <code>domain-risk keys create --name my-app</code>.
            </>
          )}
        </li>
        <li>
          <strong>Look up a domain.</strong> Send the key as <code>Authorization: Bearer …</code>. Each call
          uses one lookup of the monthly quota.
        </li>
      </ol>
      <Samples domain="mailinator.com" />
    </section>
  );
}

function Scores() {
  return (
    <section class="card" aria-labelledby="scores-title">
      <h2 id="scores-title">What the score means</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="table" tabIndex={0} aria-label="Scores, table">
        <table>
          <caption class="hidden">Scores and what to do</caption>
          <thead>
            <tr>
              <th scope="col">Score</th>
              <th scope="col">Word</th>
              <th scope="col">What to do</th>
            </tr>
          </thead>
          <tbody>
            {BANDS.map(({ name, from, to, word, advice }) => (
              <tr key={name}>
                <th scope="row">{from === to ? from : `${from}–${to}`}</th>
                <td>
                  <span class={`badge band-${name}`}>{word}</span>
                </td>
                <td>{advice}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function FailOpen() {
  return (
    <section class="card" aria-labelledby="open-title">
      <h2 id="open-title">Fail open</h2>
      <p>
        This check must never be the reason why a person cannot sign up. Give every call a timeout. On 429,
        5xx or a timeout, let the sign-up through. The client package does this for you.
      </p>
      <p>
        When DNS does not answer, the service says so with <code>X-Risk-Degraded: dns</code> and gives the
        neutral score 40: an outage never flags anyone.
      </p>
    </section>
  );
}

const ERRORS = [
  ['unauthorized', 401, 'The key is missing or invalid.', 'Fix the key.'],
  [
    'forbidden',
    403,
    'The key may not be used from this origin or network.',
    'Fix the origin, or use another key.',
  ],
  [
    'validation_error',
    422,
    'The domain or a parameter is not valid; detail names the rule.',
    'Fix the input.',
  ],
  [
    'quota_exceeded',
    429,
    'The quota of the month is used up; reset_at tells when it resets.',
    'Continue without the check.',
  ],
  [
    'rate_limited',
    429,
    'More calls per second than this key may make.',
    'Continue without the check, or wait for Retry-After.',
  ],
  [
    'internal_error',
    500,
    'A fault of the service; request_id finds it in the log.',
    'Continue without the check.',
  ],
  ['overloaded', 503, 'More calls than it can answer; nothing was counted.', 'Continue without the check.'],
  ['not_found', 404, 'There is nothing at this path.', 'Fix the address.'],
  [
    'method_not_allowed',
    405,
    'The path does not take this method; Allow names those it takes.',
    'Fix the method.',
  ],
] as const;

function Errors() {
  return (
    <section class="card" aria-labelledby="errors-title">
      <h2 id="errors-title">Errors</h2>
      <p>
        All have the same shape: <code>{'{"error", "message", "detail", "request_id"}'}</code>.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="table listing" tabIndex={0} aria-label="Errors, table">
        <table>
          <caption class="hidden">Errors and what to do</caption>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col" class="number">
                Status
              </th>
              <th scope="col">Meaning</th>
              <th scope="col">What to do</th>
            </tr>
          </thead>
          <tbody>
            {ERRORS.map(([code, status, says, todo]) => (
              <tr key={code}>
                <th scope="row">
                  <code>{code}</code>
                </th>
                <td class="number">{status}</td>
                <td class="wordy">{says}</td>
                <td class="wordy">{todo}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
