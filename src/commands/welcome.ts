/** What `serve` says when it is ready, and how the first key of an empty store reaches its owner. */

import { rmSync } from 'node:fs';
import type { Config } from '../config.ts';
import { FIRST_START } from '../core/audit.ts';
import { digestOf, isLive } from '../core/key.ts';
import type { Store } from '../core/ports.ts';
import { newSecret } from '../operate.ts';
import type { Service } from '../service.ts';
import { keepKey, keyIn } from './key-file.ts';
import { CommandFailed, showOnce } from './print.ts';
import { operateOn } from './world.ts';

/** Of several workers only one would know the code of a link: they have none. */
type Serving = Pick<Service, 'address' | 'store'> & { readonly invite?: Service['invite'] | undefined };

const FIRST_LOST = 'nobody has the first API key: "domain-risk keys rotate first" gives it a new secret';
const ACTOR = { who: 'domain-risk', via: FIRST_START };

export async function welcome(
  serving: Serving,
  config: Config,
  hasTerminal = process.stdout.isTTY === true,
): Promise<void> {
  const { host, port } = serving.address;
  const shown = host.includes(':') ? `[${host}]` : host;
  const base = `http://${shown === '0.0.0.0' || shown === '[::]' ? '127.0.0.1' : shown}:${port}`;
  const reference = config.docs ? `, API reference at ${base}/docs` : '';
  process.stderr.write(`ready: ${base} in a browser${reference}\n`);
  if (config.firstKey !== undefined) return useFirstKey(serving, config.firstKey);
  if (config.firstKeyFile !== undefined) return keepFirstKey(serving, config.firstKeyFile);
  const first = await operateOn(serving.store).createFirstKey('first', ACTOR);
  if (!first) return;
  await showOnce(() => showFirstKey(first.secret, base), FIRST_LOST).catch((error: unknown) => {
    // The service goes on without.
    if (!(error instanceof CommandFailed)) throw error;
    process.stderr.write(`domain-risk: ${error.message}\n`);
  });
  // Never into a file or a log that others read.
  if (hasTerminal && serving.invite) showLink(serving.invite(first.secret), base);
}

/** Here and nowhere else; it does not go through the logger. */
function showFirstKey(secret: string, base: string): void {
  process.stdout.write(
    `
Your first API key, shown this once:

  ${secret}

Try it:

  curl -H "Authorization: Bearer ${secret}" ${base}/v1/public/domain/gmail.com

`,
  );
}

function showLink(code: string, base: string): void {
  process.stdout.write(`Or sign in with it in a browser. This link works once, for ten minutes:

  ${base}/#/welcome/${code}

`);
}

async function useFirstKey(serving: Serving, secret: string): Promise<void> {
  if (!(await takeFirstKey(serving, secret, 'FIRST_KEY'))) tellUnused('FIRST_KEY');
}

/** Whether it is one of the store's then. */
async function takeFirstKey({ store }: Serving, secret: string, from: string): Promise<boolean> {
  const first = await operateOn(store).createFirstKey('first', ACTOR, secret);
  if (first) process.stderr.write(`the first API key is the one of ${from}\n`);
  return first !== undefined || opens(store, secret);
}

async function opens(store: Store, secret: string): Promise<boolean> {
  const digest = digestOf(secret);
  const { key } = await store.keyByDigest(digest);
  return key !== undefined && isLive(key, digest, Date.now());
}

function tellUnused(from: string): void {
  process.stderr.write(
    `domain-risk: the key of ${from} is not used: this store has keys already, and none that is valid is this one; "domain-risk keys create" makes another\n`,
  );
}

/** Where the file holds one, that is it: several servers that start at once may share it. Else it is written there. */
async function keepFirstKey(serving: Serving, path: string): Promise<void> {
  const { store } = serving;
  if ((await store.listKeys()).length > 0) return tellOther(store, path);
  // On the disk before the store has it: a key that nobody can read any more would be the first one for good.
  const given = keyIn(path);
  if (await takeFirstKey(serving, given ?? keepKey(path, newSecret()), path)) return;
  if (given !== undefined) return tellUnused(path);
  // Nobody can use what is in it.
  rmSync(path, { force: true });
  process.stderr.write(
    `domain-risk: another server has just made the first API key: it is not in ${path}, but where that one was told to put it\n`,
  );
}

/** Where there are keys nobody needs the file, whatever it holds. */
async function tellOther(store: Store, path: string): Promise<void> {
  let secret: string | undefined;
  try {
    secret = keyIn(path);
  } catch {
    return;
  }
  if (secret !== undefined && !(await opens(store, secret))) tellUnused(path);
}
