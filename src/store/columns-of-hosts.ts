/** The table of columns, of where mail hosts are: as in columns.ts. */

import type { Whereabouts } from '../core/whereabouts.ts';
import { later, orNull, text, whole } from './codecs.ts';
import { table } from './table.ts';

interface KeptWhereabouts extends Whereabouts {
  /** On how many days it was met; null where it was one. */
  readonly days: number | null;
}

const CODECS = { host: text, below: text, addresses: text, day: text };

export const WHEREABOUT = table<KeptWhereabouts>('whereabouts', ['host'], {
  ...CODECS,
  days: later(orNull(whole)),
});
/** As it is given, and read. */
export const MET = table<Whereabouts>('whereabouts', ['host'], CODECS);
