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
/** Looks some names up, in their order. */
export type LookUp = (names: readonly string[]) => Promise<readonly Entry[]>;

export interface FileOptions {
  readonly file: string;
  readonly column?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
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
  const results: Entry[] = [];
  const bar = startProgress('Looking up');
  for (let at = 0; at < inputs.length; at += AT_ONCE) {
    bar.at(`${at} of ${inputs.length}`, at, inputs.length);
    results.push(...(await lookUp(inputs.slice(at, at + AT_ONCE).map(nameOf))));
  }
  const invalid = results.filter(({ error }) => error !== undefined).length;
  bar.end(`Done: ${results.length - invalid} results, ${invalid} invalid`);
  print(options, inputs, results);
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
    text = readFileSync(file === '-' ? STDIN : file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
  const names = column === undefined ? linesOf(text) : columnOf(text, column);
  if (names.length === 0) throw new CommandFailed(`${file} holds no names`);
  return names;
}

function linesOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return lines.map(line => line.trim()).filter(line => line !== '');
}

function columnOf(text: string, column: string): string[] {
  const [header = [], ...rows] = parseCsv(text);
  const at = header.findIndex(name => name.toLowerCase() === column.toLowerCase());
  if (at < 0) throw new UsageProblem(`there is no column ${column}; the first line has ${header.join(', ')}`);
  return rows.map(row => (row[at] ?? '').trim()).filter(cell => cell !== '');
}

function print(options: FileOptions, inputs: readonly string[], results: readonly Entry[]): void {
  if (options.json) return printJson({ results, count: results.length });
  if (options.csv) {
    const lines = results.map((entry, at) => csvLine([inputs[at], ...COLUMNS.map(name => entry[name])]));
    process.stdout.write([csvLine(['input', ...COLUMNS]), ...lines].join(''));
    return;
  }
  printTable(
    ['DOMAIN', 'RISK SCORE', 'REASON', 'MX PROVIDER'],
    results.map(({ domain, risk_score, reason, mx_provider_label, error, detail }) =>
      error === undefined ? [domain, risk_score, reason, mx_provider_label] : [domain, '', 'invalid', detail],
    ),
  );
}
