/** `domain-risk overrides`: the operator's word about a name, which wins over every list and over DNS. */

import { userInfo } from 'node:os';
import { Argument, type Command } from 'commander';
import { OVERRIDE_ACTIONS, type Override, type OverrideAction } from '../core/override.ts';
import { CommandFailed, printFields, printJson, printTable, shownDate } from './print.ts';
import { dateValue, domainValue, labelValue, type OrNone, typedOr } from './values.ts';
import { withStore, withStoreOrNew } from './world.ts';

interface SetOptions {
  below?: boolean;
  note?: string;
  author?: string;
  expires?: OrNone<number>;
  json?: boolean;
}

function shown(override: Override) {
  const { domain, action, below, note, author } = override;
  const times = { created_at: shownDate(override.createdAt), expires_at: shownDate(override.expiresAt) };
  return { domain, action, below, note, author, ...times };
}

export function addOverrides(program: Command): void {
  const overrides = program.command('overrides').description('decide about a name yourself');

  overrides
    .command('set')
    .description(
      'allow (safe), deny (disposable) or role (role_account) a domain; running servers know at once',
    )
    .argument('<domain>', 'the name', domainValue)
    .addArgument(new Argument('<action>', 'what to answer').choices(OVERRIDE_ACTIONS))
    .option('--below', 'the names below it too')
    .option('--note <text>', 'why', labelValue)
    .option('--author <name>', 'who decided; you where it is left out', labelValue)
    .option('--expires <date>', 'day or moment (UTC) when it ends', dateValue)
    .option('--json', 'one JSON document on stdout')
    .action(set);

  overrides
    .command('list')
    .description('all overrides')
    .option('--json', 'one JSON document on stdout')
    .action(list);

  overrides
    .command('remove')
    .description('go back to what lists and DNS say')
    .argument('<domain>', 'the name', domainValue)
    .option('--json', 'one JSON document on stdout')
    .action(async (domain: string, options: { json?: boolean }) => {
      const removed = await withStore(store => store.removeOverride(domain));
      if (!removed)
        throw new CommandFailed(`there is no override for ${domain}; "domain-risk overrides list" shows all`);
      if (options.json) printJson({ domain, removed });
      else process.stdout.write(`removed the override for ${domain}\n`);
    });
}

/** A container may run under a user id that no passwd entry names, and the system then refuses to tell. */
function whoAmI(): string | null {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? null;
  }
}

async function set(domain: string, action: OverrideAction, options: SetOptions): Promise<void> {
  const override: Override = {
    domain,
    action,
    below: options.below ?? false,
    note: options.note ?? null,
    author: options.author ?? whoAmI(),
    createdAt: Date.now(),
    expiresAt: typedOr(options.expires, null),
  };
  await withStoreOrNew(store => store.setOverride(override));
  if (options.json) printJson(shown(override));
  else printFields(shown(override));
}

async function list(options: { json?: boolean }): Promise<void> {
  const rows = (await withStore(store => store.listOverrides())).overrides.map(shown);
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
