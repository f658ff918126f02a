/** Environment → frozen Config, checked once at start. One row per setting; the README's table is made of these. */

import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';
import { networkMatcher, parseNetwork } from './core/origin.ts';
import { parseToken } from './core/token.ts';
import { type Database, parseDatabase } from './database.ts';
import { parseSentinels, parseServers } from './dns/settings.ts';
import { FEED_IDS } from './feeds/sources.ts';

type Setting<T> = {
  readonly fallback: string;
  readonly help: string;
  /** Its value may hold a password and is never shown. */
  readonly secret?: boolean;
  parse(text: string): Checked<T>;
};

function oneOf<const T extends readonly string[]>(...values: T) {
  return (text: string): Checked<T[number]> =>
    values.includes(text) ? good(text) : bad(`must be one of ${values.join(', ')}`);
}

function parsePort(text: string): Checked<number> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return port >= 0 && port <= 65535 ? good(port) : bad('must be a number from 0 to 65535');
}

function parseHost(text: string): Checked<string> {
  return /^[0-9A-Za-z.:%-]+$/.test(text) ? good(text) : bad('must be an address or host name');
}

function parseTrusted(text: string): Checked<(address: string) => boolean> {
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

function parseFeeds(text: string): Checked<readonly string[]> {
  const feeds = itemsOf(text);
  const isKnown = feeds.every(id => FEED_IDS.includes(id));
  return isKnown ? good(feeds) : bad(`must be comma-separated names of ${FEED_IDS.join(', ')}`);
}

const MOST_WORKERS = 8;
/** Only there does the system deal connections out to all threads that listen at one port. */
const canShare = process.platform === 'linux';

function parseWorkers(text: string): Checked<number> {
  if (text === 'auto') return good(canShare ? Math.min(availableParallelism(), MOST_WORKERS) : 1);
  if (!/^[1-8]$/.test(text)) return bad(`must be auto or a number from 1 to ${MOST_WORKERS}`);
  return canShare || text === '1' ? good(Number(text)) : bad('must be 1 or auto: more take Linux');
}

export const SETTINGS = {
  PORT: { fallback: '8080', help: 'Port to listen on; 0 picks a free one.', parse: parsePort },
  HOST: {
    fallback: '127.0.0.1',
    help: 'Address to listen on; `0.0.0.0` for all interfaces (the container image does so).',
    parse: parseHost,
  },
  DATA_DIR: {
    fallback: './var',
    help: 'Directory of the embedded store; created with mode 0700.',
    parse: (text: string) => (text === '' ? bad('must name a directory') : good(resolve(text))),
  },
  DATABASE_URL: {
    fallback: '',
    help: 'Where the store is: `sqlite:<path>`, or `postgres://user:password@host:port/database` for several machines; empty is `domain-risk.db` in `DATA_DIR`.',
    secret: true,
    parse: (text: string): Checked<Database | undefined> =>
      text === '' ? good(undefined) : parseDatabase(text),
  },
  DNS_SERVERS: {
    fallback: '',
    help: "Resolvers to ask, comma-separated `ip[:port]` or `[ipv6]:port`; empty asks the system's.",
    parse: (text: string): Checked<readonly string[] | undefined> =>
      text === '' ? good(undefined) : parseServers(text),
  },
  DNS_SENTINELS: {
    fallback: 'gmail.com, outlook.com, yahoo.com, icloud.com',
    help: 'Names that certainly receive mail, comma-separated, 10 at most: a resolver that denies half of them is not believed when it says that a domain does not exist; empty believes every resolver.',
    parse: parseSentinels,
  },
  FEEDS_OFF: {
    fallback: '',
    help: 'Lists that are not used and not updated, comma-separated, as `feeds status` names them; empty uses all.',
    parse: parseFeeds,
  },
  TRUST_PROXY: {
    fallback: '',
    help: 'Networks of reverse proxies whose `X-Forwarded-For` is believed, comma-separated CIDR; empty is none.',
    parse: parseTrusted,
  },
  ADMIN_TOKEN: {
    fallback: '',
    help: 'Secret of operators; switches on the API below `/admin`. At least 32 characters, such as from `openssl rand -hex 32`; empty is off.',
    secret: true,
    parse: parseToken,
  },
  METRICS_PORT: {
    fallback: '',
    help: 'Port of a listener of its own for `/metrics` and `/admin`, which are then nowhere else; `off` for no `/metrics` at all; empty is `PORT`.',
    parse: (text: string): Checked<number | 'off' | undefined> => {
      if (text === '') return good(undefined);
      return text === 'off' ? good(text) : parsePort(text);
    },
  },
  METRICS_HOST: {
    fallback: '',
    help: 'Address of that listener; empty is `HOST`.',
    parse: (text: string): Checked<string | undefined> => (text === '' ? good(undefined) : parseHost(text)),
  },
  DOCS: {
    fallback: 'on',
    help: 'Whether `/docs` and `/openapi.json` are there: `on` or `off`.',
    parse: oneOf('on', 'off'),
  },
  CONNECTIONS_PER_ADDRESS: {
    fallback: '10000',
    help: 'Connections that one address may have open (of IPv6 one /64), half of all at the most; trusted proxies may have all.',
    parse: (text: string): Checked<number> =>
      /^\d{1,6}$/.test(text) && Number(text) > 0
        ? good(Number(text))
        : bad('must be a number from 1 to 999999'),
  },
  WORKERS: {
    fallback: '1',
    help: 'Threads that serve, one for each core that it may use, 8 at the most; `auto` takes as many as there are cores (Linux; elsewhere 1).',
    parse: parseWorkers,
  },
  LOG_LEVEL: {
    fallback: 'info',
    help: 'Least level that is logged.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  ACCESS_LOG: {
    fallback: 'errors',
    help: 'Which requests are logged: `errors` (5xx, degraded and slow answers), `all` or `off`. All are in the metrics anyway.',
    parse: oneOf('errors', 'all', 'off'),
  },
  FAST_LANE: {
    fallback: 'on',
    help: 'Whether the plainest lookups are read without the parser of Node, with the same answers: `on` or `off`.',
    parse: oneOf('on', 'off'),
  },
  FEEDS_UPDATE: {
    fallback: 'daily',
    help: 'How often the service fetches fresh lists by itself: `daily`, `hourly` or `off`. The first time is within two minutes of the first start; of all servers on one store one does it.',
    parse: oneOf('daily', 'hourly', 'off'),
  },
} as const satisfies Record<string, Setting<unknown>>;

type Parsed<K extends keyof typeof SETTINGS> = Extract<
  ReturnType<(typeof SETTINGS)[K]['parse']>,
  { ok: true }
>['value'];

export interface Config {
  readonly port: Parsed<'PORT'>;
  readonly host: Parsed<'HOST'>;
  readonly database: Database;
  /** Beside the store, or on a machine that shares one: what a server keeps for its next start. */
  readonly dataDir: string;
  readonly dnsServers: Parsed<'DNS_SERVERS'>;
  readonly dnsSentinels: Parsed<'DNS_SENTINELS'>;
  readonly feedsOff: Parsed<'FEEDS_OFF'>;
  readonly isTrustedProxy: Parsed<'TRUST_PROXY'>;
  /** Undefined where there is no token, and so no admin API. */
  readonly isAdminToken: Parsed<'ADMIN_TOKEN'>;
  /** Of the listener for operators; undefined where they share the one of callers. */
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
  readonly hasMetrics: boolean;
  readonly docs: boolean;
  readonly connectionsPerAddress: Parsed<'CONNECTIONS_PER_ADDRESS'>;
  readonly workers: Parsed<'WORKERS'>;
  readonly logLevel: Parsed<'LOG_LEVEL'>;
  readonly accessLog: Parsed<'ACCESS_LOG'>;
  readonly fastLane: Parsed<'FAST_LANE'>;
  readonly feedsUpdate: Parsed<'FEEDS_UPDATE'>;
}

/** A value that cannot be used; the message has one line per bad setting, each with its fix. */
export class ConfigRefused extends Error {
  override readonly name = 'ConfigRefused';
}

export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  function read<K extends keyof typeof SETTINGS>(name: K): Parsed<K> {
    const setting: Setting<unknown> = SETTINGS[name];
    const checked = setting.parse(env[name] ?? setting.fallback) as Checked<Parsed<K>>;
    if (checked.ok) return checked.value;
    const shown = setting.secret ? '' : `=${JSON.stringify(env[name])}`;
    problems.push(`${name}${shown}: ${checked.problem}`);
    return undefined as Parsed<K>;
  }
  const dataDir = read('DATA_DIR');
  const host = read('HOST');
  const metricsPort = read('METRICS_PORT');
  const path = resolve(dataDir ?? '', 'domain-risk.db');
  const database = read('DATABASE_URL') ?? { kind: 'sqlite' as const, path };
  const config = Object.freeze({
    port: read('PORT'),
    host,
    database,
    dataDir: database.kind === 'sqlite' ? dirname(database.path) : resolve(dataDir ?? ''),
    dnsServers: read('DNS_SERVERS'),
    dnsSentinels: read('DNS_SENTINELS'),
    feedsOff: read('FEEDS_OFF'),
    isTrustedProxy: read('TRUST_PROXY'),
    isAdminToken: read('ADMIN_TOKEN'),
    metricsPort: metricsPort === 'off' ? undefined : metricsPort,
    metricsHost: read('METRICS_HOST') ?? host,
    hasMetrics: metricsPort !== 'off',
    docs: read('DOCS') === 'on',
    connectionsPerAddress: read('CONNECTIONS_PER_ADDRESS'),
    workers: read('WORKERS'),
    logLevel: read('LOG_LEVEL'),
    accessLog: read('ACCESS_LOG'),
    fastLane: read('FAST_LANE'),
    feedsUpdate: read('FEEDS_UPDATE'),
  });
  if (config.metricsPort === config.port && config.port > 0 && config.metricsHost === config.host)
    problems.push('METRICS_PORT: must be another port than PORT; leave it empty to share one');
  if (problems.length > 0) throw new ConfigRefused(problems.join('\n'));
  return config;
}
