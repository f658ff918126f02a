/** All settings: one row each. The table in docs/settings.md, `serve --help` and `.env.example` are made of these. */

import { type Checked, good } from './core/checked.ts';
import { DECISION_LOGS } from './core/decision.ts';
import { type Database, parseDatabase } from './database.ts';
import { parseSentinels, parseServers } from './dns/settings.ts';
import {
  oneOf,
  parseConnections,
  parseDataDir,
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
  parseWebhook,
  parseWebhookSecret,
  parseWorkers,
} from './setting-values.ts';

export type Setting<T> = {
  readonly fallback: string;
  readonly help: string;
  /** Its value may hold a password and is never shown. */
  readonly secret?: boolean;
  /** It names a file or a directory. What does not is not shown either: it may be the secret itself, typed in its place. */
  readonly path?: boolean;
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
    path: true,
    parse: parseDataDir,
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
    help: "DNS resolvers, comma-separated `ip[:port]` or `[ipv6]:port`; empty uses the system's.",
    parse: (text: string): Checked<readonly string[] | undefined> =>
      text === '' ? good(undefined) : parseServers(text),
  },
  DNS_SENTINELS: {
    fallback: 'gmail.com, outlook.com, yahoo.com, icloud.com',
    help: 'Domains that certainly receive mail and have a web address, comma-separated, at most 10. A resolver that denies half of them is not trusted when it says that a domain does not exist. Name domains that everybody knows, not those of your own network. Empty trusts every resolver.',
    parse: parseSentinels,
  },
  FEEDS_OFF: {
    fallback: '',
    help: 'Lists to leave out and not update, comma-separated, as named by `feeds status`; empty uses all. A list of your own leaves with `feeds remove`.',
    parse: parseFeeds,
  },
  TRUST_PROXY: {
    fallback: '',
    help: 'Networks of reverse proxies whose `X-Forwarded-For` is trusted, comma-separated CIDR; empty trusts none.',
    parse: parseTrusted,
  },
  ADMIN_TOKEN: {
    fallback: '',
    help: 'Token for operators; enables the API below `/admin`. At least 32 characters, for example the output of `openssl rand -hex 32`; empty disables it.',
    secret: true,
    parse: parseToken,
  },
  METRICS_PORT: {
    fallback: '',
    help: 'Separate port for `/metrics` and `/admin`, which are then served nowhere else; `off` disables `/metrics`; empty uses `PORT`.',
    parse: parseMetricsPort,
  },
  METRICS_HOST: {
    fallback: '',
    help: 'Address of the separate port; empty uses `HOST`.',
    parse: (text: string): Checked<string | undefined> => (text === '' ? good(undefined) : parseHost(text)),
  },
  DOCS: {
    fallback: 'on',
    help: 'Serve `/docs` and `/openapi.json`: `on` or `off`.',
    parse: oneOf('on', 'off'),
  },
  CONNECTIONS_PER_ADDRESS: {
    fallback: '10000',
    help: 'Open connections allowed per client address (per /64 for IPv6), at most half of all; trusted proxies may use all.',
    parse: parseConnections,
  },
  WORKERS: {
    fallback: '1',
    help: 'Threads that serve requests, at most 8; `auto` uses one per core (Linux; elsewhere 1).',
    parse: parseWorkers,
  },
  LOG_LEVEL: {
    fallback: 'info',
    help: 'Minimum log level.',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  ACCESS_LOG: {
    fallback: 'errors',
    help: 'Requests to log: `errors` (5xx, degraded and slow answers), `all` or `off`. The metrics count all of them.',
    parse: oneOf('errors', 'all', 'off'),
  },
  FAST_LANE: {
    fallback: 'on',
    help: 'Faster parser for the simplest lookups and probes, with the same answers: `on` or `off`.',
    parse: oneOf('on', 'off'),
  },
  ADMIN_TOKEN_FILE: {
    fallback: '',
    help: 'File that holds the token, instead of `ADMIN_TOKEN`.',
    path: true,
    parse: parseSecretFile,
  },
  DATABASE_URL_FILE: {
    fallback: '',
    help: 'File that holds the URL, instead of `DATABASE_URL`.',
    path: true,
    parse: parseSecretFile,
  },
  FEEDS_UPDATE: {
    fallback: 'daily',
    help: 'How often the service updates the lists: `daily`, `hourly` or `off`. The first update runs within two minutes of the first start; of several servers on one store, one runs it.',
    parse: oneOf('daily', 'hourly', 'off'),
  },
  FIRST_KEY: {
    fallback: '',
    help: 'First API key of an empty store, as printed by `keys generate`. The first start then prints none.',
    secret: true,
    parse: parseFirstKey,
  },
  FIRST_KEY_FILE: {
    fallback: '',
    help: 'File for the first API key of an empty store, instead of printing it. A key in the file is used; otherwise a new one is written there with mode 0600.',
    path: true,
    parse: parseNewFile,
  },
  BACKUP_DIR: {
    fallback: '',
    help: 'Directory for scheduled backups of the embedded store, best on another disk; empty disables them.',
    path: true,
    parse: parseFolder,
  },
  BACKUP_EVERY: {
    fallback: '1d',
    help: 'Time between backups, for example `30m`, `6h` or `1d`.',
    parse: parseEvery,
  },
  BACKUP_KEEP: {
    fallback: '7',
    help: 'Number of backups to keep.',
    parse: parseKept,
  },
  DECISION_LOG: {
    fallback: 'off',
    help: 'Answers to keep for `domain-risk decisions`, with time, key and domain, never an email address: `flagged` (all but safe ones), `all` or `off`.',
    parse: oneOf(...DECISION_LOGS),
  },
  DECISION_DAYS: {
    fallback: '30',
    help: 'Days to keep decisions; at most one million are kept.',
    parse: parseKept,
  },
  ALERT_WEBHOOK: {
    fallback: '',
    help: 'URL that receives events by POST (a quota at 80 and 100 %, an expiring key, problems with lists, backups or resolvers); empty disables them.',
    secret: true,
    parse: parseWebhook,
  },
  ALERT_WEBHOOK_SECRET: {
    fallback: '',
    help: 'Secret that signs the events (Standard Webhooks): `whsec_` and 24 to 64 bytes in base64, such as `whsec_$(openssl rand -base64 32)`.',
    secret: true,
    parse: parseWebhookSecret,
  },
  ALERT_WEBHOOK_SECRET_FILE: {
    fallback: '',
    help: 'File that holds the secret, instead of `ALERT_WEBHOOK_SECRET`.',
    path: true,
    parse: parseSecretFile,
  },
} as const satisfies Record<string, Setting<unknown>>;
