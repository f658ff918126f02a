/** `domain-risk lookup --file`: many names from a file, judged here or by a running service. */

import { readFileSync } from 'node:fs';
import { domainOf } from '../../client/src/domain.ts';
import type { DomainRisks } from '../../client/src/wire.ts';
import { parseDomain } from '../core/domain.ts';
import { entryJson, invalidJson } from '../http/wire.ts';
import type { Answer } from '../lookup.ts';
import { csvLine, parseCsv } from './csv.ts';
import { CommandFailed, printJson, printTable, startProgress, UsageProblem } from './print.ts';

export type Entry = DomainRisks['results'][number];
/** Of a name that was not looked up `error` says why, as the service or the client calls it. */
export type Row = Omit<Entry, 'error'> & { readonly error?: string };
/** Looks some names up, in their order. */
export type LookUp = (names: readonly string[]) => Promise<readonly Row[]>;

export interface FileOptions {
  readonly file: string;
  readonly column?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  /** Of the service that is asked. */
  readonly url?: string;
}

/** As many as one call of the service takes. */
const AT_ONCE = 1_000;
const STDIN = 0;
const COLUMNS = [
  ...(['domain', 'risk_score', 'reason', 'is_free_provider', 'is_corporate_email'] as const),
  ...(['mx_provider_label', 'degraded', 'error', 'detail'] as const),
];

export async function lookUpFile(options: FileOptions, lookUp: LookUp): Promise<void> {
  const inputs = readNames(options);
  const results: Row[] = [];
  const bar = startProgress('Looking up');
  for (let at = 0; at < inputs.length; at += AT_ONCE) {
    bar.at(`${at} of ${inputs.length}`, at, inputs.length);
    results.push(...(await lookUp(inputs.slice(at, at + AT_ONCE).map(nameOf))));
  }
  const missing = results.filter(isUnanswered);
  const why = `${options.url}: ${missing.at(-1)?.detail}`;
  if (missing.length === results.length) throw new CommandFailed(why);
  const invalid = results.filter(({ error }) => error !== undefined).length - missing.length;
  const answered = `${results.length - invalid - missing.length} results, ${invalid} invalid`;
  bar.end(`Done: ${answered}${missing.length === 0 ? '' : `, ${missing.length} not looked up`}`);
  print(options, inputs, results);
  if (missing.length > 0) throw new CommandFailed(`${missing.length} not looked up: ${why}`);
}

function isUnanswered({ error }: Row): boolean {
  return error !== undefined && error !== 'validation_error';
}

/** Of an address only the domain. What is neither is told by whoever parses it. */
function nameOf(text: string): string {
  return domainOf(text) ?? text;
}

/** Of one answer that was made here. */
export function entryOf(name: string, answer: (name: string) => Answer): Entry {
  const parsed = parseDomain(name);
  return JSON.parse(parsed.ok ? entryJson(answer(parsed.domain), false) : invalidJson(name, parsed.detail));
}

function readNames({ file, column }: FileOptions): string[] {
  let text: string;
  try {
    text = decode(readFileSync(file === '-' ? STDIN : file));
  } catch (error) {
    throw new CommandFailed(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
  const names = column === undefined ? linesOf(text) : columnOf(text, column);
  if (names.length === 0) throw new CommandFailed(`${file} holds no names`);
  return names;
}

/** Spreadsheets call UTF-16 "Unicode text". The mark at the beginning is not part of it. */
function decode(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex');
  const encoding = { fffe: 'utf-16le', feff: 'utf-16be' }[mark] ?? 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.map(line => line.trim()).filter(line => line !== '');
}

/** Spreadsheets write the second where a comma is part of a number, the third as text. */
const SEPARATORS = [',', ';', '\t'];

function columnOf(text: string, column: string): string[] {
  for (const separator of SEPARATORS) {
    const [header = [], ...rows] = parseCsv(text, separator);
    const at = header.findIndex(name => name.toLowerCase() === column.toLowerCase());
    if (at < 0) continue;
    const cells = rows.map(row => (row[at] ?? '').trim()).filter(cell => cell !== '');
    const empty = rows.length - cells.length;
    if (empty > 0) process.stderr.write(`rows without a value in column ${column}, left out: ${empty}\n`);
    return cells;
  }
  const [header = []] = parseCsv(text);
  throw new UsageProblem(`there is no column ${column}; the first line has ${header.join(', ')}`);
}

function print(options: FileOptions, inputs: readonly string[], results: readonly Row[]): void {
  if (options.json) return printJson({ results, count: results.length });
  if (options.csv) {
    const lines = results.map((row, at) => csvLine([inputs[at], ...COLUMNS.map(name => row[name])]));
    process.stdout.write([csvLine(['input', ...COLUMNS]), ...lines].join(''));
    return;
  }
  printTable(
    ['DOMAIN', 'RISK SCORE', 'REASON', 'MX PROVIDER'],
    results.map(row => {
      const { domain, risk_score, reason, mx_provider_label, error, detail } = row;
      if (error === undefined) return [domain, risk_score, reason, mx_provider_label];
      return [domain, '', isUnanswered(row) ? 'not looked up' : 'invalid', detail];
    }),
  );
}
