/** Comma-separated values as RFC 4180 has them: quoted where they must be, and no formula for a spreadsheet to run. */

/** What a spreadsheet would take for a formula (CWE-1236). */
const FORMULA = /^[=+\-@\t\r]/;
/** Put before it, and before a sign of the same kind, so that it comes back as it was. */
const APOSTROPHE = "'";

export function csvLine(values: readonly (string | null)[]): string {
  return `${values.map(value => (value === null ? '' : csvField(value))).join(',')}\n`;
}

function csvField(value: string): string {
  const safe = FORMULA.test(value) || value.startsWith(APOSTROPHE) ? APOSTROPHE + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row, and the line of the text on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly values: readonly string[];
}

/**
 * Empty lines do not count. The number of a line where a value in it has a quote that is never closed, or something
 * before or behind its quotes. By hand: a pattern for a quoted value needs room for each of its characters, and had none
 * left at 15 MB (2026-11-17).
 */
export function parseCsv(text: string): CsvRow[] | number {
  const rows: CsvRow[] = [];
  let values: string[] = [];
  let line = 1;
  let begun = 1;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length || values.length > 0) {
    if (values.length === 0 && LINE_ENDS.includes(text[at]!)) {
      if (text[at++] === '\n') line++;
      begun = line;
      continue;
    }
    const isQuoted = text[at] === '"';
    const behind = isQuoted ? closedAt(text, at) : plainEnd(text, at);
    const end = text[behind] ?? '';
    if (behind < 0 || !ENDS.includes(end)) return line;
    const value = isQuoted ? text.slice(at + 1, behind - 1) : text.slice(at, behind);
    if (isQuoted) line += linesIn(value);
    if (values.length < MOST_VALUES)
      values.push(unguarded(isQuoted ? value.replaceAll('""', '"') : value.trim()));
    at = behind + (text.startsWith('\r\n', behind) ? 2 : 1);
    if (end === ',') continue;
    if (text[at - 1] === '\n') line++;
    if (values.length > 1 || values[0] !== '') rows.push({ line: begun, values });
    values = [];
    begun = line;
  }
  return rows;
}

/** More of a row are passed over: whoever reads it has no use for these many either. */
const MOST_VALUES = 100;

const LINE_ENDS = '\r\n';
/** What may stand behind a value; nothing at the end of the text. */
const ENDS = ['', ',', '\r', '\n'];

/** Behind the quote that closes the one at `from`, or -1; two of them are one within. */
function closedAt(text: string, from: number): number {
  for (let at = from + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) return -1;
    if (text[at + 1] !== '"') return at + 1;
  }
}

function plainEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !PLAIN_ENDS.includes(text[at]!)) at++;
  return at;
}

const PLAIN_ENDS = '",\r\n';

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function unguarded(value: string): string {
  const rest = value.slice(1);
  return value.startsWith(APOSTROPHE) && (FORMULA.test(rest) || rest.startsWith(APOSTROPHE)) ? rest : value;
}
