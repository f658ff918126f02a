/** What updates changed for callers → a page of it, for those who follow. */

import {
  type Asker,
  type ChangesPage,
  type Portion,
  type PortionParts,
  Portions,
} from './changes/portions.ts';
import { FairRow } from './core/fair-row.ts';
import { NO_CHANGES, type Since } from './core/listing-change.ts';
import type { Clock, Store } from './core/ports.ts';

export interface Changes {
  /** After this one; of the last day where none is named. `gone` where what came after it is not known any more. */
  list(since: Since | undefined, limit: number, asker: Asker): Promise<ChangesPage | 'gone'>;
}

export type { Asker, ChangesPage, Portion };

export function createChanges(
  parts: PortionParts & {
    readonly store: Pick<Store, 'changesMark'>;
    readonly clock: Clock;
  },
): Changes {
  const { store, clock } = parts;
  const readMark = sharing(async () => (await store.changesMark()) ?? NO_CHANGES);
  const row = new FairRow(1);
  let portions: Portions | undefined;
  return {
    async list(since, limit, asker) {
      for (let seen: Portions | undefined; ; ) {
        const mark = await readMark();
        if (since && (since.id < mark.floor || since.id > mark.last)) return 'gone';
        if (!portions?.standsFor(mark)) portions = new Portions(parts, row, mark);
        // What was forgotten while it waited stands under an earlier mark: under this one there may be a page.
        if (portions === seen) return 'gone';
        const current = portions;
        seen = current;
        const page = await current.page(since ?? (await current.beforeLastDay(clock())), limit, asker);
        if (page !== 'gone') return page;
      }
    },
  };
}

/** Read after it was asked for, and one at a time: all who come while one is under way share the next. */
function sharing<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    reading = read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return () => {
    if (!reading) return begin();
    next ??= reading.then(begin, begin);
    return next;
  };
}
