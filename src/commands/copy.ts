/** `domain-risk backup` and `restore`: a consistent copy while serving, and the way back that rewinds no counter. */

import { accessSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { confirm } from '@clack/prompts';
import type { Command } from 'commander';
import { refuseRestore } from '../command-store.ts';
import { type Restored, restoredInWords } from '../core/restored.ts';
import { hasten } from '../schedule.ts';
import { checkBackup, WANTED } from '../store/sqlite/copies.ts';
import { openSqliteStoreHere } from '../store/sqlite/here.ts';
import { journalsOf } from '../store/sqlite/whole-copy.ts';
import { CommandFailed, printJson, printTable, startProgress } from './print.ts';
import { actor, hasStore, readWorld, withStore, withStoreOrNew } from './world.ts';

export function addCopies(program: Command): void {
  program
    .command('backup')
    .description('write a consistent copy of the store to a new file, also while servers run')
    .argument('<file>', 'must not exist yet')
    .option('--json', 'one JSON document on stdout')
    .action(async (file: string, options: { json?: boolean }) => {
      const target = resolve(file);
      const bar = startProgress('Backing up');
      await withStore(store => store.backup(target, (done, total) => bar.at('pages', done, total)));
      bar.end(`backed up to ${target}`);
      if (options.json) printJson({ file: target });
    });

  program
    .command('restore')
    .description(
      'restore key limits and overrides from a backup, also while servers run, after showing what changes; keys, overrides and lists made since stay, no counter goes back, keys keep their present secrets unless the backup knows them as rotated away, and a revoked key stays revoked',
    )
    .argument('<file>', 'made by backup')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation; needed where there is no terminal')
    .option('--json', 'one JSON document on stdout')
    .action(restore);
}

interface RestoreOptions {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

async function restore(file: string, { dryRun = false, yes, json }: RestoreOptions): Promise<void> {
  const source = resolve(file);
  const config = readWorld();
  if (config.database.kind === 'postgres') return refuseRestore();
  // Before the store is opened: a wrong argument must not leave a new, empty store behind.
  checkSource(source);
  const planned = await ((await hasStore(config))
    ? withStore(store => store.compareBackup(source))
    : comparedWithNothing(source));
  if (dryRun && json) return printJson({ file: source, dry_run: true, ...planned });
  if (!json) printRestored(planned);
  if (dryRun) return void process.stdout.write('a dry run: nothing was changed\n');
  if (!yes && !(await isConfirmed(source))) throw new CommandFailed('nothing was restored');
  const act = { ...actor(), at: Date.now(), action: 'store.restore', subject: basename(source) } as const;
  const { done, keys } = await withStoreOrNew(async store => {
    const restored = await store.restore(source, { ...act, detail: null });
    // The lists are those of the backup: a service that updates by itself does so within two minutes.
    if (restored.changes.some(({ action }) => action === 'feed.update')) await hasten(store);
    return { done: restored, keys: (await store.listKeys()).length };
  });
  if (json) printJson({ file: source, dry_run: false, keys, ...done });
  else process.stdout.write(`restored from ${source}: ${restoredInWords(done)}\n`);
}

/** Where there is no store yet, and a look must not make one. */
async function comparedWithNothing(source: string): Promise<Restored> {
  const folder = temporaryFolder();
  try {
    const store = await openSqliteStoreHere(join(folder, 'empty.db'));
    return await store.compareBackup(source).finally(() => store.close());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'domain-risk-'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailed(
      `the backup cannot be looked at in ${tmpdir()} (${code}): set TMPDIR to a folder that can be written to`,
    );
  }
}

function printRestored({ changes, rows, warnings }: Restored): void {
  if (changes.length > 0)
    printTable(
      ['CHANGE', 'OF', 'WHAT'],
      changes.map(({ action, subject, detail }) => [action, subject, detail]),
    );
  const counts = Object.entries(rows).map(([table, count]) => `${count} in ${table}`);
  if (counts.length > 0) process.stdout.write(`rows that only the backup has: ${counts.join(', ')}\n`);
  if (changes.length + counts.length === 0) process.stdout.write('nothing to change\n');
  for (const { detail } of warnings) process.stderr.write(`domain-risk: ${detail}\n`);
}

async function isConfirmed(source: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandFailed('nothing was restored: there is no terminal to ask on; add --yes');
  const answer = await confirm({
    message: `Restore from ${source}?`,
    initialValue: false,
    output: process.stderr,
  });
  return answer === true;
}

function checkSource(path: string): void {
  checkReadable(path);
  // What belongs to it is copied with it, and then looked at as a whole.
  if (journalsOf(path).length > 0) return;
  // Immutable, so that no journal is made beside it: a backup may be on a medium that is only read.
  checkBackup(`${pathToFileURL(path).href}?immutable=1`, path);
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? `${path} does not exist` : `cannot read ${path} (${code})`;
    throw new CommandFailed(`${problem}: ${WANTED}`);
  }
  if (!statSync(path).isFile()) throw new CommandFailed(`${path} is no file: ${WANTED}`);
}
