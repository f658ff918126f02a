/** What commands show: tables for people, one JSON document for programs, progress on the error stream. */

import { fstatSync, statSync } from 'node:fs';
import { progress as progressBar } from '@clack/prompts';
import { getBorderCharacters, table } from 'table';

/** Wrong usage: exit code 2. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem';
}

/** Could not be done: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Node opens /dev/null in the place of a stream that was closed. */
function isNowhere(): boolean {
  const [out, nothing] = [
    fstatSync(process.stdout.fd ?? 1),
    statSync('/dev/null', { throwIfNoEntry: false }),
  ];
  return out.isCharacterDevice() && out.rdev === nothing?.rdev;
}

/** For a secret that nobody can show again; `lost` says what to do where it went nowhere, or only in part to its reader. */
export async function showOnce(print: () => void, lost: string): Promise<void> {
  let code: string | undefined;
  const note = (error: NodeJS.ErrnoException) => {
    code ??= error.code ?? error.message;
  };
  process.stdout.on('error', note);
  print();
  // Here an output is written at once, whatever it is; what went wrong is told a moment later.
  await new Promise(resolve => setImmediate(resolve));
  process.stdout.off('error', note);
  if (code !== undefined) throw new CommandFailed(`it could not be shown (${code}): ${lost}`);
  if (isNowhere()) process.stderr.write(`domain-risk: standard output goes nowhere: ${lost}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Text from DNS, feeds or people may hold characters that would drive the terminal. */
export const printable = (cell: unknown) => String(cell ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '�');

/** As wide as it is long; each key is shown with an ellipsis between the ends of its secret. */
const PLAIN = /^[ -~…]*$/;

/**
 * The printer looks at each letter for how wide it is: 20,000 overrides took it 4 s (2026-11-18). So it gets only lines
 * with other than plain letters, and one as wide as all others, by which those are then aligned.
 */
export function printTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): void {
  const lines = [[...columns], ...rows.map(row => row.map(printable))];
  const odd = new Set(lines.filter(line => !line.every(cell => PLAIN.test(cell))));
  const widest = (at: number) =>
    lines.reduce((most, line) => (odd.has(line) ? most : Math.max(most, line[at]!.length)), 1);
  const [ruler = '', ...drawn] = table([columns.map((_, at) => 'x'.repeat(widest(at))), ...odd], {
    border: getBorderCharacters('void'),
    columnDefault: { paddingLeft: 0, paddingRight: 2 },
    drawHorizontalLine: () => false,
  }).split('\n');
  const widths = ruler.split(/(?<= )(?=x)/).map(({ length }) => length);
  const aligned = (line: readonly string[]) => line.map((cell, at) => cell.padEnd(widths[at]!)).join('');
  const text = lines.map(line => `${(odd.has(line) ? drawn.shift()! : aligned(line)).trimEnd()}\n`);
  process.stdout.write(text.join(''));
}

export function printFields(fields: Readonly<Record<string, unknown>>): void {
  const width = Math.max(...Object.keys(fields).map(name => name.length));
  for (const [name, value] of Object.entries(fields)) {
    process.stdout.write(`${name.padEnd(width)}  ${printable(value ?? 'none')}\n`);
  }
}

export interface ProgressBar {
  /** What is being done now, and how far it is. */
  at(message: string, done: number, total: number): void;
  end(message: string): void;
}

/** A bar where a person watches; one line at the end elsewhere. Never on stdout: that belongs to the result. */
export function startProgress(title: string): ProgressBar {
  // A terminal of no width, as `script` and some jobs have it, would show one letter a line.
  if (!process.stderr.isTTY || !process.stderr.columns) {
    return { at: () => {}, end: message => process.stderr.write(`${message}\n`) };
  }
  const steps = 100;
  const bar = progressBar({ max: steps, size: 30, output: process.stderr });
  running.add(bar);
  let shown = 0;
  bar.start(title);
  return {
    at(message, done, total) {
      const now = total > 0 ? Math.floor((done / total) * steps) : 0;
      bar.advance(Math.max(0, now - shown), message);
      shown = Math.max(shown, now);
    },
    end(message) {
      running.delete(bar);
      bar.stop(message);
    },
  };
}

const running = new Set<ReturnType<typeof progressBar>>();

/** For whoever tells why a command failed: a bar that turns on and on would keep the process from ending. */
export function clearProgress(): void {
  for (const bar of running) bar.clear();
  running.clear();
}
