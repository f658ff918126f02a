/** How values are kept: for each kind its type in either store, the way there and the way back. */

import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

export interface Codec<V> {
  readonly types: { readonly sqlite: 'TEXT' | 'INTEGER'; readonly postgres: string };
  readonly toSqlite: (value: V) => SQLInputValue;
  readonly fromSqlite: (kept: SQLOutputValue) => V;
  readonly toPostgres: (value: V) => unknown;
  readonly fromPostgres: (kept: unknown) => V;
  readonly isLater?: true;
}

export const text: Codec<string> = {
  types: { sqlite: 'TEXT', postgres: 'text' },
  toSqlite: value => value,
  fromSqlite: String,
  toPostgres: value => value,
  fromPostgres: String,
};

/** One of some words. What is read was written by us. */
export const word = <W extends string>(): Codec<W> => ({
  ...text,
  fromSqlite: kept => kept as W,
  fromPostgres: kept => kept as W,
});

/** A count or a moment: both stay far below 2^53. */
export const whole: Codec<number> = {
  types: { sqlite: 'INTEGER', postgres: 'bigint' },
  toSqlite: value => value,
  fromSqlite: Number,
  toPostgres: value => value,
  fromPostgres: Number,
};

/** SQLite has no type for it. */
export const yesNo: Codec<boolean> = {
  types: { sqlite: 'INTEGER', postgres: 'boolean' },
  toSqlite: Number,
  fromSqlite: kept => kept === 1,
  toPostgres: value => value,
  fromPostgres: kept => kept === true,
};

/** SQLite has no type for it either: a JSON text. */
export const texts: Codec<readonly string[]> = {
  types: { sqlite: 'TEXT', postgres: 'text[]' },
  toSqlite: value => JSON.stringify(value),
  fromSqlite: kept => JSON.parse(String(kept)),
  toPostgres: value => value,
  fromPostgres: kept => kept as readonly string[],
};

/** A small record that is read and written as one. */
export const record = <V>(): Codec<V> => ({
  ...text,
  toSqlite: value => JSON.stringify(value),
  fromSqlite: kept => JSON.parse(String(kept)),
  toPostgres: value => JSON.stringify(value),
  fromPostgres: kept => JSON.parse(String(kept)),
});

/** What a statement puts together as JSON, and nobody keeps: `read` makes the value of it. */
export const json = <V, J>(read: (parsed: J) => V): Codec<V> => ({
  types: { sqlite: 'TEXT', postgres: 'json' },
  toSqlite: value => JSON.stringify(value),
  fromSqlite: kept => read(JSON.parse(String(kept))),
  toPostgres: value => JSON.stringify(value),
  fromPostgres: kept => read(kept as J),
});

export const orNull = <V>(codec: Codec<V>): Codec<V | null> => ({
  types: codec.types,
  toSqlite: value => (value === null ? null : codec.toSqlite(value)),
  fromSqlite: kept => (kept === null ? null : codec.fromSqlite(kept)),
  toPostgres: value => (value === null ? null : codec.toPostgres(value)),
  fromPostgres: kept => (kept === null ? null : codec.fromPostgres(kept)),
});

/**
 * A column that came after its table. Each store adds it where it is missing and leaves the version of its tables as it
 * was: the version of this program before does not miss it, keeps what is in it, and can take over again at any time.
 * Null in rows from before, so it needs no other step.
 */
export const later = <V>(codec: Codec<V | null>): Codec<V | null> => ({ ...codec, isLater: true });
