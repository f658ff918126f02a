/** `domain-risk keys`: who may call, from where, and how often. */

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { digestOf, type KeyRecord, secretFrom, shownParts } from '../core/key.ts';
import { parseNetwork, parseOrigin } from '../core/origin.ts';
import type { Store } from '../core/ports.ts';
import { monthOf } from '../core/quota.ts';
import { CommandFailed, printFields, printJson, printTable, shownDate } from './print.ts';
import {
  checkedList,
  dateValue,
  durationValue,
  labelValue,
  type OrNone,
  quotaValue,
  rateValue,
  typedOr,
} from './values.ts';
import { withStore, withStoreOrNew } from './world.ts';

/** As typed: what is not there stays as it is. */
interface Typed {
  name?: string;
  quota?: OrNone<number>;
  rate?: OrNone<number>;
  origin?: string[];
  network?: string[];
  expires?: OrNone<number>;
  json?: boolean;
}

type Limits = Pick<KeyRecord, 'name' | 'quota' | 'rate' | 'origins' | 'networks' | 'expiresAt'>;

/** Of a command that others get in the way of. */
const MOST_TRIES = 5;

const NO_LIMITS = { quota: null, rate: null, origins: [], networks: [], expiresAt: null };

function limitsFrom(typed: Typed, before: Limits): Limits {
  return {
    name: typed.name ?? before.name,
    quota: typedOr(typed.quota, before.quota),
    rate: typedOr(typed.rate, before.rate),
    origins: typed.origin ?? before.origins,
    networks: typed.network ?? before.networks,
    expiresAt: typedOr(typed.expires, before.expiresAt),
  };
}

export function newKey(
  limits: Partial<Limits> & { name: string },
  now: number,
): { key: KeyRecord; secret: string } {
  const secret = secretFrom(randomBytes(32));
  const key: KeyRecord = {
    id: `key_${randomBytes(8).toString('hex')}`,
    digest: digestOf(secret),
    ...shownParts(secret),
    previousDigest: null,
    previousUntil: null,
    ...NO_LIMITS,
    ...limits,
    createdAt: now,
    revokedAt: null,
  };
  return { key, secret };
}

/** The record as programs see it: no digest, and the secret only when it was just made. */
function shownKey(key: KeyRecord, used: number | undefined, secret?: string) {
  return {
    id: key.id,
    ...(secret === undefined ? {} : { key: secret }),
    name: key.name,
    shown_as: `${key.prefix}…${key.last4}`,
    quota: key.quota,
    ...(used === undefined ? {} : { used }),
    rate: key.rate,
    origins: key.origins,
    networks: key.networks,
    created_at: shownDate(key.createdAt),
    expires_at: shownDate(key.expiresAt),
    revoked_at: shownDate(key.revokedAt),
    ...(key.previousUntil === null ? {} : { previous_until: shownDate(key.previousUntil) }),
  };
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
  if (secret !== undefined)
    process.stderr.write('\nKeep the key now: it is not stored and cannot be shown again.\n');
}

/** By id, or by name where only one key that is not revoked has it. */
async function find(store: Store, wanted: string): Promise<KeyRecord> {
  const keys = await store.listKeys();
  const byId = keys.find(key => key.id === wanted);
  if (byId) return byId;
  const byName = keys.filter(key => key.name === wanted && key.revokedAt === null);
  if (byName.length === 1) return byName[0]!;
  const why = byName.length === 0 ? 'there is no such key' : 'several keys have this name: use the id';
  throw new CommandFailed(`${why}; "domain-risk keys list" shows all`);
}

type Edit = (key: KeyRecord) => Partial<KeyRecord>;

/** Somebody else may change the key between the reading and the writing: then again, from what stands there now. */
export async function change(store: Store, wanted: string, edit: Edit): Promise<KeyRecord> {
  let id = wanted;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const key = await find(store, id);
    id = key.id;
    if (key.revokedAt !== null)
      throw new CommandFailed(`the key ${key.id} is revoked for good: create a new one`);
    const changed = { ...key, ...edit(key) };
    if (await store.updateKey(changed, key)) return changed;
  }
  throw new CommandFailed('others change this key all the time, and nothing was changed here: try again');
}

async function changeAndPrint(wanted: string, json: boolean | undefined, edit: Edit): Promise<void> {
  printKey(await withStore(store => change(store, wanted, edit)), json);
}

function withLimits(command: Command): Command {
  return command
    .option('--quota <calls>', 'calls per calendar month in UTC; 0 is none, "unlimited" no limit', quotaValue)
    .option('--rate <calls>', 'calls per second and server; "none" for no limit', rateValue)
    .option(
      '--origin <origin>',
      'web origin that may use the key, such as https://app.example.com or https://*.example.com; repeat for more, "any" for no limit',
      checkedList(parseOrigin),
    )
    .option(
      '--network <cidr>',
      'client network that may use the key, such as 192.0.2.0/24; repeat for more, "any" for no limit',
      checkedList(parseNetwork),
    )
    .option('--expires <date>', 'day or moment (UTC) when the key ends; "never" for no end', dateValue)
    .option('--json', 'one JSON document on stdout');
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('create, list, change, rotate and revoke API keys');

  withLimits(keys.command('create').description('make a key; it is printed once and never again'))
    .requiredOption('--name <name>', 'what the key is for', labelValue)
    .action(async (typed: Typed & { name: string }) => {
      const { key, secret } = newKey(limitsFrom(typed, { ...NO_LIMITS, name: typed.name }), Date.now());
      await withStoreOrNew(store => store.createKey(key));
      printKey(key, typed.json, secret);
    });

  keys
    .command('list')
    .description("all keys with their limits and this month's count")
    .option('--json', 'one JSON document on stdout')
    .action((options: { json?: boolean }) => withStore(store => list(store, options.json)));

  withLimits(keys.command('update').description('change the limits of a key; what is not named stays'))
    .argument('<key>', 'id or name')
    .option('--name <name>', 'what the key is for', labelValue)
    .action((wanted: string, typed: Typed) =>
      changeAndPrint(wanted, typed.json, key => limitsFrom(typed, key)),
    );

  keys
    .command('rotate')
    .description('give a key a new secret; its count and limits stay')
    .argument('<key>', 'id or name')
    .option('--overlap <duration>', 'how long the old secret stays valid, such as 24h', durationValue, 0)
    .option('--json', 'one JSON document on stdout')
    .action(rotate);

  keys
    .command('revoke')
    .description('refuse a key from the next request on, for good')
    .argument('<key>', 'id or name')
    .option('--json', 'one JSON document on stdout')
    .action((wanted: string, o: { json?: boolean }) =>
      changeAndPrint(wanted, o.json, () => ({ revokedAt: Date.now() })),
    );
}

async function rotate(wanted: string, options: { overlap: number; json?: boolean }): Promise<void> {
  const now = Date.now();
  const { key: fresh, secret } = newKey({ name: wanted }, now);
  const renew: Edit = key => ({
    digest: fresh.digest,
    prefix: fresh.prefix,
    last4: fresh.last4,
    previousDigest: options.overlap > 0 ? key.digest : null,
    previousUntil: options.overlap > 0 ? now + options.overlap : null,
  });
  const rotated = await withStore(store => change(store, wanted, renew));
  printKey(rotated, options.json, secret);
}

async function list(store: Store, json: boolean | undefined): Promise<void> {
  const month = monthOf(Date.now()).name;
  const all = await store.listKeys();
  const shown = await Promise.all(all.map(async key => shownKey(key, await store.used(key.id, month))));
  if (json) return printJson(shown);
  printTable(
    ['ID', 'NAME', 'KEY', 'USED', 'QUOTA', 'ORIGINS', 'NETWORKS', 'STATE'],
    shown.map(key => [
      key.id,
      key.name,
      key.shown_as,
      key.used,
      key.quota ?? 'unlimited',
      key.origins.join(' ') || 'any',
      key.networks.join(' ') || 'any',
      key.revoked_at ? 'revoked' : key.expires_at ? `until ${key.expires_at}` : 'live',
    ]),
  );
}
