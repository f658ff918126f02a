/** `domain-risk keys`: who may call, from where, and how often. */

import type { Command } from 'commander';
import { changesIn, givenOf, type KeyRecord, type Limits, limitsOf } from '../core/key.ts';
import { parseNetwork, parseOrigin } from '../core/origin.ts';
import type { Store } from '../core/ports.ts';
import { toSecond } from '../core/quota.ts';
import { shownKey, shownUse } from '../http/shown.ts';
import { newSecret, type Operate, type Problem } from '../operate.ts';
import { CommandFailed, printFields, printJson, printTable, showOnce, UsageProblem } from './print.ts';
import {
  checkedList,
  dateValue,
  labelValue,
  NONE,
  type OrNone,
  orNull,
  overlapValue,
  quotaValue,
  rateValue,
} from './values.ts';
import { actor, done, operateOn, withStore, withStoreOrNew } from './world.ts';

const LISTING = 'keys list';

/** As typed: what is not there stays as it is. */
interface Typed {
  name?: string;
  note?: OrNone<string>;
  quota?: OrNone<number>;
  rate?: OrNone<number>;
  origin?: string[];
  network?: string[];
  expires?: OrNone<number>;
  json?: boolean;
}

function limitsFrom(typed: Typed): Partial<Limits> {
  return givenOf({
    name: typed.name,
    note: orNull(typed.note),
    quota: orNull(typed.quota),
    rate: orNull(typed.rate),
    origins: typed.origin,
    networks: typed.network,
    expiresAt: orNull(typed.expires),
  });
}

function printKey(key: KeyRecord, json: boolean | undefined, secret?: string): void {
  const shown = shownKey(key, undefined, secret);
  if (json) return printJson(shown);
  const { origins, networks, quota, rate, ...rest } = shown;
  printFields({
    ...rest,
    quota: quota ?? 'unlimited',
    rate: rate ?? 'no limit',
    origins: origins.join(', ') || 'any',
    networks: networks.join(', ') || 'any',
  });
}

/** With the secret that it has from now on. */
async function showKey(key: KeyRecord, json: boolean | undefined, secret: string): Promise<void> {
  await showOnce(
    () => printKey(key, json, secret),
    `nobody has the secret of the key ${JSON.stringify(key.name)}: "domain-risk keys rotate ${key.id}" gives it a new one`,
  );
  if (!json) process.stderr.write('\nKeep the key now: it is not stored and cannot be shown again.\n');
}

/** Of the key that was named by its id or its name. */
function onKey<T>(wanted: string, work: (operate: Operate, id: string) => Promise<T | Problem>): Promise<T> {
  return withStore(async store => {
    const operate = operateOn(store);
    const { id } = done(await operate.findKey(wanted), LISTING);
    return done(await work(operate, id), LISTING);
  });
}

const noteValue = (text: string): OrNone<string> => (text.trim() === '' ? NONE : labelValue(text));

function withLimits(command: Command): Command {
  return command
    .option('--note <text>', 'a note about the key, one line; "" removes it', noteValue)
    .option('--quota <calls>', 'calls per calendar month in UTC; 0 is none, "unlimited" no limit', quotaValue)
    .option('--rate <calls>', 'calls per second and server; "none" for no limit', rateValue)
    .option(
      '--origin <origin>',
      'web origin that may use the key, such as https://app.example.com or https://*.example.com; repeat for more, "any" for no limit',
      checkedList('--origin', parseOrigin),
    )
    .option(
      '--network <cidr>',
      'client network that may use the key, such as 192.0.2.0/24; repeat for more, "any" for no limit',
      checkedList('--network', parseNetwork),
    )
    .option('--expires <date>', 'date or time (UTC) when the key expires; "never" removes it', dateValue)
    .option('--json', 'one JSON document on stdout');
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('create, list, change, rotate and revoke API keys');

  withLimits(keys.command('create').description('create a key; it is printed only once'))
    .requiredOption('--name <name>', 'what the key is for; no other live key has the same', labelValue)
    .option('--if-missing', 'if a key has this name, leave it unchanged and show it without its secret')
    .action(create);

  keys
    .command('generate')
    .description('print a new secret for FIRST_KEY or FIRST_KEY_FILE; changes nothing')
    .option('--json', 'one JSON document on stdout')
    .action(({ json }: { json?: boolean }) => {
      const key = newSecret();
      if (json) printJson({ key });
      else process.stdout.write(`${key}\n`);
    });

  keys
    .command('list')
    .description("live keys with their limits, this month's count and their last use")
    .option('--all', 'revoked ones too')
    .option('--json', 'one JSON document on stdout')
    .action((options: ListOptions) => withStore(store => list(store, options)));

  withLimits(keys.command('update').description('change the limits of a key; omitted ones are unchanged'))
    .argument('<key>', 'id or name')
    .option('--name <name>', 'what the key is for', labelValue)
    .action(async (wanted: string, typed: Typed) => {
      const limits = limitsFrom(typed);
      if (Object.keys(limits).length === 0)
        throw new UsageProblem(
          'nothing to change: name --name, --note, --quota, --rate, --origin, --network or --expires',
        );
      printKey(await onKey(wanted, (operate, id) => operate.updateKey(id, limits, actor())), typed.json);
    });

  keys
    .command('rotate')
    .description('give a key a new secret; its count and limits stay')
    .argument('<key>', 'id or name')
    .option('--overlap <duration>', 'how long the old secret stays valid, such as 24h', overlapValue, 0)
    .option('--end-previous', 'also while the secret before still has an overlap, which ends now')
    .option('--json', 'one JSON document on stdout')
    .action(rotate);

  keys
    .command('revoke')
    .description('revoke a key from the next request on; cannot be undone')
    .argument('<key>', 'id or name')
    .option('--json', 'one JSON document on stdout')
    .action(async (wanted: string, { json }: { json?: boolean }) =>
      printKey(await onKey(wanted, (operate, id) => operate.revokeKey(id, actor())), json),
    );
}

async function rotate(
  wanted: string,
  { overlap, endPrevious, json }: { overlap: number; endPrevious?: boolean; json?: boolean },
): Promise<void> {
  const rotation = { overlap, endsPrevious: endPrevious };
  const { key, secret, ended } = await onKey(wanted, async (operate, id) => {
    const made = await operate.rotateKey(id, rotation, actor());
    if ('problem' in made && made.problem === 'overlapping')
      throw new CommandFailed(`${made.detail} (--end-previous)`);
    return made;
  });
  if (ended) process.stderr.write(`the secret before, valid until ${toSecond(ended)}, has ended\n`);
  await showKey(key, json, secret);
}

async function create(typed: Typed & { name: string; ifMissing?: boolean }): Promise<void> {
  const limits = { ...limitsFrom(typed), name: typed.name };
  const made = await withStoreOrNew(async store => {
    const operate = operateOn(store);
    const result = await operate.createKey(limits, actor());
    if (!('problem' in result)) return result;
    const present = await operate.findKey(typed.name);
    if (!typed.ifMissing || 'problem' in present)
      throw new CommandFailed(`${result.detail}, or leave it as it is with --if-missing`);
    return { key: present, secret: undefined };
  });
  if (made.secret !== undefined) return showKey(made.key, typed.json, made.secret);
  const differs = changesIn(made.key, { ...limitsOf(made.key), ...limitsFrom(typed), name: made.key.name });
  process.stderr.write(
    `there already: nothing was made${differs && `; it differs from what was asked for, which "domain-risk keys update ${made.key.id}" can change: ${differs}`}\n`,
  );
  printKey(made.key, typed.json);
}

interface ListOptions {
  all?: boolean;
  json?: boolean;
}

async function list(store: Store, { all, json }: ListOptions): Promise<void> {
  const shown: ReturnType<typeof shownUse>[] = [];
  for await (const keys of operateOn(store).listKeys())
    shown.push(...keys.filter(({ key }) => all || key.revokedAt === null).map(shownUse));
  if (json) return printJson(shown);
  printTable(
    [
      'ID',
      'NAME',
      'KEY',
      'USED',
      'QUOTA',
      'RATE',
      'ORIGINS',
      'NETWORKS',
      'EXPIRES',
      'LAST USED',
      'STATE',
      'NOTE',
    ],
    shown.map(key => [
      key.id,
      key.name,
      key.shown_as,
      key.used,
      key.quota ?? 'unlimited',
      key.rate ?? 'none',
      key.origins.join(' ') || 'any',
      key.networks.join(' ') || 'any',
      key.expires_at ?? 'never',
      key.last_used_at ?? 'never',
      key.revoked_at
        ? 'revoked'
        : key.expires_at && Date.parse(key.expires_at) <= Date.now()
          ? 'expired'
          : 'live',
      key.note,
    ]),
  );
}
