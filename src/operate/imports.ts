/** Many overrides at once: all of them or none. */

import { type Actor, actOf } from '../core/audit.ts';
import type { Override } from '../core/override.ts';
import type { Clock, Store } from '../core/ports.ts';

export interface Imported {
  readonly added: number;
  readonly changed: number;
  /** They stand already, and stay as they are. */
  readonly unchanged: number;
}

export interface ActsOfImport {
  /** What is not named stays as it is. `from` is what the audit says of where they came from. */
  importOverrides(
    wanted: readonly Omit<Override, 'createdAt'>[],
    from: string,
    actor: Actor,
    dryRun: boolean,
  ): Promise<Imported>;
}

export function actsOfImport({ store, clock }: { store: Store; clock: Clock }): ActsOfImport {
  return {
    async importOverrides(wanted, from, actor, dryRun) {
      const now = clock();
      const standing = new Map((await store.listOverrides()).overrides.map(one => [one.domain, one]));
      const fresh = wanted.filter(one => !isSame(standing.get(one.domain), one));
      const added = fresh.filter(({ domain }) => !standing.has(domain)).length;
      const imported = { added, changed: fresh.length - added, unchanged: wanted.length - fresh.length };
      if (dryRun || fresh.length === 0) return imported;
      const detail = `${imported.added} added, ${imported.changed} changed`;
      const overrides = fresh.map(one => ({ ...one, createdAt: now }));
      await store.setOverrides(overrides, actOf(now, 'override.import', from, actor, detail));
      return imported;
    },
  };
}

function isSame(standing: Override | undefined, wanted: Omit<Override, 'createdAt'>): boolean {
  const members = ['action', 'below', 'note', 'author', 'expiresAt'] as const;
  return standing !== undefined && members.every(member => standing[member] === wanted[member]);
}
