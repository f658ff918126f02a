/** Where settings come from, and names among them that mean nothing: those are told, since a slip would go unseen. */

import { parseEnv } from 'node:util';
import { typoOf } from './core/typo.ts';
import { readRegularFile } from './regular-file.ts';
import { SETTINGS } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `.env`, which the script that started us has passed on. */
export interface SettingsFile {
  readonly path: string;
  readonly values: Environment;
  /** Numbers of lines that set nothing: neither empty nor a remark. */
  readonly idle: readonly number[];
}

export function settingsFile(env: Environment): SettingsFile | undefined {
  const path = env.DOMAIN_RISK_ENV_FILE;
  if (!path) return undefined;
  const text = readRegularFile(path);
  return { path, values: parseEnv(text), idle: idleLines(text) };
}

/** A value in quotes may have lines of its own. */
const QUOTED = /=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)/g;

function idleLines(text: string): number[] {
  const lines = text.replace(QUOTED, value => value.replace(/[^\n]+/g, '=')).split('\n');
  return lines.flatMap((line, at) => (/^\s*(?:#|$)/.test(line) || line.includes('=') ? [] : [at + 1]));
}

/** As they are now: what was taken from the file is read anew, and the environment still comes first. */
export function settingsAgain(env: Environment, before: SettingsFile | undefined): Environment {
  const file = settingsFile(env);
  const own = Object.entries(env).filter(([name, value]) => before?.values[name] !== value);
  return { ...file?.values, ...Object.fromEntries(own) };
}

const NAMES = Object.keys(SETTINGS);
/** Of Node, npm, the driver of PostgreSQL, proxies, and of `compose.yaml`, which reads the same file. */
const OTHERS =
  /^(?:NODE_|npm_|PG[A-Z]|(?:HTTPS?|NO|ALL)_PROXY$|TZ$|LANG$|LC_|SSL_CERT_|UV_|POSTGRES_PASSWORD$)/i;
const PREFIX = 'DOMAIN_RISK_';

function meantBy(name: string): string | undefined {
  const plain = name.toUpperCase().replaceAll('-', '_');
  const bare = plain.startsWith(PREFIX) ? plain.slice(PREFIX.length) : plain;
  return NAMES.find(one => one === bare && one !== name) ?? typoOf(bare, NAMES);
}

/** One line for each. Of the environment only what is near one of ours: all else belongs to others. */
export function unknownSettings(env: Environment, file: SettingsFile | undefined): string[] {
  const inFile = Object.keys(file?.values ?? {}).filter(name => !NAMES.includes(name) && !OTHERS.test(name));
  const around = Object.keys(env).filter(
    name => !NAMES.includes(name) && !OTHERS.test(name) && !inFile.includes(name) && meantBy(name),
  );
  const told = (name: string, where: string) => {
    const meant = meantBy(name);
    return `${name} in ${where} is no setting and is ignored${meant ? `: did you mean ${meant}?` : ''}`;
  };
  return [
    // What it says may be a secret.
    ...(file?.idle ?? []).map(line => `line ${line} of ${file!.path} has no "=" and is ignored`),
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
    const isInFile = given !== undefined && file?.values[name] === given;
    const checked = setting.parse(given ?? setting.fallback);
    const isHidden = 'secret' in setting && Boolean(given);
    return {
      name,
      value: isHidden ? '(hidden)' : (given ?? setting.fallback),
      from: given === undefined ? 'default' : isInFile ? file.path : 'environment',
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
