/** What was measured of catalogs, as tables. */

import { printTable } from '../src/commands/print.ts';
import type { CatalogFigures } from './catalogs.ts';
import type { Hold } from './holds.ts';
import { median } from './serving.ts';

const COLUMNS = [
  ...['CATALOG', 'MB', 'BYTES A NAME', 'FIRST START S', 'µS A NAME', 'NEXT START S', 'LOOKUP µS'],
  'FILTER S',
];
const HOLD_COLUMNS = [
  ...['CATALOG', 'WHILE', 'ON A CORE', 'WITHOUT GC', 'PAGE FAULTS', 'BLOCKED', 'LATE'],
  ...['IDLE: ON A CORE', 'BLOCKED', 'LATE'],
];
const STAGES = {
  started: 'start',
  followed: 'first update',
  told: 'its changes',
  followedNext: 'next update',
  toldNext: 'its changes',
  filtered: 'filter',
} as const;

function sizesOf({ names, first, next, served }: CatalogFigures): string[] {
  return [
    ...[`${names} names`, (next.bytes / 1e6).toFixed(0), (next.bytes / next.names).toFixed(1)],
    ...[first.seconds.toFixed(2), ((first.seconds * 1e6) / names).toFixed(2), next.seconds.toFixed(2)],
    ...[next.micros.toFixed(2), median(served.map(({ filterSeconds }) => filterSeconds)).toFixed(0)],
  ];
}

function holdsOf({ names, served }: CatalogFigures): string[][] {
  return Object.entries(STAGES).map(([stage, what]) => {
    const holds = served.map(one => one[stage as keyof typeof STAGES]);
    const cell = (of: readonly Hold[], figure: keyof Hold, digits = 1) => {
      const all = of.map(hold => hold[figure]);
      return `${median(all).toFixed(digits)} (${Math.max(...all).toFixed(digits)})`;
    };
    const [here, idle] = [holds.map(hold => hold.here), holds.map(hold => hold.idle)];
    return [
      ...[`${names} names`, what, cell(here, 'own'), cell(here, 'worked'), cell(here, 'faults', 0)],
      ...[cell(here, 'blocked'), cell(here, 'late')],
      ...[cell(idle, 'own'), cell(idle, 'blocked'), cell(idle, 'late')],
    ];
  });
}

export function printCatalogs(all: readonly CatalogFigures[]): void {
  process.stdout.write('\nCatalogs of ten lists, each start in a process of its own\n\n');
  printTable(COLUMNS, all.map(sizesOf));
  process.stdout.write(
    '\nThe longest turn of the loop of a service, by its start, updates, their changes, the first filter, in ms: on a core by\nits own thread, blocked otherwise, and how late a timer was; the same of a process that does nothing. The median of\nthree services (the longest of all)\n\n',
  );
  printTable(HOLD_COLUMNS, all.flatMap(holdsOf));
}
