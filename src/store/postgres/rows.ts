/** Many rows in one statement of PostgreSQL: an array for each column. */

import type { Shape, Table } from '../table.ts';

/**
 * The rows given as `$1, $2, …`, which `arraysOf` makes. Of equal keys the last one counts: a statement may touch a row
 * only once.
 */
export function givenRows({ columns, names, key }: Table<object>): string {
  const arrays = columns.map(({ types }, at) => `$${at + 1}::${types.postgres}[]`);
  return `
    SELECT DISTINCT ON (${key}) ${names}
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names}, n)
    ORDER BY ${key}, n DESC`;
}

/** Column by column. */
export function arraysOf<R>({ columns, postgres }: Shape<R>, records: readonly R[]): unknown[][] {
  const rows = records.map(record => postgres.values(record));
  return columns.map((_, at) => rows.map(row => row[at]));
}
