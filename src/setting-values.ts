/** Values of settings, checked. What one must be is told with its name by `config.ts`. */

import { hash, timingSafeEqual } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';
import { isWellFormedSecret } from './core/key.ts';
import { networkMatcher, parseNetwork } from './core/origin.ts';
import { FEED_IDS } from './feeds/sources.ts';
import { INSTALLATION } from './installation.ts';
import { readRegularFile } from './regular-file.ts';

export function oneOf<const T extends readonly string[]>(...values: T) {
  return (text: string): Checked<T[number]> =>
    values.includes(text) ? good(text) : bad(`must be one of ${values.join(', ')}`);
}

export function parsePort(text: string): Checked<number> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return port >= 0 && port <= 65535 ? good(port) : bad('must be a number from 0 to 65535');
}

export function parseMetricsPort(text: string): Checked<number | 'off' | undefined> {
  if (text === '') return good(undefined);
  return text === 'off' ? good(text) : parsePort(text);
}

export function parseConnections(text: string): Checked<number> {
  return /^\d{1,6}$/.test(text) && Number(text) > 0
    ? good(Number(text))
    : bad('must be a number from 1 to 999999');
}

export function parseHost(text: string): Checked<string> {
  return /^[0-9A-Za-z.:%-]+$/.test(text) ? good(text) : bad('must be an address or host name');
}

export function parseTrusted(text: string): Checked<(address: string) => boolean> {
  const networks: string[] = [];
  for (const item of itemsOf(text)) {
    const network = parseNetwork(item);
    if (!network.ok) return network;
    networks.push(network.value);
  }
  return good(networkMatcher(networks));
}

/** Of comma-separated items; spaces around them and empty ones do not count. */
function itemsOf(text: string): string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(item => item !== '');
}

export function parseFeeds(text: string): Checked<readonly string[]> {
  const feeds = itemsOf(text);
  const isKnown = feeds.every(id => FEED_IDS.includes(id));
  return isKnown
    ? good(feeds)
    : bad(
        `must be comma-separated names of ${FEED_IDS.join(', ')}; a list of your own leaves with "feeds remove"`,
      );
}

const MOST_WORKERS = 8;
/** Only there does the system deal connections out to all threads that listen at one port. */
const canShare = process.platform === 'linux';

export function parseWorkers(text: string): Checked<number> {
  if (text === 'auto') return good(canShare ? Math.min(availableParallelism(), MOST_WORKERS) : 1);
  if (!/^[1-8]$/.test(text)) return bad(`must be auto or a number from 1 to ${MOST_WORKERS}`);
  return canShare || text === '1' ? good(Number(text)) : bad('must be 1 or auto: more than 1 needs Linux');
}

const digestOf = (text: string) => hash('sha256', text, 'buffer');

/** Gives a comparison, so that the token itself goes no further; of digests, so that it takes the same time always. */
export function parseToken(text: string): Checked<((sent: string) => boolean) | undefined> {
  if (text === '') return good(undefined);
  const isLongEnough = text.length >= 32 && text.length <= 1000;
  if (!isLongEnough || !/^[!-~]+$/.test(text) || text.startsWith('drk_'))
    return bad(
      'must be 32 characters or more, printable ASCII without spaces, and no API key; make one with: openssl rand -hex 32',
    );
  const digest = digestOf(text);
  return good(sent => timingSafeEqual(digestOf(sent), digest));
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export function parseEvery(text: string): Checked<number> {
  const [, count, unit] = /^([1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  return count && unit ? good(Number(count) * UNITS[unit]!) : bad('must be like 30m, 6h or 1d');
}

export function parseKept(text: string): Checked<number> {
  return /^[1-9]\d{0,2}$/.test(text) ? good(Number(text)) : bad('must be a number from 1 to 999');
}

/** What people paste where a path belongs: a key, a token, a signing secret, an address with a password. */
const NO_PATH = /^(?:drk_|dro_|whsec_|[a-z][0-9a-z+.-]*:\/\/)/i;

const isPath = (text: string) => !NO_PATH.test(text);

export function parseDataDir(text: string): Checked<string> {
  return text !== '' && isPath(text) ? good(resolve(INSTALLATION, text)) : bad('must name a directory');
}

/** Of what may not be there yet: there it must be of this kind. */
function parseNewPath(
  text: string,
  kind: string,
  isKind: (it: Stats) => boolean,
): Checked<string | undefined> {
  if (text === '') return good(undefined);
  if (!isPath(text)) return bad(`must name a ${kind}`);
  const path = resolve(INSTALLATION, text);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && !isKind(found) ? bad(`must name a ${kind}`) : good(path);
  } catch (error) {
    return bad(`must name a ${kind} that this user can reach (${(error as NodeJS.ErrnoException).code})`);
  }
}

export const parseFolder = (text: string) => parseNewPath(text, 'directory', it => it.isDirectory());
export const parseNewFile = (text: string) => parseNewPath(text, 'file', it => it.isFile());

export function parseFirstKey(text: string): Checked<string | undefined> {
  if (text === '') return good(undefined);
  return isWellFormedSecret(text)
    ? good(text)
    : bad('must be a key as "domain-risk keys generate" prints one');
}

/** What a file holds, without the line's end: for secrets that are mounted as files. */
export function parseSecretFile(text: string): Checked<string | undefined> {
  if (text === '') return good(undefined);
  try {
    return good(readRegularFile(resolve(INSTALLATION, text)).trim());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return bad(
      code === 'ENOTSUP'
        ? 'must name a regular file, not a pipe, socket or device'
        : `must name a file that can be read (${code}); its value is not shown, as it may be the secret itself`,
    );
  }
}

/** Whoever needs a password for it has it in the signature: `fetch` takes no address that holds one. */
export function parseWebhook(text: string): Checked<string | undefined> {
  if (text === '') return good(undefined);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isHttp && url.username === '' && url.password === ''
    ? good(url.href)
    : bad('must be an https:// or http:// address without user and password');
}

const SECRET_BYTES = { least: 24, most: 64 };

export function parseWebhookSecret(text: string): Checked<Buffer | undefined> {
  if (text === '') return good(undefined);
  const [, encoded] = /^whsec_([0-9A-Za-z+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  return bytes.length >= SECRET_BYTES.least && bytes.length <= SECRET_BYTES.most
    ? good(bytes)
    : bad(
        'must be whsec_ and 24 to 64 bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)',
      );
}
