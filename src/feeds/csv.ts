/** Rows of a table of comma-separated values as strangers write them: RFC 4180, or with semicolons or tabs. */

import { FeedError } from '../core/feed.ts';
import { MOST_CELLS, MOST_LETTERS } from './bounds.ts';

const BLANK = /[ \f\v]*/y;
/** Before a row, with empty ones: 32 MiB of these took 19 s cell by cell (2026-11-17). */
const BLANK_ROWS = /[ \f\v\r\n]*/y;
/** What ends a cell of the first row: whichever of the first three comes first is what separates all others. */
const SEPARATOR = /[,;\t\r\n]/g;
const ENDS: Readonly<Record<string, RegExp>> = { ',': /[,\r\n]/g, ';': /[;\r\n]/g, '\t': /[\t\r\n]/g };

/** Row by row, without empty ones and those that `#` begins; a quoted cell may hold separators and ends of lines. */
export function* rowsOf(text: string): Generator<readonly string[]> {
  let end = SEPARATOR;
  let at = 0;
  let cells: string[] = [];
  while (at < text.length || cells.length > 0) {
    const from = after(cells.length === 0 ? BLANK_ROWS : BLANK, text, at);
    if (cells.length === 0 && text[from] === '#') {
      at = after(/[^\n]*\n?/y, text, from);
      continue;
    }
    const isQuoted = text[from] === '"';
    const behind = isQuoted ? closing(text, from) : from;
    end.lastIndex = behind;
    const stop = end.exec(text)?.index ?? text.length;
    if (stop - from > MOST_LETTERS)
      throw new FeedError(`more than ${MOST_LETTERS} letters in a cell: ${shown(text, from)}`);
    if (cells.length === MOST_CELLS) throw new FeedError(`more than ${MOST_CELLS} cells in a row`);
    const rest = text.slice(behind, stop).trim();
    if (isQuoted && rest !== '') throw new FeedError(`something stands behind a quote: ${shown(text, from)}`);
    cells.push(
      isQuoted
        ? text
            .slice(from + 1, behind - 1)
            .replaceAll('""', '"')
            .trim()
        : rest,
    );
    const sign = text[stop] ?? '\n';
    at = stop + 1;
    if (sign in ENDS) {
      end = ENDS[sign]!;
      continue;
    }
    if (cells.length > 1 || cells[0] !== '') yield cells;
    cells = [];
  }
}

function after(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return pattern.lastIndex;
}

/** The place behind the quote that closes the one at `from`; two of them are one within. */
function closing(text: string, from: number): number {
  for (let at = from + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1) throw new FeedError(`a quote is not closed: ${shown(text, from)}`);
    if (text[at + 1] !== '"') return at + 1;
  }
}

/** Enough to find it by. */
const shown = (text: string, from: number) => JSON.stringify(text.slice(from, from + 40));
