/** Every feed as it is today: by https, from the npm registry, or from a place that an operator names. */

import { stat } from 'node:fs/promises';
import { type AddedFeed, feedOf } from '../core/added-feed.ts';
import { FeedError, type FreshSource, type RawFeed } from '../core/feed.ts';
import type { Tag } from '../core/tag.ts';
import {
  addressProblem,
  asList,
  type DownloadOptions,
  download,
  shownAddress,
  wholeLines,
} from './download.ts';
import { readFileText } from './files.ts';
import { shapeOf } from './formats.ts';
import { newestFiles, publishedAt } from './npm.ts';
import { filesIn, type PackageSource, packageFeeds } from './packages.ts';
import { LINES, type Shape, WEB_FEEDS } from './web.ts';

type Limits = Omit<DownloadOptions, 'isNamed' | 'firstBytes' | 'last'>;

/** `from`: feed to the file, folder or address that it is to come from in place of its own. `added`: the operator's. */
export function freshFeeds(
  from: ReadonlyMap<string, string> = new Map(),
  added: readonly AddedFeed[] = [],
  limits: Limits = {},
): FreshSource[] {
  const byId = new Map<string, FreshSource>();
  const packaged = newestPackages();
  for (const [id, source] of packaged) byId.set(id, source);
  for (const web of WEB_FEEDS) {
    const { feed } = web;
    const url = new URL(feed.origin);
    const other = packaged.get(feed.id);
    const read = (last?: Tag) =>
      readAddress(url, { ...limits, isNamed: false, last }, web).catch(error => {
        if (other && error instanceof FeedError) return readPackaged(other, error);
        throw error;
      });
    byId.set(feed.id, { feed, read });
  }
  const shapes = new Map<string, Shape>(WEB_FEEDS.map(web => [web.feed.id, web]));
  for (const one of added) {
    if (byId.has(one.name)) continue;
    const shape = shapeOf(one);
    shapes.set(one.name, shape);
    byId.set(one.name, {
      feed: feedOf(one),
      addedAt: one.addedAt,
      read: last => readPlace(one.name, one.place, shape, { ...limits, last }),
    });
  }
  for (const [id, place] of from) {
    const origin = isAddress(place) ? shownAddress(new URL(place)) : place;
    const shape = shapes.get(id) ?? LINES;
    const own = byId.get(id)!;
    byId.set(id, {
      ...own,
      feed: { ...own.feed, origin },
      read: last => readPlace(id, place, shape, { ...limits, last }),
    });
  }
  return [...byId.values()];
}

/** Two feeds may lie in one package, which is fetched once. */
function newestPackages(): Map<string, PackageSource> {
  const fetched = new Map<string, ReturnType<typeof newestFiles>>();
  const open = async (name: string) => {
    const fetching = fetched.get(name) ?? newestFiles(name);
    fetched.set(name, fetching);
    const files = await fetching;
    return async (file: string) => {
      const bytes = files.get(file);
      if (!bytes) throw new FeedError('not in the package');
      return bytes.toString('utf8');
    };
  };
  return new Map(packageFeeds(open).map(source => [source.feed.id, source]));
}

/** Where the address of a feed fails, the package of the same feed may still bring what is newer than the one in use. */
async function readPackaged({ feed, package: name, read }: PackageSource, why: FeedError): Promise<RawFeed> {
  try {
    const raw = await read();
    const releasedAt = await publishedAt(name, raw.version);
    return { ...raw, releasedAt, fallback: `${feed.origin}, since ${why.message}` };
  } catch (error) {
    throw new FeedError(`${why.message}; ${(error as Error).message}`, { cause: error });
  }
}

/** Why a list cannot come from there, as far as that can be told beforehand. */
export function placeProblem(place: string): string | undefined {
  if (place === '') return 'name a file, a folder or an https address';
  if (!isAddress(place)) return undefined;
  if (URL.canParse(place)) return addressProblem(new URL(place), true);
  // Whatever else of it may be a secret.
  return `what begins with ${place.slice(0, place.indexOf(':') + 1)} is no address: write it like https://lists.example/names.txt`;
}

export const isAddress = (place: string) => /^[a-z][a-z0-9+.-]*:/i.test(place);

/** A folder is an unpacked npm package; a file is the list as its makers publish it, or has one name per line. */
async function readPlace(
  id: string,
  place: string,
  shape: Shape,
  options: Omit<DownloadOptions, 'isNamed'>,
): Promise<RawFeed | null> {
  if (isAddress(place)) return readAddress(new URL(place), { ...options, isNamed: true }, shape);
  try {
    if ((await stat(place)).isDirectory()) return await readPackageAt(id, place);
    const { text, isCut } = await readFileText(place, shape.firstBytes);
    return { version: thisMinute(), ...shape.read(asList(isCut ? wholeLines(text) : text)) };
  } catch (error) {
    throw new FeedError(`${place}: ${problemOf(error)}`, { cause: error });
  }
}

function problemOf(error: unknown): string {
  if (error instanceof SyntaxError) return `not the JSON that this list is published as (${error.message})`;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file (ENOENT)';
  return code === undefined ? message : `it cannot be read (${code})`;
}

async function readAddress(
  url: URL,
  options: DownloadOptions,
  { read, firstBytes, byLines }: Shape,
): Promise<RawFeed | null> {
  const downloaded = await download(url, { ...options, firstBytes, byLines });
  if (!downloaded) return null;
  try {
    return { version: thisMinute(), ...read(downloaded.text), tag: downloaded.tag };
  } catch (error) {
    throw new FeedError(`${shownAddress(url)}: ${problemOf(error)}`, { cause: error });
  }
}

async function readPackageAt(id: string, folder: string): Promise<RawFeed> {
  const source = packageFeeds(async () => filesIn(folder)).find(({ feed }) => feed.id === id);
  if (!source) throw new FeedError('it does not come as an npm package: name a file');
  return source.read();
}

/** Lists that tell no version are known by the minute in which they were read. */
function thisMinute(): string {
  return `${new Date().toISOString().slice(0, 16)}Z`;
}
