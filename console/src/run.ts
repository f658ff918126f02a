/** Looking up a list: a hundred names with one call, each of them counted; it can be cancelled and taken up again. */

import type { DomainRisk, Failure, Result } from './api.ts';
import { askDomains } from './calls.ts';
import { explain } from './problem.ts';
import { personal, whenForgotten } from './session.ts';

export interface Row {
  readonly domain: string;
  /** Not there: not asked yet. */
  readonly result?: Result<DomainRisk>;
  /** Why it was not asked, where the list ended before it. */
  readonly heldBy?: Failure;
}

export interface Run {
  readonly rows: readonly Row[];
  readonly isRunning: boolean;
  /** No more are sent. Those under way are counted already, so their answers are waited for. */
  readonly isStopping: boolean;
  /** Why it ended before the last name. */
  readonly stoppedBy?: Failure;
}

/** Enough that the way there and back is nothing, and few enough to see progress and to cancel. */
const AT_ONCE = 100;
/** A list with a rate of one call a second waits its turn, but not for ever. */
const MOST_WAITS = 60;

export const run = personal<Run | undefined>(undefined);
/** Drops the calls under way: nobody wants their answers any more. */
let drop = new AbortController();

export const isAsked = (row: Row) => row.result !== undefined;
/** Asked in vain, and asking again can help. */
export const isUnanswered = ({ result }: Row) => result?.ok === false && explain(result).canRetry;
/** Those that are still to be asked, or again. */
export const leftOf = ({ rows }: Run) => rows.filter(row => !isAsked(row) || isUnanswered(row)).length;

export function startRun(domains: readonly string[], secret: string): void {
  go(
    domains.map(domain => ({ domain })),
    secret,
  );
}

/** Asks what was not asked yet, and again what had no answer. */
export function continueRun(secret: string): void {
  const before = run.get();
  const rows = before?.rows.map(row => (isUnanswered(row) || row.heldBy ? { domain: row.domain } : row));
  if (rows) go(rows, secret);
}

export function cancelRun(): void {
  const now = run.get();
  if (now) run.set({ ...now, isStopping: true });
}

export function forgetRun(): void {
  drop.abort();
  run.set(undefined);
}

whenForgotten(forgetRun);

function go(rows: readonly Row[], secret: string): void {
  drop.abort();
  const mine = new AbortController();
  drop = mine;
  run.set({ rows, isRunning: true, isStopping: false });
  const update = (change: Partial<Run>) => {
    const now = run.get();
    if (now && drop === mine) run.set({ ...now, ...change });
  };
  const list: List = {
    heard: [...rows],
    waiting: rows.flatMap((row, at) => (isAsked(row) ? [] : [at])),
    secret,
    signal: mine.signal,
    goesOn: () => drop === mine && run.get()?.isStopping === false,
    update,
  };
  void askAll(list).then(() => update({ isRunning: false }));
}

interface List {
  readonly heard: Row[];
  /** Places in `heard`. */
  readonly waiting: number[];
  readonly secret: string;
  readonly signal: AbortSignal;
  goesOn(): boolean;
  update(change: Partial<Run>): void;
}

async function askAll(list: List): Promise<void> {
  const { heard, waiting, update } = list;
  const put = (at: number, what: Omit<Row, 'domain'>) => {
    heard[at] = { domain: heard[at]!.domain, ...what };
  };
  let most = AT_ONCE;
  while (waiting.length > 0 && list.goesOn()) {
    const places = waiting.slice(0, most);
    const answer = await askPatiently(
      places.map(at => heard[at]!.domain),
      list,
    );
    if (!answer) return;
    if ('ok' in answer && answer.remaining !== undefined && places.length > 1) {
      // A quota takes all names of a call or none: what is left of it goes with a smaller call.
      most = Math.min(answer.remaining, places.length - 1);
      continue;
    }
    if ('ok' in answer && endsAll(answer)) {
      for (const at of waiting) put(at, { heldBy: answer });
      return update({ rows: [...heard], stoppedBy: answer });
    }
    for (const [nth, at] of places.entries()) put(at, { result: 'ok' in answer ? answer : answer[nth]! });
    waiting.splice(0, places.length);
    update({ rows: [...heard] });
  }
}

/** A rate limit is no failure of a list: it only takes longer. Nothing where the list ended meanwhile. */
async function askPatiently(
  domains: readonly string[],
  { secret, signal, goesOn }: List,
): Promise<readonly Result<DomainRisk>[] | Failure | undefined> {
  for (let waits = 0; ; waits++) {
    const answer = await askDomains(domains, secret, signal);
    if (!('ok' in answer) || answer.code !== 'rate_limited' || waits === MOST_WAITS) return answer;
    await new Promise(resolve => setTimeout(resolve, (answer.retryAfter ?? 1) * 1000));
    if (!goesOn()) return undefined;
  }
}

/** The next name would fare no better. */
function endsAll({ kind, code }: Failure): boolean {
  if (kind === 'unreachable') return true;
  return code === 'unauthorized' || code === 'forbidden' || code === 'quota_exceeded';
}
