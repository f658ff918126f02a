/** `domain-risk operators`: who may use the API below /admin and the operator's view, each with a token of their own. */

import type { Command } from 'commander';
import { createAppoint } from '../appoint.ts';
import { type OperatorRecord, parseOperatorName } from '../core/operator.ts';
import type { Store } from '../core/ports.ts';
import { shownDate } from '../http/shown.ts';
import { CommandFailed, printFields, printJson, printTable, showOnce, UsageProblem } from './print.ts';
import { labelValue } from './values.ts';
import { actor, withStore } from './world.ts';

const appointOn = (store: Store) => createAppoint({ store, clock: Date.now });

const shown = ({ name, createdAt, revokedAt }: OperatorRecord) => ({
  name,
  created_at: shownDate(createdAt),
  revoked_at: shownDate(revokedAt),
});

function newNameValue(text: string): string {
  const name = parseOperatorName(text);
  if (!name.ok) throw new UsageProblem(`the name ${name.problem}`);
  return name.value;
}

export function addOperators(program: Command): void {
  const operators = program
    .command('operators')
    .description('operators with a token each, beside ADMIN_TOKEN, which enables the operator API');

  operators
    .command('add')
    .description('create a token; it is printed only once')
    .argument('<name>', 'name for the audit log', newNameValue)
    .option('--json', 'one JSON document on stdout')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const made = await withStore(store => appointOn(store).add(name, actor()));
      if (!made) throw new CommandFailed(`there is an operator named ${JSON.stringify(name)} already`);
      const fields = { ...shown(made.operator), token: made.token };
      await showOnce(
        () => (json ? printJson(fields) : printFields(fields)),
        `nobody has the token of ${JSON.stringify(name)}: "domain-risk operators revoke" it, then add it again`,
      );
      if (!json) process.stderr.write('\nKeep the token now: it is not stored and cannot be shown again.\n');
    });

  operators
    .command('list')
    .description('list all, without their tokens')
    .option('--json', 'one JSON document on stdout')
    .action(async ({ json }: { json?: boolean }) => {
      const rows = (await withStore(store => store.listOperators())).map(shown);
      if (json) return printJson(rows);
      printTable(
        ['NAME', 'SINCE', 'STATE'],
        rows.map(row => [row.name, row.created_at, row.revoked_at ? `revoked ${row.revoked_at}` : 'live']),
      );
    });

  operators
    .command('revoke')
    .description('revoke a token; takes effect within a second')
    .argument('<name>', 'as listed', labelValue)
    .option('--json', 'one JSON document on stdout')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const isDone = await withStore(store => appointOn(store).revoke(name, actor()));
      if (!isDone)
        throw new CommandFailed(
          `there is no active operator named ${JSON.stringify(name)}; "domain-risk operators list" shows all`,
        );
      if (json) printJson({ name, revoked: true });
      else process.stdout.write(`revoked the token of ${name}\n`);
    });
}
