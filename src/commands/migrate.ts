/** `domain-risk migrate`: from one machine's file to a database for many, with every count. */

import { basename } from 'node:path';
import type { Command } from 'commander';
import { tellFormChange } from '../compose.ts';
import { type Database, parseDatabase } from '../database.ts';
import { withSecrets } from '../secret-files.ts';
import { SETTINGS } from '../settings.ts';
import { printJson, startProgress, UsageProblem } from './print.ts';
import { actor } from './world.ts';

type Of<K extends Database['kind']> = Extract<Database, { kind: K }>;

const EXAMPLES = {
  sqlite: 'sqlite:./var/domain-risk.db',
  postgres: 'postgres://user:password@host:5432/domain_risk',
} as const;

/** What was typed is not repeated: it may hold a password. */
function databaseValue<K extends Database['kind']>(option: string, kind: K, text: string): Of<K> {
  const parsed = parseDatabase(text, process.cwd());
  const isAddress = /^postgres(ql)?:/.test(text) && URL.canParse(text);
  if (!parsed.ok && kind === 'postgres' && isAddress) throw new UsageProblem(`${option} ${parsed.problem}`);
  if (!parsed.ok || parsed.value.kind !== kind)
    throw new UsageProblem(`${option} must be like ${EXAMPLES[kind]}`);
  return parsed.value as Of<K>;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'move everything from an SQLite file to an empty PostgreSQL database; stop the servers first',
    )
    .requiredOption(
      '--from <store>',
      `the file, such as ${EXAMPLES.sqlite}; its contents stay, brought up to date where an older version wrote it`,
      text => databaseValue('--from', 'sqlite', text),
    )
    .option(
      '--to <store>',
      'postgres://user:password@host:port/database; best left out and set as DATABASE_URL or in DATABASE_URL_FILE, since others on this machine can see what is typed',
      text => databaseValue('--to', 'postgres', text),
    )
    .option('--json', 'one JSON document on stdout')
    .action(migrate);
}

/** Of DATABASE_URL, or of the file that DATABASE_URL_FILE names. */
function targetUrl(): string {
  const problems: string[] = [];
  const file = SETTINGS.DATABASE_URL_FILE.parse(process.env.DATABASE_URL_FILE ?? '');
  if (!file.ok) problems.push(`DATABASE_URL_FILE: ${file.problem}`);
  const { DATABASE_URL = '' } = withSecrets(process.env, problems);
  if (problems.length > 0) throw new UsageProblem(problems.join('\n'));
  return DATABASE_URL;
}

async function migrate(options: { from: Of<'sqlite'>; to?: Of<'postgres'>; json?: boolean }): Promise<void> {
  const { from } = options;
  const to = options.to ?? databaseValue('DATABASE_URL (or --to in its place)', 'postgres', targetUrl());
  const bar = startProgress('Moving');
  const { moveStore } = await import('../store/move.ts');
  const act = {
    ...actor(),
    at: Date.now(),
    action: 'store.move',
    subject: basename(from.path),
    detail: null,
  } as const;
  const moved = await moveStore(
    from.path,
    to.url,
    (table, done, total) => bar.at(table, done, total),
    act,
    tellFormChange,
  );
  const rows = Object.entries(moved).map(([table, count]) => `${count} in ${table}`);
  bar.end(`moved and verified: ${rows.join(', ')}`);
  if (options.json) printJson({ from: from.path, moved });
}
