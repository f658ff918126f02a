/** Environment → frozen Config, checked once at start. One row per setting; the README's table is made of these. */

import { dirname, resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';
import { type Database, parseDatabase, unknownTlsMode } from './database.ts';
import { parseSentinels, parseServers } from './dns/settings.ts';
import { INSTALLATION } from './installation.ts';
import type { BackupSettings } from './scheduled-backups.ts';
import { withSecrets } from './secret-files.ts';
import {
  oneOf,
  parseConnections,
  parseEvery,
  parseFeeds,
  parseFirstKey,
  parseFolder,
  parseHost,
  parseKept,
  parseMetricsPort,
  parseNewFile,
  parsePort,
  parseSecretFile,
  parseToken,
  parseTrusted,
  parseWorkers,
} from './setting-values.ts';

type Setting<T> = {
  readonly fallback: string;
  readonly help: string;
  /** Its value may hold a password and is never shown. */
  readonly secret?: boolean;
  parse(text: string): Checked<T>;
};

export const SETTINGS = {
  PORT: { fallback: '8080', help: 'Port to listen on; 0 picks a free one.', parse: parsePort },
  HOST: {
    fallback: '127.0.0.1',
    help: 'Address to listen on; `0.0.0.0` for all interfaces (the container image does so).',
    parse: parseHost,
  },
  DATA_DIR: {
    fallback: './var',
    help: 'Directory of the embedded store; created with mode 0700. A relative path is relative to the installation.',
    parse: (text: string) => (text === '' ? bad('must name a directory') : good(resolve(INSTALLATION, text))),
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
    parse: parseMetricsPort,
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
    parse: parseConnections,
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
  ADMIN_TOKEN_FILE: {
    fallback: '',
    help: 'File that holds the `ADMIN_TOKEN`, in place of that.',
    parse: parseSecretFile,
  },
  DATABASE_URL_FILE: {
    fallback: '',
    help: 'File that holds the `DATABASE_URL`, in place of that.',
    parse: parseSecretFile,
  },
  FIRST_KEY: {
    fallback: '',
    help: 'Secret of the first API key of an empty store, as `keys generate` prints one; it is then not printed at the first start.',
    secret: true,
    parse: parseFirstKey,
  },
  FIRST_KEY_FILE: {
    fallback: '',
    help: 'File for the first API key of an empty store, in place of printing it: one that it holds is taken, else a new one is written there with mode 0600.',
    parse: parseNewFile,
  },
  BACKUP_DIR: {
    fallback: '',
    help: 'Directory for backups of the embedded store by schedule, best on another disk; empty makes none.',
    parse: parseFolder,
  },
  BACKUP_EVERY: {
    fallback: '1d',
    help: 'How often one is made, such as `30m`, `6h` or `1d`.',
    parse: parseEvery,
  },
  BACKUP_KEEP: {
    fallback: '7',
    help: 'How many of them are kept.',
    parse: parseKept,
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
  readonly firstKey: Parsed<'FIRST_KEY'>;
  readonly firstKeyFile: Parsed<'FIRST_KEY_FILE'>;
  /** Undefined where none are made. */
  readonly backups: BackupSettings | undefined;
}

/** A value that cannot be used; the message has one line per bad setting, each with its fix. */
export class ConfigRefused extends Error {
  override readonly name = 'ConfigRefused';
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(given: Environment): Config {
  const problems: string[] = [];
  const env = withSecrets(given, problems);
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
  const [backupDir, everyMs, keep] = [read('BACKUP_DIR'), read('BACKUP_EVERY'), read('BACKUP_KEEP')];
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
    firstKey: read('FIRST_KEY'),
    firstKeyFile: read('FIRST_KEY_FILE'),
    backups: backupDir === undefined ? undefined : { folder: backupDir, everyMs, keep },
  });
  if (config.backups && database.kind === 'postgres')
    problems.push('BACKUP_DIR: must be empty with PostgreSQL, which has its own backup (docs/scaling.md)');
  for (const name of ['ADMIN_TOKEN_FILE', 'DATABASE_URL_FILE'] as const) read(name);
  if (config.metricsPort === config.port && config.port > 0 && config.metricsHost === config.host)
    problems.push('METRICS_PORT: must be another port than PORT; leave it empty to share one');
  // The driver reads it where the address says nothing, and takes a word that it does not know for no TLS.
  const tls = database.kind === 'postgres' && env.PGSSLMODE ? unknownTlsMode(env.PGSSLMODE) : undefined;
  if (tls !== undefined) problems.push(`PGSSLMODE=${JSON.stringify(env.PGSSLMODE)}: ${tls}`);
  if (problems.length > 0) throw new ConfigRefused(problems.join('\n'));
  return config;
}
