#!/usr/bin/env -S node --max-semi-space-size=8
/** The command line: a table of commands. Nothing else knows argv. */

import { Command, CommanderError } from 'commander';
import { addAudit } from './commands/audit.ts';
import { addCopies } from './commands/copy.ts';
import { addDecisions } from './commands/decisions.ts';
import { addDoctor } from './commands/doctor.ts';
import { isExpected } from './commands/expected.ts';
import { addFeeds } from './commands/feeds.ts';
import { addInfra } from './commands/infra.ts';
import { addKeys } from './commands/keys.ts';
import { addLookups } from './commands/lookup.ts';
import { addMigrate } from './commands/migrate.ts';
import { addOperators } from './commands/operators.ts';
import { addOverrides } from './commands/overrides.ts';
import { clearProgress, UsageProblem } from './commands/print.ts';
import { addServe } from './commands/serve.ts';
import { addSettings } from './commands/settings.ts';
import { VERSION } from './compose.ts';
import { takeSettings } from './setting-sources.ts';

const FAILED = 1;
const WRONG_USAGE = 2;

const COMMANDS = [
  addServe,
  addLookups,
  addKeys,
  addOverrides,
  addFeeds,
  addInfra,
  addAudit,
  addCopies,
  addMigrate,
  addSettings,
  addDoctor,
  addOperators,
  addDecisions,
];

const program = new Command('domain-risk')
  .description('Scores email domains from 0 to 100 and shows the evidence behind every point. Self-hosted.')
  .version(VERSION)
  .showHelpAfterError('(add --help for what is possible)')
  .addHelpText(
    'after',
    `
Examples:
  domain-risk serve
  domain-risk keys create --name web --quota 100000 --origin https://app.example.com
  domain-risk lookup mailinator.com --explain
  domain-risk overrides set partner.example.org allow --below --note "our supplier"

Settings such as PORT, DATA_DIR and DNS_SERVERS come from the environment; serve --help lists them, config shows them.
Exit codes: 0 done, 1 failed, 2 wrong usage.`,
  )
  // Help is there also where they cannot be read.
  .hook('preAction', () => takeSettings(process.env))
  .exitOverride();
for (const add of COMMANDS) add(program);
for (const command of program.commands) inheritExit(command);

// As in bin/pass-signals.mjs.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // Whoever reads our output may have seen enough: `… | head -1` is no failure of ours. A server goes on either way.
  if (code === 'EPIPE' || process.exitCode === FAILED) return;
  process.exitCode = FAILED;
  process.stderr.write(`domain-risk: the output cannot be written (${code})\n`);
});
// Often the same file on the same full disk: without this a server ended, and could not start again (2026-11-19).
process.stderr.on('error', () => {});

function inheritExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) inheritExit(child);
}

try {
  await program.parseAsync();
} catch (error) {
  clearProgress();
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
  } else if (error instanceof UsageProblem) {
    process.stderr.write(`domain-risk: ${error.message}\n`);
    process.exitCode = WRONG_USAGE;
  } else {
    const { message, stack } = error as Error;
    process.stderr.write(
      `${(isExpected(error) ? message : String(stack)).replaceAll(/^/gm, 'domain-risk: ')}\n`,
    );
    process.exitCode = FAILED;
  }
}
