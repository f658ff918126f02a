/**
 * Many names of a service that counts them: waits where it asks to wait, uses what is left of a quota, and keeps what was
 * answered whatever comes after. Names without an answer say why.
 */

import type { DomainRisks, Failure, Result } from '../../client/src/index.ts';
import type { LookUp, Row } from './names.ts';

export interface Asking {
  readonly ask: (names: readonly string[]) => Promise<Result<DomainRisks>>;
  readonly pause: (seconds: number) => Promise<unknown>;
}

/** For one call, in all: a rate limit and an overloaded service ask for a second or two each time. */
const LONGEST_WAIT_S = 300;
/** Calls in a row of which nobody knows whether they were counted: the next would fare no better. */
const MOST_FAILURES = 3;

export function patiently({ ask, pause }: Asking): LookUp {
  let most = Infinity;
  let failures = 0;
  let stopped: Failure | undefined;

  async function askWaiting(names: readonly string[]): Promise<Result<DomainRisks>> {
    for (let waited = 0; ; ) {
      const result = await ask(names);
      const seconds = result.ok ? Infinity : secondsToWait(result);
      waited += seconds;
      if (waited > LONGEST_WAIT_S) return result;
      await pause(seconds);
    }
  }

  return async names => {
    const rows: Row[] = [];
    while (rows.length < names.length) {
      const some = names.slice(rows.length, rows.length + most);
      const result = stopped ?? (await askWaiting(some));
      if (result.ok) {
        failures = 0;
        // What the client did not send is shown as it was read.
        const shown = (domain: string, at: number) => (domain === '' ? some[at]! : domain);
        rows.push(...result.data.results.map((row, at) => ({ ...row, domain: shown(row.domain, at) })));
        continue;
      }
      const left = result.code === 'quota_exceeded' ? (result.quota?.remaining ?? 0) : 0;
      if (!stopped && left > 0 && some.length > 1) {
        // A quota takes all names of a call or none: what is left of it goes with a smaller call.
        most = Math.min(left, some.length - 1);
        continue;
      }
      // Long internationalised names: a body has at most 300 kB.
      if (!stopped && result.status === 413 && some.length > 1) {
        most = Math.ceil(some.length / 2);
        continue;
      }
      if (!isOfThisCall(result) || ++failures === MOST_FAILURES) stopped = result;
      rows.push(...some.map(name => unanswered(name, result)));
    }
    return rows;
  };
}

/** Only what is not counted is asked again. */
function secondsToWait({ status, code, retryAfter }: Failure): number {
  const isUncounted = (status === 429 && code !== 'quota_exceeded') || status === 503;
  return isUncounted && retryAfter !== null ? Math.max(1, retryAfter) : Infinity;
}

/** The next one may have an answer. */
function isOfThisCall({ cause }: Failure): boolean {
  return cause === 'timeout' || cause === 'server';
}

function unanswered(domain: string, { cause, code, message }: Failure): Row {
  return { domain, error: code ?? cause, detail: cause === 'aborted' ? 'Interrupted.' : message };
}
