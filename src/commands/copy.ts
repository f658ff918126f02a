/** `domain-risk backup` and `restore`: a consistent copy while serving, and the way back that rewinds no counter. */

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandFailed, printJson, startProgress } from './print.ts';
import { actor, withStore, withStoreOrNew } from './world.ts';

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
    .action(async (file: string, options: { json?: boolean }) => {
      const source = resolve(file);
      if (!existsSync(source))
        throw new CommandFailed(`${source} does not exist: name a file made by backup`);
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
    });
}
