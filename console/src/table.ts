/** A pasted or uploaded table: comma, semicolon or tab between its columns, quotes as in RFC 4180. */

import { domainIn } from './domain-in.ts';

type Rows = readonly (readonly string[])[];

export interface Table {
  readonly head: readonly string[];
  readonly rows: Rows;
}

/** Undefined where the text is none: lines of one cell, of different lengths, or of nothing but domains. */
export function parseTable(text: string): Table | undefined {
  const [first = ''] = text.trimStart().split('\n', 1);
  for (const mark of ['\t', ';', ',']) {
    if (!first.includes(mark)) continue;
    const table = tableOf(cellsOf(text, mark).filter(row => row.some(isFilled)));
    if (table) return table;
  }
  return undefined;
}

const isFilled = (cell: string) => cell.trim() !== '';

/** A list with commas and line breaks has lines of any length; a table's are alike, save that last cells may be missing. */
function tableOf(rows: Rows): Table | undefined {
  const [first = [], ...rest] = rows;
  const width = first.length;
  if (rest.length === 0 || width < 2) return undefined;
  const lengths = rest.map(row => row.findLastIndex(isFilled) + 1);
  if (lengths.some(length => length > width)) return undefined;
  const nameOf = (cell: string, at: number) => cell.trim() || `Column ${at + 1}`;
  const isHead = first.every((cell, at) => domainIn(cell) === undefined || isTitle(cell, columnOf(rest, at)));
  // Where most lines have one cell it was no head, but a line of a text.
  const isWide = 2 * rest.filter(row => row.length === width).length >= rest.length;
  if (isHead && isWide) return { head: first.map(nameOf), rows: rest };
  const isList = rows.every(row => row.every(cell => !isFilled(cell) || domainIn(cell) !== undefined));
  if (isList || rest.some(row => row.length !== width)) return undefined;
  return { head: first.map((_, at) => nameOf('', at)), rows };
}

const columnOf = (rows: Rows, at: number) => rows.map(row => row[at] ?? '');

const bareDomain = (cell: string) => (/[@/]/.test(cell) ? undefined : domainIn(cell));

/** `user.email` or `contact.name` above what is something else: both are endings of domains, too. */
export const isTitle = (cell: string, below: readonly string[]) =>
  /\.(?:e?mail|name|domain|address|host|site|website|url)$/.test(bareDomain(cell) ?? '') &&
  !below.some(other => bareDomain(other) !== undefined);

function cellsOf(text: string, mark: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  let isBlank = true;
  const end = () => {
    rows.at(-1)!.push(cell);
    cell = '';
    isBlank = true;
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && isBlank) {
      cell = '';
      isBlank = false;
      isQuoted = true;
    } else if (sign === mark) end();
    else if (sign === '\n') {
      end();
      rows.push([]);
    } else {
      cell += sign;
      isBlank &&= /\s/.test(sign);
    }
  }
  end();
  return rows;
}
