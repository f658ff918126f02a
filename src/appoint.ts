/** VERB: who may operate, by a token of their own; and for a server, whose token it is that somebody shows. */

import { randomBytes } from 'node:crypto';
import { type Actor, actOf } from './core/audit.ts';
import { digestOf } from './core/key.ts';
import { alike } from './core/label.ts';
import { type OperatorRecord, TOKEN_PREFIX } from './core/operator.ts';
import type { Clock, Store } from './core/ports.ts';

export interface Appointed {
  readonly operator: OperatorRecord;
  /** Shown once, kept nowhere. */
  readonly token: string;
}

type Kept = Pick<Store, 'addOperator' | 'revokeOperator'>;

export function createAppoint({ store, clock }: { store: Kept; clock: Clock }) {
  return {
    /** Undefined where one who is not revoked has this name, or one like it. */
    async add(name: string, actor: Actor): Promise<Appointed | undefined> {
      const token = TOKEN_PREFIX + randomBytes(32).toString('hex');
      const operator = { name, digest: digestOf(token), createdAt: clock(), revokedAt: null };
      const act = actOf(clock(), 'operator.add', name, actor);
      return (await store.addOperator(operator, act)) ? { operator, token } : undefined;
    },
    /** False where nobody has this name, or not any more. */
    revoke: (name: string, actor: Actor): Promise<boolean> =>
      store.revokeOperator(name, clock(), actOf(clock(), 'operator.revoke', name, actor)),
  };
}

/** How soon a running server knows of a change by itself. Who shows a token is judged by a look that began afterwards. */
const LOOK_MS = 1_000;
const RANDOM_PART = /^[0-9a-f]{64}$/;
const isWellFormed = (token: string) =>
  token.startsWith(TOKEN_PREFIX) && RANDOM_PART.test(token.slice(TOKEN_PREFIX.length));
/** Between looks for the sake of tokens that nobody knows: anybody can send those, by the thousand. */
const STRANGERS_MS = 100;
/** A store that does not answer keeps nobody from what can be done without it. */
const PATIENCE_MS = 1_000;

export interface Operators {
  /** Of whose token it is; undefined where it is nobody's, or no longer. */
  nameOf(token: string): string | undefined;
  /** Whether somebody of this name has, or had, a token: nobody else acts under it. */
  isAppointed(name: string): boolean;
  /** Settles when it is known whether this token is valid now, whichever server changed that; undefined where it is none. */
  refresh(token: string): Promise<void> | undefined;
  /** Knows of a change at once, where this server made it. */
  look(): Promise<void>;
  close(): void;
}

/** Where nobody can operate over HTTP. */
export const NO_OPERATORS: Operators = {
  nameOf: () => undefined,
  isAppointed: () => false,
  refresh: () => undefined,
  look: async () => {},
  close: () => {},
};

const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms).unref());

/** Who comes before it has begun shares it. The next begins after its end, and so much later. */
function shared(work: () => Promise<void>, gapMs: number): () => Promise<void> {
  let before = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= before.then(() => {
      next = undefined;
      const done = work().catch(() => {});
      before = gapMs > 0 ? done.then(() => pause(gapMs)) : done;
      return done;
    });
    return next;
  };
}

export async function watchOperators(parts: {
  store: Pick<Store, 'listOperators'>;
  everyMs?: number;
  patienceMs?: number;
}): Promise<Operators> {
  const { store, everyMs = LOOK_MS, patienceMs = PATIENCE_MS } = parts;
  let names = new Map<string, string>();
  let appointed = new Set<string>();
  let [begun, taken] = [0, 0];

  async function look(): Promise<void> {
    const mine = ++begun;
    const all = await store.listOperators();
    // What began later and came first is newer.
    if (mine < taken) return;
    taken = mine;
    const live = all.filter(({ revokedAt }) => revokedAt === null);
    names = new Map(live.map(({ digest, name }) => [digest, name]));
    appointed = new Set(all.map(({ name }) => alike(name)));
  }

  // A store that is away is told of by others; nobody is let in for it who was not before.
  await look().catch(() => {});
  const timer = setInterval(() => void look().catch(() => {}), everyMs).unref();
  const [forKnown, forStrangers] = [shared(look, 0), shared(look, STRANGERS_MS)];
  return {
    nameOf: token => (token.startsWith(TOKEN_PREFIX) ? names.get(digestOf(token)) : undefined),
    isAppointed: name => appointed.has(alike(name)),
    refresh(token) {
      if (!isWellFormed(token)) return undefined;
      const looked = names.has(digestOf(token)) ? forKnown() : forStrangers();
      return Promise.race([looked, pause(patienceMs)]);
    },
    look,
    close: () => clearInterval(timer),
  };
}

const FIRST = { who: 'first', via: 'first start' };

/** A token for whoever opens the link of the first start; none where operators have a port of their own, or none at all. */
export function appointing(
  { isAdminToken, metricsPort }: { isAdminToken: unknown; metricsPort: number | undefined },
  { store, clock, operators }: { store: Kept; clock: Clock; operators: Pick<Operators, 'look'> },
): () => Promise<string | null> {
  return async () => {
    if (!isAdminToken || metricsPort !== undefined) return null;
    const appointed = await createAppoint({ store, clock }).add(FIRST.who, FIRST);
    // It is stored: a look that fails now comes again in a second, and the token would be lost.
    await operators.look().catch(() => {});
    return appointed?.token ?? null;
  };
}
