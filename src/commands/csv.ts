/** Tables as text (RFC 4180): read from what other programs write, and written so that a spreadsheet runs nothing of it. */

/** Rows of cells; a cell in quotes may hold commas, line breaks and doubled quotes. Empty lines are left out. */
export function parseCsv(text: string, separator = ','): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  let wasQuoted = false;
  const endCell = () => {
    row.push(wasQuoted ? cell : cell.trim());
    cell = '';
    wasQuoted = false;
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; at++) {
    const sign = text[at]!;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (sign === separator) endCell();
    else if (sign === '\n' || sign === '\r') endRow();
    else if (sign === '"' && cell === '') [isQuoted, wasQuoted] = [true, true];
    else if (!wasQuoted && (sign !== ' ' || cell !== '')) cell += sign;
  }
  endRow();
  return rows;
}

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export function csvLine(cells: readonly unknown[]): string {
  const written = cells.map(cell => {
    const text = String(cell ?? '');
    const safe = typeof cell === 'string' && FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(',')}\n`;
}
