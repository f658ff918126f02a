/** Many overrides at once: all of them or none. */

import { type Actor, actOf } from '../core/audit.ts';
import { type Override, withAuthor } from '../core/override.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { Problem } from '../core/problem.ts';

/** What stood in the place of an override before, and what stands there now. */
export interface Replaced {
  readonly domain: string;
  readonly was: string;
  readonly now: string;
}

export interface Imported {
  readonly added: number;
  readonly changed: number;
  readonly replaced: readonly Replaced[];
  /** They stand already, and stay as they are. */
  readonly unchanged: number;
}

export interface ActsOfImport {
  /** What is not named stays as it is. `from` is what the audit says of where they came from. */
  importOverrides(
    wanted: readonly Omit<Override, 'createdAt'>[],
    from: string,
    actor: Actor,
    options: { readonly dryRun: boolean; readonly replaceAll: boolean },
  ): Promise<Imported | Problem>;
}

/** More than these lines of one import would push everything else out of the audit in time. */
const MOST_REPLACED = 1_000;

/** Of an import that other changes get in the way of. */
const MOST_TRIES = 5;

export function actsOfImport({ store, clock }: { store: Store; clock: Clock }): ActsOfImport {
  return {
    async importOverrides(wanted, from, actor, { dryRun, replaceAll }) {
      // Of three files at once each told that it added a name which all of them had (2026-11-18).
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const now = clock();
        const { mark, overrides: standing = [] } = await store.readOverrides(undefined);
        const { imported, overrides } = decide(wanted, standing, now);
        const { added, changed, replaced } = imported;
        if (dryRun || overrides.length === 0) return imported;
        if (changed > MOST_REPLACED && !replaceAll) return tooMany(changed);
        const acts = replaced
          .slice(0, MOST_REPLACED)
          .map(one => actOf(now, 'override.set', one.domain, actor, `${one.was} → ${one.now}`));
        const act = actOf(now, 'override.import', from, actor, `${added} added, ${changed} changed`);
        if (await store.setOverrides(overrides, mark, act, acts)) return imported;
      }
      return CONTENDED;
    },
  };
}

function decide(
  wanted: readonly Omit<Override, 'createdAt'>[],
  standing: Iterable<Override>,
  now: number,
): { readonly imported: Imported; readonly overrides: readonly Override[] } {
  const byName = new Map(Iterator.from(standing).map(one => [one.domain, one]));
  const fresh = wanted.filter(one => !isSame(byName.get(one.domain), one));
  const overrides = fresh.map(one => ({ ...one, createdAt: now }));
  const replaced = overrides.flatMap(one => {
    const was = byName.get(one.domain);
    return was ? { domain: one.domain, was: withAuthor(was), now: withAuthor(one) } : [];
  });
  const [added, changed] = [fresh.length - replaced.length, replaced.length];
  return { imported: { added, changed, replaced, unchanged: wanted.length - fresh.length }, overrides };
}

const CONTENDED: Problem = {
  problem: 'contended',
  detail: 'others change overrides all the time, and nothing was imported: try again',
};

function tooMany(count: number): Problem {
  const detail = `this replaces ${count} overrides, and the audit has room for what ${MOST_REPLACED} of them were: export them to a file first, then confirm that all may be replaced`;
  return { problem: 'too_many', detail };
}

function isSame(standing: Override | undefined, wanted: Omit<Override, 'createdAt'>): boolean {
  const members = ['action', 'below', 'note', 'author', 'expiresAt'] as const;
  return standing !== undefined && members.every(member => standing[member] === wanted[member]);
}
