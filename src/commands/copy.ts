/** `domain-risk backup` and `restore`: a consistent copy while serving, and the way back that rewinds no counter. */

import { accessSync, constants, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { StoreRefused } from '../store/refused.ts';
import { examine, isMarked } from '../store/sqlite/open.ts';
import { CommandFailed, printJson, startProgress } from './print.ts';
import { actor, readWorld, withStore, withStoreOrNew } from './world.ts';

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
      'go back to the limits of keys, the overrides and the flags of a backup, also while servers run; no counter goes back, keys that are there keep their present secrets, and a revoked key stays revoked',
    )
    .argument('<file>', 'made by backup')
    .option('--json', 'one JSON document on stdout')
    .action(restore);
}

async function restore(file: string, options: { json?: boolean }): Promise<void> {
  const source = resolve(file);
  // Before the store is opened: a wrong argument must not leave a new, empty store behind.
  if (readWorld().database.kind === 'sqlite') checkBackup(source);
  const keys = await withStoreOrNew(async store => {
    const act = {
      ...actor(),
      at: Date.now(),
      action: 'store.restore',
      subject: basename(source),
    } as const;
    await store.restore(source, { ...act, detail: null });
    return (await store.listKeys()).length;
  });
  if (options.json) printJson({ file: source, keys });
  else process.stdout.write(`restored ${keys} keys from ${source}\n`);
}

const WANTED = 'name a file made by backup, of this version or an older one';

function checkBackup(path: string): void {
  checkReadable(path);
  // Immutable, so that no journal is made beside it: a backup may be on a medium that is only read.
  const url = `${pathToFileURL(path).href}?immutable=1`;
  try {
    examine(url, path);
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    // Its advice is about the store, and this is none.
    throw new CommandFailed(`${error.problem}: ${WANTED}`);
  }
  if (!isMarked(url)) throw new CommandFailed(`${path} is empty: ${WANTED}`);
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
