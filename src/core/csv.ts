/** Comma-separated values as RFC 4180 has them: quoted where they must be, and no formula for a spreadsheet to run. */

/** What a spreadsheet would take for a formula (CWE-1236). */
const FORMULA = /^[=+\-@\t\r]/;
/** Put before it, and before a sign of the same kind, so that it comes back as it was. */
const GUARD = "'";

export function csvLine(values: readonly (string | null)[]): string {
  return `${values.map(value => (value === null ? '' : csvField(value))).join(',')}\n`;
}

function csvField(value: string): string {
  const safe = FORMULA.test(value) || value.startsWith(GUARD) ? GUARD + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A row, and the line of the text on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly values: readonly string[];
}

/** Empty lines do not count. Undefined where a quote is never closed, or something stands behind one that is. */
export function parseCsv(text: string): CsvRow[] | undefined {
  const rows: CsvRow[] = [];
  const source = text.replace(/^\uFEFF/, '');
  /** One value, quoted or not, and what ends it. */
  const value = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  let values: string[] = [];
  let line = 1;
  let begun = 1;
  while (value.lastIndex < source.length || values.length > 0) {
    const found = value.exec(source);
    if (!found) return undefined;
    const [whole, quoted, plain, end] = found;
    values.push(unguarded(quoted?.replaceAll('""', '"') ?? plain!.trim()));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (values.length > 1 || values[0] !== '') rows.push({ line: begun, values });
    values = [];
    begun = line;
  }
  return rows;
}

function unguarded(value: string): string {
  const rest = value.slice(1);
  return value.startsWith(GUARD) && (FORMULA.test(rest) || rest.startsWith(GUARD)) ? rest : value;
}
