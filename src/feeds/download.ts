/** A list by https, from an address that nobody can turn against the machine's own network. */

import { createHash } from 'node:crypto';
import { type LookupAddress, lookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isPublicAddress } from '../core/address.ts';
import { FeedError, MOST_BYTES } from '../core/feed.ts';
import { type Tag, tagOf } from '../core/tag.ts';
import { hostOf } from './no-proxy.ts';
import { throughProxy } from './proxy.ts';

/** Over everything: names, redirects and the last byte of the body. */
const DEADLINE_MS = 60_000;
const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface DownloadOptions {
  /** An operator named the address, which may be one of their own network. */
  readonly isNamed: boolean;
  readonly deadlineMs?: number;
  /** After decompression. */
  readonly mostBytes?: number;
  /** Whole lines up to about so many bytes are wanted; the rest is not fetched. */
  readonly firstBytes?: number | undefined;
  /** Each line tells something by itself, so that the last may be missing. */
  readonly byLines?: boolean | undefined;
  /** What the server said of the version that is known already. */
  readonly last?: Tag | undefined;
}

export interface Downloaded {
  readonly text: string;
  readonly tag: Tag | undefined;
}

/** Why an address is none that lists may come from, before anything is asked. */
export function addressProblem(url: URL, isNamed: boolean): string | undefined {
  const host = hostOf(url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `${url.protocol} is no way for a list to come: use https`;
  if (url.protocol === 'http:' && !isLoopback(host))
    return 'plain http can be changed on its way: use https (http is for a loopback address such as 127.0.0.1)';
  if (url.username !== '' || url.password !== '')
    return 'an address with a password in it would show in logs: fetch the list yourself and name the file';
  if (isIP(host) !== 0 && !isNamed && !isPublicAddress(host)) return `${host} is no public address`;
  return undefined;
}

/** Null where the last version is still the newest; throws FeedError whatever goes wrong. */
export async function download(address: URL, options: DownloadOptions): Promise<Downloaded | null> {
  const { deadlineMs = DEADLINE_MS } = options;
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    const { response, tag } = await answered(address, options, signal);
    if (!response) return null;
    return { text: asList(await readBody(response, options, signal)), tag };
  } catch (error) {
    const { message } = error as Error;
    const told = message === 'aborted' ? 'the connection was cut before the list was complete' : message;
    const why = signal.aborted ? `not complete within ${deadlineMs / 1000} s` : told;
    throw new FeedError(`${shownAddress(address)}: ${why}`, { cause: error });
  }
}

/** Without what may be secret in it. */
export function shownAddress({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** Without the line in which it was cut off. */
export function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** What comes in place of a list when a server wants a login, has moved or fails: a page for people. */
export function asList(text: string): string {
  const list = text.replace(/^\uFEFF/, '');
  if (/^\s*</.test(list)) throw new FeedError('a web page, not a list');
  return list;
}

interface Answered {
  /** None where nothing changed. */
  readonly response?: IncomingMessage;
  readonly tag?: Tag | undefined;
}

async function answered(
  address: URL,
  { isNamed, last }: DownloadOptions,
  signal: AbortSignal,
): Promise<Answered> {
  let url = address;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    // The operator's word is for the address that was named and not for where its server points.
    const isTheirs = isNamed && url.host === address.host;
    const problem = addressProblem(url, isTheirs);
    if (problem) throw new FeedError(hop === 0 ? problem : `redirects to where it may not: ${problem}`);
    // Of another address, be it behind a redirect, the same words may mean something else.
    const place = createHash('sha256').update(url.href).digest('hex');
    const known = last?.address === place ? last : undefined;
    const response = await ask(url, signal, known, isTheirs);
    const { statusCode = 0, headers } = response;
    if (statusCode === 200) return { response, tag: tagOf(place, headers) };
    response.destroy();
    if (statusCode === 304 && known) return {};
    if (!REDIRECTS.has(statusCode) || headers.location === undefined)
      throw new FeedError(`answered ${statusCode}`);
    if (!URL.canParse(headers.location, url.href)) throw new FeedError('redirects to what is no address');
    const next = new URL(headers.location, url);
    if (next.protocol !== url.protocol)
      throw new FeedError(`redirects from ${url.protocol} to ${next.protocol}`);
    url = next;
  }
  throw new FeedError(`more than ${MOST_REDIRECTS} redirects`);
}

async function ask(
  url: URL,
  signal: AbortSignal,
  known: Tag | undefined,
  isTheirs: boolean,
): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  const agent = url.protocol === 'https:' ? await throughProxy(url, signal) : undefined;
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ 'user-agent': 'domain-risk', accept: '*/*', 'accept-encoding': 'gzip' },
      ...(known?.etag ? { 'if-none-match': known.etag } : {}),
      ...(known?.modified ? { 'if-modified-since': known.modified } : {}),
    };
    const options = { agent: agent ?? false, signal, headers, ...(isTheirs ? {} : { lookup: lookupPublic }) };
    request(url, options, resolve)
      .on('error', reject)
      // After a 101 there is neither an answer nor an error, and no deadline finds anything to end (2026-11-17).
      .on('close', () => reject(new FeedError('the connection ended without an answer')))
      .end();
  });
}

/** Checks the very addresses that are connected to: asking again would let them change in between. */
const lookupPublic: LookupFunction = (host, options, found) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const strange = addresses?.find(({ address }) => !isPublicAddress(address));
    const first = addresses?.[0];
    if (error || !first) found(error ?? new FeedError(`${host} has no address`), '', 0);
    else if (strange)
      found(new FeedError(`${host} is at ${strange.address}, which is no public address`), '', 0);
    else if (options.all) found(null, addresses);
    else found(null, first.address, first.family);
  });
};

async function readBody(
  response: IncomingMessage,
  { mostBytes = MOST_BYTES, firstBytes = Number.POSITIVE_INFINITY, byLines = false }: DownloadOptions,
  signal: AbortSignal,
): Promise<string> {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = response.headers;
  // In any case, and by its older name (RFC 9110 8.4.1.3).
  const encoding = coding.toLowerCase().replace(/^x-gzip$/, 'gzip');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (/html/i.test(type)) throw new FeedError('a web page, not a list');
    for await (const chunk of addAbortSignal(signal, unpacked(response, encoding))) {
      size += chunk.length;
      if (size > mostBytes) throw new FeedError(`larger than ${mostBytes / 2 ** 20} MiB`);
      chunks.push(chunk);
      if (size >= firstBytes) break;
    }
  } finally {
    response.destroy();
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return size >= firstBytes || (byLines && !isEndTold(response, encoding)) ? wholeLines(text) : text;
}

/**
 * Read by whoever asks for it: Node's `pipeline` never ends, by no error and no signal, where the response came whole and
 * is not read to its end. 125 kB that unpack to 128 MiB held an update past its deadline (2026-11-17).
 */
function unpacked(response: IncomingMessage, encoding: string): Readable {
  if (encoding === 'identity') return response;
  if (encoding === 'gzip') return pipeline(response, createGunzip(), () => {});
  throw new FeedError(`came as ${encoding}, which was not asked for`);
}

/** Where nothing tells it but the end of the connection, half a list looks like a whole one (RFC 9112 6.3): `c.co` of `c.com`. */
function isEndTold({ headers }: IncomingMessage, encoding: string): boolean {
  const { 'content-length': length, 'transfer-encoding': coding = '' } = headers;
  return length !== undefined || /chunked/i.test(coding) || encoding === 'gzip';
}

function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
