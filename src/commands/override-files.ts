/** `domain-risk overrides import` and `export`: many overrides at once, as comma-separated values. */

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { MOST_IMPORTED, parseOverrides, writtenOverrides } from '../core/override-file.ts';
import { CommandFailed, printJson } from './print.ts';
import { actor, operateOn, whoAmI, withStore, withStoreOrNew } from './world.ts';

interface ImportOptions {
  dryRun?: boolean;
  json?: boolean;
}

const MOST_BYTES = 16 * 2 ** 20;
/** Of what is wrong with a file: who has mended these looks again. */
const MOST_TOLD = 20;

export function addOverrideFiles(overrides: Command): void {
  overrides
    .command('import')
    .description('set many at once, all or none; applies on running servers at once')
    .argument(
      '<file>',
      'comma-separated values: a line "domain,action,below,note,author,expires_at", of which domain and action must be there, then one line for each',
    )
    .option('--dry-run', 'show what would happen; change nothing')
    .option('--json', 'one JSON document on stdout')
    .action(importFile);

  overrides
    .command('export')
    .description('all overrides that have not ended, as import reads them, on stdout')
    .action(async () => {
      const { overrides: all } = await withStore(store => store.listOverrides());
      process.stdout.write(writtenOverrides(all, Date.now()));
    });
}

async function importFile(file: string, { dryRun = false, json }: ImportOptions): Promise<void> {
  const { overrides, problems } = parseOverrides(readText(file), whoAmI(), Date.now());
  if (problems.length > 0) {
    const more = problems.length > MOST_TOLD ? [`and ${problems.length - MOST_TOLD} more`] : [];
    throw new CommandFailed(
      [...problems.slice(0, MOST_TOLD), ...more, 'nothing was imported: correct the file first'].join('\n'),
    );
  }
  const imported = await (dryRun ? withStore : withStoreOrNew)(async store => {
    const work = (isTrial: boolean) =>
      operateOn(store).importOverrides(overrides, basename(file), actor(), isTrial);
    const { added, changed } = await work(true);
    if (added + changed > MOST_IMPORTED)
      throw new CommandFailed(
        `${added} to add and ${changed} to change, at most ${MOST_IMPORTED} at once: import the file in parts`,
      );
    return work(dryRun);
  });
  if (json) return printJson({ dry_run: dryRun, ...imported });
  const { added, changed, unchanged } = imported;
  const but = dryRun ? '; a dry run: nothing was changed' : '';
  process.stdout.write(`${added} added, ${changed} changed, ${unchanged} unchanged${but}\n`);
}

function readText(file: string): string {
  try {
    if (statSync(file).size > MOST_BYTES) throw new CommandFailed(`${file} is larger than 16 MiB`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}
