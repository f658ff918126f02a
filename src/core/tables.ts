/** The tables in data/ that people edit by hand, from text to checked rows. A bad row names its file and line. */

import { parseDomain, registrableDomain } from './domain.ts';

/**
 * `consumer_webmail`: hosts of nothing but consumers' mailboxes, so that a name received there is free.
 * `mailbox_provider`: internet providers and webmail that also receive for domains of their customers.
 */
export const PROVIDER_CLASSES = [
  'business_platform',
  'security_gateway',
  'consumer_webmail',
  'mailbox_provider',
  'hosting',
  'forwarding',
  'transactional',
  'parked',
  'disposable',
] as const;
export type ProviderClass = (typeof PROVIDER_CLASSES)[number];

/** Whose hosts lie at or below a suffix. */
export interface ProviderRow {
  readonly suffix: string;
  readonly label: string;
  readonly class: ProviderClass;
}

/** A domain that is answered with no DNS at all, because everybody knows who receives its mail. */
export interface Mailbox {
  readonly label: string;
  readonly class: ProviderClass;
  /** One of the 50 largest: a feed that names it is broken as a whole. */
  readonly canary: boolean;
}

export interface Tables {
  readonly providers: readonly ProviderRow[];
  readonly mailboxes: ReadonlyMap<string, Mailbox>;
  /** Protected names that are no relays. */
  readonly protected: ReadonlySet<string>;
  /** Of these, registries: being below one says nothing about a name or a host. */
  readonly suffixes: ReadonlySet<string>;
  /** Privacy relays and alias services, with the label shown for them. */
  readonly relays: ReadonlyMap<string, string>;
  readonly free: { readonly add: ReadonlySet<string>; readonly remove: ReadonlySet<string> };
  readonly roles: ReadonlySet<string>;
}

/** Every table's file name, and with it the shape in which an edge hands over their texts. */
export const TABLE_FILES = [
  'providers.csv',
  'mailboxes.csv',
  'protected.csv',
  'free.csv',
  'roles.txt',
] as const;
export type TableFile = (typeof TABLE_FILES)[number];
export type TableTexts = Readonly<Record<TableFile, string>>;

export class TableError extends Error {
  override readonly name = 'TableError';
  constructor(file: TableFile, line: number, problem: string) {
    super(`data/${file}:${line}: ${problem}`);
  }
}

export function parseTables(texts: TableTexts): Tables {
  const { protectedNames, suffixes, relays } = parseProtected(texts['protected.csv']);
  return {
    providers: parseProviders(texts['providers.csv']),
    mailboxes: parseMailboxes(texts['mailboxes.csv']),
    protected: protectedNames,
    suffixes,
    relays,
    free: parseFree(texts['free.csv']),
    roles: parseRoles(texts['roles.txt']),
  };
}

export function parseProviders(text: string): ProviderRow[] {
  return rowsOf('providers.csv', text, ['suffix', 'label', 'class']).map(row => ({
    suffix: row.name('suffix'),
    label: row.label('label'),
    class: row.oneOf('class', PROVIDER_CLASSES),
  }));
}

export function parseMailboxes(text: string): Map<string, Mailbox> {
  const rows = rowsOf('mailboxes.csv', text, ['domain', 'label', 'class', 'canary']);
  return new Map(
    rows.map(row => [
      row.name('domain'),
      {
        label: row.label('label'),
        class: row.oneOf('class', PROVIDER_CLASSES),
        canary: row.oneOf('canary', ['yes', 'no']) === 'yes',
      },
    ]),
  );
}

interface ProtectedRows {
  readonly protectedNames: Set<string>;
  readonly suffixes: Set<string>;
  readonly relays: Map<string, string>;
}

export function parseProtected(text: string): ProtectedRows {
  const protectedNames = new Set<string>();
  const suffixes = new Set<string>();
  const relays = new Map<string, string>();
  for (const row of rowsOf('protected.csv', text, ['domain', 'kind', 'label'])) {
    const name = row.name('domain');
    const kind = row.oneOf('kind', ['name', 'suffix', 'relay']);
    if (kind === 'relay') relays.set(name, row.label('label'));
    else if (row.cell('label') !== '') row.fail('only a relay has a label');
    else protectedNames.add(name);
    if (kind === 'suffix') suffixes.add(name);
  }
  return { protectedNames, suffixes, relays };
}

export function parseFree(text: string): { add: Set<string>; remove: Set<string> } {
  const changes = { add: new Set<string>(), remove: new Set<string>() };
  for (const row of rowsOf('free.csv', text, ['domain', 'change', 'note'])) {
    const name = row.name('domain');
    if (registrableDomain(name) !== name) row.fail(`${name} is not a registrable domain`);
    changes[row.oneOf('change', ['add', 'remove'])].add(name);
  }
  return changes;
}

export function parseRoles(text: string): Set<string> {
  const words = new Set<string>();
  for (const [line, word] of contentOf(text)) {
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(word))
      throw new TableError('roles.txt', line, `not one lower-case label: ${JSON.stringify(word)}`);
    if (words.has(word)) throw new TableError('roles.txt', line, `${word} stands here twice`);
    words.add(word);
  }
  if (words.size === 0) throw new TableError('roles.txt', 1, 'the table has no rows');
  return words;
}

/** One row with its cells by column name. Every reader either returns a checked value or fails with the line. */
class Row {
  readonly #file: TableFile;
  readonly #line: number;
  readonly #cells: ReadonlyMap<string, string>;

  constructor(file: TableFile, line: number, cells: ReadonlyMap<string, string>) {
    this.#file = file;
    this.#line = line;
    this.#cells = cells;
  }

  fail(problem: string): never {
    throw new TableError(this.#file, this.#line, problem);
  }

  cell(column: string): string {
    return this.#cells.get(column) ?? '';
  }

  name(column: string): string {
    const text = this.cell(column);
    const parsed = parseDomain(text);
    if (!parsed.ok) this.fail(`${column} ${JSON.stringify(text)}: ${parsed.detail}`);
    if (parsed.domain !== text) this.fail(`${column} ${JSON.stringify(text)}: write it as ${parsed.domain}`);
    return text;
  }

  label(column: string): string {
    return this.cell(column) || this.fail(`${column} is empty`);
  }

  oneOf<const T extends string>(column: string, allowed: readonly T[]): T {
    const text = this.cell(column);
    return (
      allowed.find(value => value === text) ??
      this.fail(`${column} ${JSON.stringify(text)}: must be one of ${allowed.join(', ')}`)
    );
  }
}

/** The first column is the row's identity: two rows with the same one would hide each other. */
function rowsOf(file: TableFile, text: string, columns: readonly string[]): Row[] {
  const [header, ...content] = contentOf(text);
  if (header?.[1] !== columns.join(','))
    throw new TableError(file, header?.[0] ?? 1, `the first row must be ${columns.join(',')}`);
  if (content.length === 0) throw new TableError(file, header[0], 'the table has no rows');
  const seen = new Map<string, number>();
  return content.map(([line, row]) => {
    const cells = row.split(',').map(cell => cell.trim());
    if (cells.length !== columns.length)
      throw new TableError(
        file,
        line,
        `${cells.length} cells, must be ${columns.length}: ${columns.join(',')}`,
      );
    const id = cells[0]!;
    const first = seen.get(id);
    if (first !== undefined) throw new TableError(file, line, `${id} stands in line ${first} already`);
    seen.set(id, line);
    return new Row(file, line, new Map(columns.map((column, at) => [column, cells[at]!])));
  });
}

/** Lines with something in them, by number; `#` begins a comment line. */
function contentOf(text: string): [number, string][] {
  return text
    .split(/\r?\n/)
    .map((line, at): [number, string] => [at + 1, line.trim()])
    .filter(([, line]) => line !== '' && !line.startsWith('#'));
}
