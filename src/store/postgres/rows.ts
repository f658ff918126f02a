/** Many rows in one statement of PostgreSQL: an array for each column. */

import type { Shape, Table } from '../table.ts';

/** The rows given as `$1, $2, …`, which `arraysOf` makes, and `n`, their place among these. */
export function unnested({ columns, names }: Pick<Shape<object>, 'columns' | 'names'>): string {
  const arrays = columns.map(({ types }, at) => `$${at + 1}::${types.postgres}[]`);
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names}, n)`;
}

/** The same, of equal keys the last one, of those that are `first` if there are any: a statement may touch a row only once. */
export const givenRows = (table: Table<object>, first?: string): string =>
  lastOfEach(table, unnested(table), first);

export const lastOfEach = (
  { names, key }: Pick<Table<object>, 'names' | 'key'>,
  given: string,
  first?: string,
): string =>
  `SELECT DISTINCT ON (${key}) ${names} FROM ${given} ORDER BY ${key}, ${first ? `(${first}) DESC, ` : ''}n DESC`;

/** Column by column. */
export function arraysOf<R>({ columns, postgres }: Shape<R>, records: readonly R[]): unknown[][] {
  const rows = records.map(record => postgres.values(record));
  return columns.map((_, at) => rows.map(row => row[at]));
}
