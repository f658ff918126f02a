/** What most commands need: the configuration and the store, opened once and closed whatever happens. */

import { accessSync, constants, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { isMadeAt, openCommandStore } from '../command-store.ts';
import { movedStore } from '../compose.ts';
import { type Config, readConfig } from '../config.ts';
import type { Actor } from '../core/audit.ts';
import type { Store } from '../core/ports.ts';
import { shownDatabase } from '../database.ts';
import { exposedSecrets, exposedStore } from '../exposed.ts';
import { descriptors } from '../http/descriptors.ts';
import { createOperate, type Operate, type Problem } from '../operate.ts';
import { heldSettings, unknownSettings } from '../setting-sources.ts';
import { SETTINGS } from '../settings.ts';
import { CommandFailed } from './print.ts';

/** Everything that this program writes is for its own user only. */
const PRIVATE = 0o077;

/** Below this a start fails anywhere, with a stack (48 were too few, 2026-11-17). */
const LEAST_DESCRIPTORS = 64;

let isTold = false;

export function readWorld(): Config {
  process.umask(PRIVATE);
  const config = readConfig(process.env);
  if (descriptors() < LEAST_DESCRIPTORS)
    throw new CommandFailed(
      `only ${descriptors()} files may be open at a time, and ${LEAST_DESCRIPTORS} are needed, a server needs one more for each connection: raise the limit (ulimit -n, LimitNOFILE of systemd)`,
    );
  const told = isTold ? [] : [...unknownSettings(process.env, heldSettings()), ...exposedIn(config)];
  isTold = true;
  for (const line of told) process.stderr.write(`domain-risk: ${line}\n`);
  return config;
}

export const exposedIn = ({ database }: Config): string[] => [
  ...exposedSecrets(process.env),
  ...exposedStore(database),
];

export async function hasStore({ database }: Config): Promise<boolean> {
  return database.kind === 'sqlite' ? absenceOf(database.path) === undefined : isMadeAt(database.url);
}

/**
 * What is wrong with a store that is not there. An empty file, as a full disk or a first start that was interrupted leaves,
 * is none. A file that this user may not see is not taken for one that is missing: the advice would lead astray.
 */
function absenceOf(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).size === 0 ? 'is empty' : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
    throw new CommandFailed(`cannot read ${path} (${code}): ${accessTo(path)}`);
  }
}

/** The current folder may be one that this user cannot look into. */
function isStore(path: string): boolean {
  try {
    return absenceOf(path) === undefined;
  } catch {
    return false;
  }
}

/** A version before left what root restored to root: then it is the file that is wrong, not the user. */
function accessTo(path: string): string {
  const [file, folder] = [path, dirname(path)].map(one => {
    try {
      return statSync(one).uid;
    } catch {
      return undefined;
    }
  });
  const isOurs = folder === process.geteuid?.() && file !== undefined && file !== folder;
  return isOurs
    ? `it belongs to another user than its folder; as root: chown --reference="${dirname(path)}" "${path}"*`
    : 'run it as the user of the service';
}

/** For commands that can do without a store: whoever is in a wrong folder must see it. */
export function tellNoStore({ database }: Config, without: string): void {
  process.stderr.write(`no store at ${shownDatabase(database)}: ${without}\n`);
}

type Work<T> = (store: Store, config: Config) => Promise<T>;

/** For commands that only make sense where there is a store: an empty one, in a wrong folder, would hide the mistake. */
export async function withStore<T>(work: Work<T>): Promise<T> {
  const config = readWorld();
  const { database } = config;
  const absence = database.kind === 'sqlite' && absenceOf(database.path);
  if (absence) {
    const fix =
      process.env.DATABASE_URL || process.env.DATABASE_URL_FILE
        ? 'set DATABASE_URL to sqlite:<path of the file>'
        : 'set DATA_DIR to the directory that holds it';
    const others =
      absence === 'is empty'
        ? ', or bring a backup back with "domain-risk restore FILE"'
        : '; on a new installation start the service first: "domain-risk serve" makes it';
    throw new CommandFailed(`there is no store: ${database.path} ${absence}; ${fix}${others}`);
  }
  return opened(config, work, false);
}

/** For commands that a new installation may begin with. */
export async function withStoreOrNew<T>(work: Work<T>): Promise<T> {
  const config = readWorld();
  await tellNewStore(config);
  return opened(config, work, true);
}

/** A store in a wrong folder is not made silently, and not at all beside one where an earlier version had it. */
export async function tellNewStore(config: Config): Promise<void> {
  const { database } = config;
  if (database.kind === 'postgres') {
    if (!(await hasStore(config))) process.stderr.write(`making a new store: ${shownDatabase(database)}\n`);
    return;
  }
  const absence = absenceOf(database.path);
  if (!absence) return;
  const { DATABASE_URL, DATABASE_URL_FILE, DATA_DIR = SETTINGS.DATA_DIR.fallback } = process.env;
  const former = resolve(DATA_DIR, basename(database.path));
  if (!DATABASE_URL && !DATABASE_URL_FILE && former !== database.path && isStore(former))
    throw new CommandFailed(
      `there is no store at ${database.path}, but one at ${former}: relative paths are relative to the installation, no longer to the current folder; set DATA_DIR=${dirname(former)} to continue with it`,
    );
  const instead = absence === 'is empty' ? ' (the file there is empty)' : '';
  process.stderr.write(`making a new store: ${database.path}${instead}\n`);
}

async function opened<T>(config: Config, work: Work<T>, mayMake: boolean): Promise<T> {
  const store = await openCommandStore(config, mayMake);
  try {
    const moved = movedStore(config);
    if (moved) tellMoved(moved);
    const result = await work(store, config);
    // A list may take minutes to come: one was accepted into a file that had been moved meanwhile, and said so (2026-11-18).
    const since = moved ? undefined : movedStore(config);
    if (since) tellMoved(since);
    return result;
  } finally {
    await store.close();
  }
}

const tellMoved = (moved: string) =>
  process.stderr.write(`domain-risk: ${moved}: servers there know nothing of what changes here\n`);

/** A container may run under a user id that no passwd entry names, and the system then refuses to tell. */
export function whoAmI(): string | null {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? null;
  }
}

export function actor(): Actor {
  return { who: whoAmI() ?? 'unknown', via: 'command line' };
}

export const operateOn = (store: Store): Operate => createOperate({ store, clock: Date.now });

/** What was done, or the end of the command with the reason why not. */
export function done<T>(result: T | Problem, listing: string): T {
  if (!isProblem(result)) return result;
  const isUnclear = result.problem === 'not_found' || result.problem === 'ambiguous';
  throw new CommandFailed(isUnclear ? `${result.detail}; "domain-risk ${listing}" shows all` : result.detail);
}

function isProblem(result: unknown): result is Problem {
  return typeof result === 'object' && result !== null && 'problem' in result;
}
