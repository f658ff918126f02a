/** `domain-risk overrides import` and `export`: many overrides at once, as comma-separated values. */

import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { MOST_IMPORTED, parseOverrides, writtenOverrides } from '../core/override-file.ts';
import { CommandFailed, printJson, printTable } from './print.ts';
import { actor, operateOn, whoAmI, withStore } from './world.ts';

interface ImportOptions {
  dryRun?: boolean;
  replaceAll?: boolean;
  json?: boolean;
}

const MOST_BYTES = 16 * 2 ** 20;
const PIECE_BYTES = 2 ** 20;
/** Of what is wrong with a file: who has mended these looks again. */
const MOST_TOLD = 20;
/** A table of 20,000 took 25 s of the 28 that their import did (2026-11-18); JSON has all of them at once. */
const MOST_SHOWN = 1_000;

export function addOverrideFiles(overrides: Command): void {
  overrides
    .command('import')
    .description('set many at once, all or none; applies on running servers at once')
    .argument(
      '<file>',
      'comma-separated values: a line "domain,action,below,note,author,expires_at", of which domain and action must be there, then one line for each',
    )
    .option('--dry-run', 'show what would happen; change nothing')
    .option('--replace-all', 'also where more than 1,000 change; the audit has what the first 1,000 were')
    .option('--json', 'one JSON document on stdout')
    .action(importFile);

  overrides
    .command('export')
    .description('all overrides that have not ended, as import reads them, on stdout')
    .action(async () => {
      const { overrides: all } = await withStore(store => store.listOverrides());
      process.stdout.write(writtenOverrides([...all], Date.now()));
    });
}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const { dryRun = false, replaceAll = false, json } = options;
  const { overrides, expired, problems } = parseOverrides(readText(file), whoAmI(), Date.now());
  if (problems.length > 0) {
    const more = problems.length > MOST_TOLD ? [`and ${problems.length - MOST_TOLD} more`] : [];
    throw new CommandFailed(
      [...problems.slice(0, MOST_TOLD), ...more, 'nothing was imported: correct the file first'].join('\n'),
    );
  }
  const result = await withStore(async store => {
    const work = (isTrial: boolean) =>
      operateOn(store).importOverrides(overrides, basename(file), actor(), { dryRun: isTrial, replaceAll });
    const tried = await work(true);
    if (!('problem' in tried) && tried.added + tried.changed > MOST_IMPORTED)
      throw new CommandFailed(
        `${tried.added} to add and ${tried.changed} to change, at most ${MOST_IMPORTED} at once: import the file in parts`,
      );
    return dryRun || 'problem' in tried ? tried : work(false);
  });
  if ('problem' in result)
    throw new CommandFailed(
      result.problem === 'too_many'
        ? `${result.detail}: "domain-risk overrides export > before.csv", then import with --replace-all; nothing was imported`
        : result.detail,
    );
  if (json) return printJson({ dry_run: dryRun, ...result, expired });
  const { added, changed, replaced, unchanged } = result;
  if (replaced.length > 0)
    printTable(
      ['REPLACED', 'WAS', 'NOW'],
      replaced.slice(0, MOST_SHOWN).map(({ domain, was, now }) => [domain, was, now]),
    );
  if (replaced.length > MOST_SHOWN)
    process.stdout.write(`and ${replaced.length - MOST_SHOWN} more, which --json shows\n`);
  const left = expired > 0 ? `, ${expired} left out that have expired` : '';
  const but = dryRun ? '; a dry run: nothing was changed' : '';
  process.stdout.write(`${added} added, ${changed} changed, ${unchanged} unchanged${left}${but}\n`);
}

/** Also of what tells no size, such as a pipe. */
function readText(file: string): string {
  const tooLarge = new CommandFailed(`${file} is larger than 16 MiB`);
  try {
    const from = openSync(file, 'r');
    const [pieces, room] = [[] as Buffer[], Buffer.alloc(PIECE_BYTES)];
    let size = 0;
    for (let read = -1; read !== 0 && size <= MOST_BYTES; size += read) {
      read = readSync(from, room);
      pieces.push(Buffer.from(room.subarray(0, read)));
    }
    closeSync(from);
    if (size > MOST_BYTES) throw tooLarge;
    return Buffer.concat(pieces).toString();
  } catch (error) {
    if (error === tooLarge) throw error;
    throw new CommandFailed(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}
