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

type Kept = Pick<Store, 'addOperator' | 'revokeOperator' | 'listOperators'>;

export function createAppoint({ store, clock }: { store: Kept; clock: Clock }) {
  return {
    /** Undefined where one who is not revoked has this name, or one like it. */
    async add(name: string, actor: Actor): Promise<Appointed | undefined> {
      const isDouble = (one: OperatorRecord) => one.revokedAt === null && alike(one.name) === alike(name);
      if ((await store.listOperators()).some(isDouble)) return undefined;
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

/** How soon a running server knows of a change. */
const LOOK_MS = 1_000;

export interface Operators {
  /** Of whose token it is; undefined where it is nobody's, or no longer. */
  nameOf(token: string): string | undefined;
  /** Whether somebody of this name has, or had, a token: nobody else acts under it. */
  isAppointed(name: string): boolean;
  /** Knows of a change at once, where this server made it. */
  look(): Promise<void>;
  close(): void;
}

/** Where nobody can operate over HTTP. */
export const NO_OPERATORS: Operators = {
  nameOf: () => undefined,
  isAppointed: () => false,
  look: async () => {},
  close: () => {},
};

export async function watchOperators(parts: {
  store: Pick<Store, 'listOperators'>;
  everyMs?: number;
}): Promise<Operators> {
  const { store, everyMs = LOOK_MS } = parts;
  let names = new Map<string, string>();
  let appointed = new Set<string>();

  async function look(): Promise<void> {
    const all = await store.listOperators();
    const live = all.filter(({ revokedAt }) => revokedAt === null);
    names = new Map(live.map(({ digest, name }) => [digest, name]));
    appointed = new Set(all.map(({ name }) => alike(name)));
  }

  // A store that is away is told of by others; nobody is let in for it who was not before.
  await look().catch(() => {});
  const timer = setInterval(() => void look().catch(() => {}), everyMs).unref();
  return {
    nameOf: token => (token.startsWith(TOKEN_PREFIX) ? names.get(digestOf(token)) : undefined),
    isAppointed: name => appointed.has(alike(name)),
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
