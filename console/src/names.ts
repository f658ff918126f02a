/** Domains out of whatever a person types, pastes or uploads: names, URLs, addresses, a column of a CSV. */

import { parseTable, type Table } from './table.ts';

/** More is a good part of a quota, and too long a table to read: use the API. */
export const MOST_NAMES = 1_000;

export interface Names {
  /** Without repetitions, in the order they were typed. */
  readonly domains: readonly string[];
  /** What holds no domain, as it was typed. */
  readonly leftOut: readonly string[];
  readonly repeated: number;
  /** Of how many email addresses and URLs only the domain is taken. */
  readonly cut: number;
  /** Where it is a table of several columns: their names, and which one is read. */
  readonly table?: { readonly head: readonly string[]; readonly column: number };
}

/** The longest URLs that anybody has. */
const MOST_CHARACTERS = 2_000;
/** Full stops of other scripts too, which IDNA reads as dots (UTS 46). */
const DOTS = /[.\u3002\uff0e\uff61]/;
const LABEL = /^(?!-)(?:[\p{L}\p{M}\p{N}\u00b7\u30fb-]|\u200c|\u200d){1,63}(?<!-)$/u;

/** Roughly what the service takes: what is surely no domain should not cost a call, and the service has the last word. */
function isDomain(name: string): boolean {
  const labels = name.split(DOTS);
  return (
    name.length <= 253 &&
    labels.length >= 2 &&
    labels.every(label => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  );
}

/** `https://ann@shop.example:8080/x`, `mailto:ann@shop.example`, `Ann <ann@shop.example>` are all `shop.example`. */
export function domainIn(word: string): string | undefined {
  if (word.length > MOST_CHARACTERS) return undefined;
  const bare = word
    .replace(/^[\s<("'[]+|[\s>)"'\],;:!?]+$/g, '')
    .replace(/^(?:mailto:|[a-z][a-z0-9+.-]*:\/\/|\/\/)/i, '')
    .replace(/[/?#].*$/s, '');
  const host = bare
    .slice(bare.lastIndexOf('@') + 1)
    .replace(/:\d{1,5}$/, '')
    .replace(/^\*?\.|\.$/g, '')
    .toLowerCase();
  return isDomain(host) ? host : undefined;
}

const BETWEEN_ANGLES = /<([^<>\s]+@[^<>\s]+)>/;

/** Pieces of a text that is no table; in `Ann Lee <ann@shop.example>` the name is no piece of its own. */
const piecesOf = (text: string) =>
  text.split(/[\n,;]/).flatMap(part => BETWEEN_ANGLES.exec(part)?.[1] ?? part.split(/\s+/));

/** `column` is the person's choice where there are several. */
export function readNames(text: string, column?: number): Names {
  const table = parseTable(text);
  const at = table && (column !== undefined && column < table.head.length ? column : bestColumn(table));
  const pieces = table && at !== undefined ? table.rows.map(row => row[at] ?? '') : piecesOf(text);
  const domains = new Set<string>();
  const leftOut: string[] = [];
  let [repeated, cut] = [0, 0];
  for (const piece of pieces.map(one => one.trim()).filter(one => one !== '')) {
    const domain = domainIn(piece);
    if (domain === undefined) leftOut.push(piece);
    else if (domains.has(domain)) repeated++;
    else domains.add(domain);
    if (domain !== undefined && /[@/]/.test(piece)) cut++;
  }
  const found = { domains: [...domains], leftOut, repeated, cut };
  return table && at !== undefined ? { ...found, table: { head: table.head, column: at } } : found;
}

/** The one with most domains; of equals the one whose name says so. */
function bestColumn({ head, rows }: Table): number {
  const some = rows.slice(0, 200);
  const worth = head.map((name, at) => {
    const found = some.filter(row => domainIn(row[at] ?? '') !== undefined).length;
    return found === 0 ? 0 : found + (/mail|domain/i.test(name) ? 0.5 : 0);
  });
  return worth.indexOf(Math.max(...worth));
}
