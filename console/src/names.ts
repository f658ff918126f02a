/** Domains out of whatever a person types, pastes or uploads: names, URLs, addresses, a column of a CSV. */

import { domainIn } from './domain-in.ts';
import { isTitle, parseTable, type Table } from './table.ts';

/** More is a good part of a quota, and too long a table to read: use the API. */
export const MOST_NAMES = 1_000;
/** In the place of a column: every one. */
export const ALL_COLUMNS = -1;

export interface Names {
  /** Without repetitions, in the order they were typed. */
  readonly domains: readonly string[];
  /** What holds no domain, as it was typed. */
  readonly leftOut: readonly string[];
  readonly repeated: number;
  /** Of how many email addresses and URLs only the domain is taken. */
  readonly cut: number;
  /** Where it is a table of several columns. */
  readonly table?: ReadTable;
}

export interface ReadTable {
  readonly head: readonly string[];
  /** Which one is read. */
  readonly column: number;
  /** How many domains are in other columns only. */
  readonly elsewhere: number;
}

interface Piece {
  readonly text: string;
  readonly domain: string | undefined;
}

const QUOTED_LOCAL_PART = /"[^"\n]*"@/g;
const BETWEEN_ANGLES = /<[^<>\s@]*@[^<>\s@]*>/g;

/** In `Ann Lee <ann@shop.example>` the name is no piece of its own. */
function piecesOf(text: string): Piece[] {
  const parts = text.replaceAll(QUOTED_LOCAL_PART, '@').split(/[\n,;]/);
  return parts
    .flatMap(part => {
      const addresses = part.match(BETWEEN_ANGLES) ?? [];
      const rest = addresses.length > 0 ? part.slice(part.lastIndexOf('>') + 1) : part;
      return [...addresses, ...rest.split(/\s+/)];
    })
    .filter(piece => piece !== '')
    .map(piece => ({ text: piece, domain: domainIn(piece) }));
}

const hasDomain = ({ domain }: Piece) => domain !== undefined;

/** A cell may hold several domains; one that holds none is left out as a whole. */
function piecesOfCell(cell: string): Piece[] {
  const text = cell.trim();
  // Nearly all are one piece: a megabyte of cells is read in half of the time.
  if (!/[\s,;<"]/.test(text)) return text === '' ? [] : [{ text, domain: domainIn(text) }];
  const pieces = piecesOf(text);
  return pieces.length < 2 || pieces.some(hasDomain) ? pieces : [{ text, domain: undefined }];
}

/** `column` is the person's choice where there are several. */
export function readNames(typed: string, column?: number): Names {
  const text = typed.replaceAll(/\r\n?/g, '\n');
  const table = parseTable(text);
  return table ? readTable(table, column) : readList(text);
}

function readList(text: string): Names {
  const pieces = piecesOf(text);
  const [first, ...rest] = pieces;
  // The title of one column of addresses.
  const hasTitle =
    first !== undefined &&
    text.trimStart().startsWith(`${first.text}\n`) &&
    rest.some(hasDomain) &&
    isTitle(
      first.text,
      rest.map(piece => piece.text),
    );
  return sorted(hasTitle ? [{ ...first, domain: undefined }, ...rest] : pieces);
}

function readTable({ head, rows }: Table, wanted: number | undefined): Names {
  const read = rows.map(row => row.map(piecesOfCell));
  const column = wanted !== undefined && wanted < head.length ? wanted : bestColumn(head, read);
  const all = sorted(read.flat(2));
  const names = column === ALL_COLUMNS ? all : sorted(read.flatMap(row => row[column] ?? []));
  const elsewhere = all.domains.length - names.domains.length;
  return { ...names, table: { head, column, elsewhere } };
}

function sorted(pieces: readonly Piece[]): Names {
  const domains = new Set<string>();
  const leftOut: string[] = [];
  let [repeated, cut] = [0, 0];
  for (const { text, domain } of pieces) {
    if (domain === undefined) leftOut.push(text);
    else if (domains.has(domain)) repeated++;
    else domains.add(domain);
    if (domain !== undefined && /[@/?#]/.test(text)) cut++;
  }
  return { domains: [...domains], leftOut, repeated, cut };
}

/** The one with most domains; of equals the one whose name says so. */
function bestColumn(head: readonly string[], read: readonly (readonly (readonly Piece[])[])[]): number {
  const some = read.slice(0, 200);
  const worth = head.map((name, at) => {
    const found = some.filter(row => row[at]?.some(hasDomain)).length;
    return found === 0 ? 0 : found + (/mail|domain/i.test(name) ? 0.5 : 0);
  });
  return worth.indexOf(Math.max(...worth));
}
