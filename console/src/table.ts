/** A pasted or uploaded table: comma, semicolon or tab between its columns, quotes as in RFC 4180. */

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Undefined where the text is none: lines of one cell, or of different lengths. */
export function parseTable(text: string): Table | undefined {
  const [first = ''] = text.trimStart().split(/\r?\n/, 1);
  for (const mark of ['\t', ';', ',']) {
    if (!first.includes(mark)) continue;
    const rows = cellsOf(text, mark).filter(row => row.some(cell => cell.trim() !== ''));
    const width = rows[0]?.length ?? 0;
    // A list with commas and line breaks has lines of any length; a table's are alike, save that the last cells may be missing.
    if (rows.length > 1 && width > 1 && rows.every(row => row.length === width)) return named(rows);
  }
  return undefined;
}

/** A first row that holds something like a domain is no head. */
function named(rows: readonly (readonly string[])[]): Table {
  const [first = []] = rows;
  const hasHead = !first.some(cell => /[^\s.]\.[^\s.]/.test(cell));
  const head = first.map((cell, at) => (hasHead && cell.trim()) || `Column ${at + 1}`);
  return { head, rows: hasHead ? rows.slice(1) : rows };
}

function cellsOf(text: string, mark: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && cell.trim() === '') {
      cell = '';
      isQuoted = true;
    } else if (sign === mark || sign === '\n') {
      rows.at(-1)!.push(cell);
      cell = '';
      if (sign === '\n') rows.push([]);
    } else if (sign !== '\r') cell += sign;
  }
  rows.at(-1)!.push(cell);
  return rows;
}
