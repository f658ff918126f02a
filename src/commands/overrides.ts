/** `domain-risk overrides`: the operator's word about a name, which wins over every list and over DNS. */

import { Argument, type Command } from 'commander';
import { OVERRIDE_ACTIONS, type OverrideAction } from '../core/override.ts';
import { shownOverride } from '../http/shown.ts';
import { addOverrideFiles } from './override-files.ts';
import { printFields, printJson, printTable } from './print.ts';
import { dateValue, domainValue, labelValue, type OrNone, orNull } from './values.ts';
import { actor, done, operateOn, whoAmI, withStore } from './world.ts';

interface SetOptions {
  below?: boolean;
  note?: string;
  author?: string;
  expires?: OrNone<number>;
  json?: boolean;
}

export function addOverrides(program: Command): void {
  const overrides = program.command('overrides').description('your own decisions about domains');

  overrides
    .command('set')
    .description(
      'allow (safe), deny (disposable) or role (role_account) a domain; applies on running servers at once',
    )
    .argument('<domain>', 'the name', domainValue)
    .addArgument(new Argument('<action>', 'what to answer').choices(OVERRIDE_ACTIONS))
    .option('--below', 'include subdomains')
    .option('--note <text>', 'why', labelValue)
    .option('--author <name>', 'who decided; defaults to you', labelValue)
    .option('--expires <date>', 'date or time (UTC) when it expires', dateValue)
    .option('--json', 'one JSON document on stdout')
    .action(set);

  overrides
    .command('list')
    .description('all overrides')
    .option('--json', 'one JSON document on stdout')
    .action(list);

  overrides
    .command('remove')
    .description('remove an override; lists and DNS decide again')
    .argument('<domain>', 'the name', domainValue)
    .option('--json', 'one JSON document on stdout')
    .action(async (domain: string, options: { json?: boolean }) => {
      done(await withStore(store => operateOn(store).removeOverride(domain, actor())), 'overrides list');
      if (options.json) printJson({ domain, removed: true });
      else process.stdout.write(`removed the override for ${domain}\n`);
    });

  addOverrideFiles(overrides);
}

async function set(domain: string, action: OverrideAction, options: SetOptions): Promise<void> {
  const wanted = {
    domain,
    action,
    below: options.below ?? false,
    note: options.note ?? null,
    author: options.author ?? whoAmI(),
    expiresAt: options.expires === undefined ? null : orNull(options.expires),
  };
  const override = await withStore(store => operateOn(store).setOverride(wanted, actor()));
  if (options.json) printJson(shownOverride(override));
  else printFields(shownOverride(override));
}

async function list(options: { json?: boolean }): Promise<void> {
  const { overrides } = await withStore(store => store.listOverrides());
  const rows = Array.from(overrides, shownOverride);
  if (options.json) return printJson(rows);
  printTable(
    ['DOMAIN', 'ACTION', 'BELOW', 'NOTE', 'AUTHOR', 'EXPIRES'],
    rows.map(row => [
      row.domain,
      row.action,
      row.below ? 'yes' : 'no',
      row.note,
      row.author,
      row.expires_at ?? 'never',
    ]),
  );
}
