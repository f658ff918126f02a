/** What the log tells of updates of the lists. */

import type { Logger } from 'pino';
import type { Clock } from './core/ports.ts';
import type { ScheduleParts } from './schedule.ts';
import type { Outcome } from './update.ts';

const DAY_MS = 86_400_000;
/** What an operator has to look at. */
const BAD: readonly Outcome[] = ['refused', 'failed', 'waiting'];
/** A line of the log stays short, however many feeds have trouble. */
const TOLD = 3;
const MOST_TOLD = 200;

/** What updates brought, and what kept them from it: the same trouble once a day, however often it is tried. */
export function tellOfUpdates(log: Logger, clock: Clock): ScheduleParts['tell'] {
  let told = '';
  let toldAt = 0;
  const tellOnce = (problem: string, fields: object) => {
    const now = clock();
    if (problem === told && now >= toldAt && now - toldAt < DAY_MS) return;
    told = problem;
    toldAt = now;
    log.warn(fields, problem);
  };
  return {
    updated(done) {
      const of = (...wanted: Outcome[]) =>
        done.filter(({ outcome }) => wanted.includes(outcome)).map(({ feed }) => feed);
      const changed = of('accepted');
      const bad = done.filter(({ outcome }) => BAD.includes(outcome));
      if (done.length > bad.length + of('held').length)
        log.info({ changed, unchanged: of('unchanged') }, 'the feeds were checked');
      if (bad.length === 0) {
        told = '';
        return;
      }
      // "feeds status" has all of them, whole.
      const problems = Object.fromEntries(
        bad.slice(0, TOLD).map(({ feed, problems }) => [feed, problems.join('; ').slice(0, MOST_TOLD)]),
      );
      const fault = bad.find(one => one.fault !== undefined)?.fault;
      tellOnce(`feeds not updated: ${bad.map(({ feed, outcome }) => `${feed} ${outcome}`).join(', ')}`, {
        problems,
        ...(fault === undefined ? {} : { err: fault }),
      });
    },
    failed: error => tellOnce('the feeds could not be updated', { err: error }),
  };
}
