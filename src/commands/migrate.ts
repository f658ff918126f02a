/** `domain-risk migrate`: from one machine's file to a database for many, with every count. */

import { basename } from 'node:path';
import type { Command } from 'commander';
import { type Database, parseDatabase } from '../config.ts';
import { printJson, startProgress, UsageProblem } from './print.ts';
import { actor } from './world.ts';

function databaseValue(text: string): Database {
  const parsed = parseDatabase(text);
  if (!parsed.ok) throw new UsageProblem(`a store ${parsed.problem}`);
  return parsed.value;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'move everything from an SQLite file to an empty PostgreSQL database; stop the servers first',
    )
    .requiredOption('--from <store>', 'sqlite:<path of the file>; it stays as it is', databaseValue)
    .option(
      '--to <store>',
      'postgres://user:password@host:port/database; best left out and set as DATABASE_URL, since others on this machine can see what is typed',
      databaseValue,
    )
    .option('--json', 'one JSON document on stdout')
    .action(migrate);
}

async function migrate(options: { from: Database; to?: Database; json?: boolean }): Promise<void> {
  const { from } = options;
  const to = options.to ?? databaseValue(process.env.DATABASE_URL ?? '');
  if (from.kind !== 'sqlite') throw new UsageProblem('--from must be sqlite:<path of a file>');
  if (to.kind !== 'postgres')
    throw new UsageProblem(
      '--to, or DATABASE_URL in its place, must be postgres://user:password@host:port/database',
    );
  const bar = startProgress('Moving');
  const { moveStore } = await import('../store/move.ts');
  const moved = await moveStore(from.path, to.url, (table, done, total) => bar.at(table, done, total), {
    ...actor(),
    at: Date.now(),
    action: 'store.move',
    subject: basename(from.path),
    detail: null,
  });
  const rows = Object.entries(moved).map(([table, count]) => `${count} in ${table}`);
  bar.end(`moved and verified: ${rows.join(', ')}`);
  if (options.json) printJson({ from: from.path, moved });
}
