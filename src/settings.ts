/** All settings: one row each. The table in docs/settings.md, `serve --help` and `.env.example` are made of these. */

import { resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';
import { DECISION_LOGS } from './core/decision.ts';
import { type Database, parseDatabase } from './database.ts';
import { parseSentinels, parseServers } from './dns/settings.ts';
import { INSTALLATION } from './installation.ts';
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
  parseWebhook,
  parseWebhookSecret,
  parseWorkers,
} from './setting-values.ts';

export type Setting<T> = {
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
  FEEDS_UPDATE: {
    fallback: 'daily',
    help: 'How often the service fetches fresh lists by itself: `daily`, `hourly` or `off`. The first time is within two minutes of the first start; of all servers on one store one does it.',
    parse: oneOf('daily', 'hourly', 'off'),
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
  DECISION_LOG: {
    fallback: 'off',
    help: 'Which answers are kept for `domain-risk decisions`, with time, key and domain, never an address: `flagged` (all but safe ones), `all` or `off`.',
    parse: oneOf(...DECISION_LOGS),
  },
  DECISION_DAYS: {
    fallback: '30',
    help: 'For how many days they are kept, a million at the most.',
    parse: parseKept,
  },
  ALERT_WEBHOOK: {
    fallback: '',
    help: 'Address that events are sent to by POST (a quota at 80 and 100 %, an expiring key, trouble with lists, backups or resolvers); empty sends none.',
    secret: true,
    parse: parseWebhook,
  },
  ALERT_WEBHOOK_SECRET: {
    fallback: '',
    help: 'Secret that they are signed with (Standard Webhooks): `whsec_` and 24 to 64 bytes in base64, such as `whsec_$(openssl rand -base64 32)`.',
    secret: true,
    parse: parseWebhookSecret,
  },
  ALERT_WEBHOOK_SECRET_FILE: {
    fallback: '',
    help: 'File that holds the `ALERT_WEBHOOK_SECRET`, in place of that.',
    parse: parseSecretFile,
  },
} as const satisfies Record<string, Setting<unknown>>;
