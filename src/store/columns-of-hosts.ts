/** The table of columns, of where mail hosts are: as in columns.ts. */

import type { Whereabouts } from '../core/whereabouts.ts';
import { text } from './codecs.ts';
import { table } from './table.ts';

export const WHEREABOUT = table<Whereabouts>('whereabouts', ['host'], {
  host: text,
  below: text,
  addresses: text,
  day: text,
});
