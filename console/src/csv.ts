/** Files to take away: CSV that no spreadsheet runs as a formula, and JSON. */

type Cell = string | number | boolean | null;

/** RFC 4180; an apostrophe before what Excel and its kin would calculate. */
function cell(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function toCsv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map(row => `${row.map(cell).join(',')}\r\n`).join('');
}

function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const downloadCsv = (name: string, head: readonly string[], rows: readonly (readonly Cell[])[]) =>
  download(name, 'text/csv;charset=utf-8', toCsv(head, rows));
export const downloadJson = (name: string, data: unknown) =>
  download(name, 'application/json', `${JSON.stringify(data, null, 2)}\n`);
