/** Where settings come from, and names among them that mean nothing: those are told, since a slip would go unseen. */

import { lstatSync, statSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { parseEnv } from 'node:util';
import { ConfigRefused } from './config.ts';
import { typoOf } from './core/typo.ts';
import { type Owned, readRegularFile } from './regular-file.ts';
import { SETTINGS } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `.env`, which the script that started us has named. */
export interface SettingsFile {
  readonly path: string;
  /** All that it sets. */
  readonly values: Environment;
  /** Names of the settings that count from it: the environment does not have them. */
  readonly taken: ReadonlySet<string>;
  /** Numbers of lines that set nothing: neither empty nor a remark. */
  readonly idle: readonly number[];
  /** Settings whose values end at a # that no space stands before: it may have been meant as part of a secret. */
  readonly cut: readonly string[];
}

/** Throws ConfigRefused where it cannot be used: with other settings than meant a command changes another store. */
export function settingsFile(env: Environment): SettingsFile | undefined {
  const path = env.DOMAIN_RISK_ENV_FILE;
  if (!path) return undefined;
  const text = readTrusted(path);
  const values = parseEnv(text);
  const taken = NAMES.filter(name => values[name] !== undefined && env[name] === undefined);
  return { path, values, taken: new Set(taken), idle: idleLines(text), cut: cutValues(text) };
}

function readTrusted(path: string): string {
  // Whoever installed the program could change the program too. Its pieces may belong to whoever started it first.
  const trusted = [0, process.getuid?.() ?? 0, statSync(findPackageJSON(import.meta.url)!).uid];
  const check = (it: Owned) => {
    const problem = distrustOf(it, trusted);
    if (problem) throw new ConfigRefused(`${path} ${problem}`);
  };
  try {
    // Of a link whoever made it: what it leads to may be settings of another store.
    check({ uid: lstatSync(path).uid, mode: 0 });
    return readRegularFile(path, check);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ConfigRefused(
      code === 'EISDIR' || code === 'ENOTSUP'
        ? `${path} must be a file, or not be there`
        : `${path} cannot be read (${code}): run it as the user of that file, or from another folder`,
    );
  }
}

/** Whoever can write to `.env` of a folder decides where the commands of all others go that are run in it. */
export function distrustOf({ uid, mode }: Owned, trusted: readonly number[]): string | undefined {
  if (!trusted.includes(uid))
    return `belongs to another user (uid ${uid}): run it as that user or from another folder, or make the file your own (chown)`;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return mode & 0o022 ? `can be changed by others (mode ${shown}): chmod go-w it` : undefined;
}

let held: SettingsFile | undefined;

/** Of the file, only settings, into the environment, so that all threads have them; what is there already stays. */
export function takeSettings(env: Record<string, string | undefined>): void {
  held = settingsFile(env);
  for (const name of held?.taken ?? []) env[name] = held?.values[name];
}

/** As it was when this program started. */
export const heldSettings = (): SettingsFile | undefined => held;

/** A value in quotes may have lines of its own. */
const QUOTED = /=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)/g;

function idleLines(text: string): number[] {
  const lines = text.replace(QUOTED, value => value.replace(/[^\n]+/g, '=')).split('\n');
  return lines.flatMap((line, at) => (/^\s*(?:#|$)/.test(line) || line.includes('=') ? [] : [at + 1]));
}

/** Others that read such files (Docker Compose) want a space before a remark. */
function cutValues(text: string): string[] {
  const lines = text.replace(QUOTED, '= ').split('\n');
  return lines.flatMap(line => {
    const equals = line.indexOf('=');
    const name = line.slice(0, equals).trim().replace('export ', '').trim();
    const value = line.slice(equals + 1);
    const end = value.indexOf('#');
    return isSetting(name) && end >= 0 && value[end - 1]?.trim() !== '' ? [name] : [];
  });
}

/** As they are now: what was taken from the file is read anew, and the environment still comes first. */
export function settingsAgain(env: Environment, before: SettingsFile | undefined) {
  const isOwn = (name: string) => !before?.taken.has(name) || before.values[name] !== env[name];
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => isOwn(name)));
  const file = settingsFile(own);
  const names = [...(file?.taken ?? [])];
  return { file, env: { ...own, ...Object.fromEntries(names.map(name => [name, file?.values[name]])) } };
}

const NAMES = Object.keys(SETTINGS);
const isSetting = (name: string) => NAMES.includes(name);
/** Of Node, npm, the driver of PostgreSQL and proxies: they count in the environment, where nobody but us reads the file. */
const OTHERS = /^(?:NODE_|npm_|PG[A-Z]|(?:HTTPS?|NO|ALL)_PROXY$|TZ$|LANG$|LC_|SSL_CERT_|UV_)/i;
/** Of `compose.yaml`, which reads the same file. */
const OF_COMPOSE = 'POSTGRES_PASSWORD';
const PREFIX = 'DOMAIN_RISK_';

function meantBy(name: string): string | undefined {
  const plain = name.toUpperCase().replaceAll('-', '_');
  const bare = plain.startsWith(PREFIX) ? plain.slice(PREFIX.length) : plain;
  return NAMES.find(one => one === bare && one !== name) ?? typoOf(bare, NAMES);
}

/** One line for each. Of the environment only what is near one of ours: all else belongs to others. */
export function unknownSettings(env: Environment, file: SettingsFile | undefined): string[] {
  const inFile = Object.keys(file?.values ?? {}).filter(name => !isSetting(name) && name !== OF_COMPOSE);
  const around = Object.keys(env).filter(
    name => !isSetting(name) && !OTHERS.test(name) && !inFile.includes(name) && meantBy(name),
  );
  const told = (name: string, where: string) => {
    const meant = OTHERS.test(name) ? undefined : meantBy(name);
    const fix = OTHERS.test(name) ? ': set it in the environment' : meant ? `: did you mean ${meant}?` : '';
    return `${name} in ${where} is no setting and is ignored${fix}`;
  };
  return [
    // What it says may be a secret.
    ...(file?.idle ?? []).map(line => `line ${line} of ${file!.path} has no "=" and is ignored`),
    ...(file?.cut ?? []).map(
      name =>
        `${name} in ${file!.path} ends before a "#": put the whole value in quotes, or a space before the remark`,
    ),
    ...inFile.map(name => told(name, file!.path)),
    ...around.map(name => told(name, 'the environment')),
  ];
}

export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly from: string;
  readonly problem: string | null;
}

/** Secrets are not shown: whether they are set is. */
export function shownSettings(env: Environment, file: SettingsFile | undefined): ShownSetting[] {
  return Object.entries(SETTINGS).map(([name, setting]) => {
    const given = env[name];
    const checked = setting.parse(given ?? setting.fallback);
    const isHidden = Boolean(given) && ('secret' in setting || ('path' in setting && !checked.ok));
    return {
      name,
      value: isHidden ? '(hidden)' : (given ?? setting.fallback),
      from: given === undefined ? 'default' : file?.taken.has(name) ? file.path : 'environment',
      problem: checked.ok ? null : checked.problem,
    };
  });
}

/** The table of all of them, for `serve --help`. */
export function settingsHelp(): string {
  const rows = Object.entries(SETTINGS).map(([name, { fallback, help }]) => {
    const byDefault = fallback === '' ? '' : ` (default: ${fallback})`;
    return `  ${name}${byDefault}\n      ${help.replaceAll('`', '')}`;
  });
  return `\nSettings, from the environment or .env:\n${rows.join('\n')}`;
}
