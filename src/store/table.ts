/** What a row holds, member by member, and the parts of statements that are made of it, for both stores. */

import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Codec } from './codecs.ts';

/** Every member has its codec: the compiler asks for one that was forgotten. */
export type Codecs<R> = { readonly [M in keyof R]-?: Codec<R[M]> };

export type SqliteRow = Readonly<Record<string, SQLOutputValue>>;
export type PostgresRow = Readonly<Record<string, unknown>>;

export interface Column {
  readonly name: string;
  readonly types: Codec<unknown>['types'];
  readonly isLater: boolean;
}

export interface Shape<R> {
  readonly columns: readonly Column[];
  /** `id, name, …` */
  readonly names: string;
  readonly sqlite: {
    /** `?, ?, …` */
    readonly places: string;
    values(record: R): SQLInputValue[];
    record(row: SqliteRow): R;
  };
  readonly postgres: {
    /** `$1, $2, …`, or the numbers after `before`. */
    places(before?: number): string;
    values(record: R): unknown[];
    record(row: PostgresRow): R;
  };
}

/** `createdAt` is kept as `created_at`. */
export const columnName = (member: string) =>
  member.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

export function shape<R extends object>(codecs: Codecs<R>): Shape<R> {
  const members = Object.keys(codecs) as (keyof R & string)[];
  const columns = members.map(member => {
    const { types, isLater = false } = codecs[member];
    return { name: columnName(member), types, isLater };
  });
  const recordOf = (read: <M extends keyof R>(member: M, name: string) => R[M]) =>
    Object.fromEntries(members.map((member, at) => [member, read(member, columns[at]!.name)])) as R;
  return {
    columns,
    names: columns.map(({ name }) => name).join(', '),
    sqlite: {
      places: columns.map(() => '?').join(', '),
      values: record => members.map(member => codecs[member].toSqlite(record[member])),
      record: row => recordOf((member, name) => codecs[member].fromSqlite(kept(row, name))),
    },
    postgres: {
      places: (before = 0) => columns.map((_, at) => `$${before + at + 1}`).join(', '),
      values: record => members.map(member => codecs[member].toPostgres(record[member])),
      record: row => recordOf((member, name) => codecs[member].fromPostgres(kept(row, name))),
    },
  };
}

/** A statement that does not ask for a column must not pass for a row without a value. */
function kept<V>(row: Readonly<Record<string, V>>, name: string): V {
  if (!(name in row)) throw new TypeError(`the row has no column ${name}`);
  return row[name]!;
}

export interface Table<R> extends Shape<R> {
  readonly name: string;
  readonly codecs: Codecs<R>;
  /** The columns of its primary key: `domain, day`. */
  readonly key: string;
}

export function table<R extends object>(
  name: string,
  key: readonly (keyof R & string)[],
  codecs: Codecs<R>,
): Table<R> {
  return { name, codecs, key: key.map(columnName).join(', '), ...shape(codecs) };
}

/** The same rows without some of their members. */
export function without<R extends object, M extends keyof R & string>(
  { codecs }: Table<R>,
  ...members: readonly M[]
): Shape<Omit<R, M>> {
  const rest = Object.entries(codecs).filter(([member]) => !members.some(one => one === member));
  return shape(Object.fromEntries(rest) as Codecs<Omit<R, M>>);
}

/** For `ON CONFLICT … DO UPDATE SET`: what is given takes the place of what is there, but for the key. */
export function replaced({ columns }: Pick<Shape<object>, 'columns'>, key = ''): string {
  const rest = columns.map(({ name }) => name).filter(name => !key.split(', ').includes(name));
  return rest.map(name => `${name} = excluded.${name}`).join(', ');
}

/** Inserts a row, or puts it in the place of the one with its key. `places` are of the store. */
export function upsert(into: Table<object>, places: string): string {
  const { name, names, key } = into;
  return `INSERT INTO ${name} (${names}) VALUES (${places}) ON CONFLICT (${key}) DO UPDATE SET ${replaced(into, key)}`;
}

/** Inserts a row, or adds its numbers to those of the one with its key. */
export function added(into: Table<object>, places: string): string {
  const { name, names, key, columns } = into;
  const sums = columns.map(column => column.name).filter(column => !key.split(', ').includes(column));
  const set = sums.map(column => `${column} = ${name}.${column} + excluded.${column}`).join(', ');
  return `INSERT INTO ${name} (${names}) VALUES (${places}) ON CONFLICT (${key}) DO UPDATE SET ${set}`;
}

/** Statements that add the later columns which a store does not have yet. */
export function additionsTo(
  store: 'sqlite' | 'postgres',
  tables: readonly Table<object>[],
  isThere: (table: string, column: string) => boolean,
): string[] {
  return tables.flatMap(({ name, columns }) =>
    columns
      .filter(column => column.isLater && !isThere(name, column.name))
      .map(column => `ALTER TABLE ${name} ADD COLUMN ${column.name} ${column.types[store]}`),
  );
}
