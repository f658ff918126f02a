/** `domain-risk config`: every setting, its value, and where that came from. */

import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { shownDatabase } from '../database.ts';
import { heldSettings, shownSettings, unknownSettings } from '../setting-sources.ts';
import { CommandFailed, printJson, printTable } from './print.ts';

export function addSettings(program: Command): void {
  program
    .command('config')
    .description('show every setting with its value (secrets hidden) and where it came from')
    .option('--json', 'one JSON document on stdout')
    .action(showSettings);
}

function showSettings({ json }: { json?: boolean }): void {
  const file = heldSettings();
  const settings = shownSettings(process.env, file);
  const unknown = unknownSettings(process.env, file);
  const problems = settings.filter(({ problem }) => problem !== null);
  if (json) printJson({ settings, unknown, store: problems.length > 0 ? null : storeShown() });
  else {
    printTable(
      ['SETTING', 'VALUE', 'FROM'],
      settings.map(({ name, value, from }) => [name, value, from]),
    );
    for (const line of unknown) process.stderr.write(`domain-risk: ${line}\n`);
  }
  if (problems.length > 0)
    throw new CommandFailed(problems.map(({ name, problem }) => `${name}: ${problem}`).join('\n'));
  // What only fails together, such as two settings for one thing.
  const store = storeShown();
  if (!json) process.stdout.write(`\nstore: ${store}\n`);
}

const storeShown = () => shownDatabase(readConfig(process.env).database);
