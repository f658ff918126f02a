/** Environment → frozen Config, checked once at start. Every setting is a row of `settings.ts`. */

import { dirname, resolve } from 'node:path';
import type { Checked } from './core/checked.ts';
import type { DecisionLog } from './core/decision.ts';
import { type Database, unknownTlsMode } from './database.ts';
import type { BackupSettings } from './scheduled-backups.ts';
import { withSecrets } from './secret-files.ts';
import { SETTINGS, type Setting } from './settings.ts';
import type { WebhookSettings } from './webhook.ts';

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
  readonly firstKey: Parsed<'FIRST_KEY'>;
  readonly firstKeyFile: Parsed<'FIRST_KEY_FILE'>;
  /** Undefined where none are made. */
  readonly backups: BackupSettings | undefined;
  /** Undefined where events go nowhere but to the log. */
  readonly webhook: WebhookSettings | undefined;
  readonly decisions: { readonly log: DecisionLog; readonly days: number };
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
    const shown = setting.secret || setting.path ? '' : `=${JSON.stringify(env[name])}`;
    problems.push(`${name}${shown}: ${checked.problem}`);
    return undefined as Parsed<K>;
  }
  const dataDir = read('DATA_DIR');
  const host = read('HOST');
  const metricsPort = read('METRICS_PORT');
  const path = resolve(dataDir ?? '', 'domain-risk.db');
  const [backupDir, everyMs, keep] = [read('BACKUP_DIR'), read('BACKUP_EVERY'), read('BACKUP_KEEP')];
  const [url, secret] = [read('ALERT_WEBHOOK'), read('ALERT_WEBHOOK_SECRET')];
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
    firstKey: read('FIRST_KEY'),
    firstKeyFile: read('FIRST_KEY_FILE'),
    backups: backupDir === undefined ? undefined : { folder: backupDir, everyMs, keep },
    webhook: url && secret ? { url, secret } : undefined,
    decisions: { log: read('DECISION_LOG'), days: read('DECISION_DAYS') },
  });
  if (config.backups && database.kind === 'postgres')
    problems.push('BACKUP_DIR: must be empty with PostgreSQL, which has its own backup (docs/scaling.md)');
  for (const name of ['ADMIN_TOKEN_FILE', 'DATABASE_URL_FILE', 'ALERT_WEBHOOK_SECRET_FILE'] as const)
    read(name);
  if (url && !secret && problems.length === 0)
    problems.push('ALERT_WEBHOOK: needs ALERT_WEBHOOK_SECRET, which events are signed with');
  if (config.metricsPort === config.port && config.port > 0 && config.metricsHost === config.host)
    problems.push('METRICS_PORT: must be another port than PORT; leave it empty to share one');
  // The driver reads it where the address says nothing, and takes a word that it does not know for no TLS.
  const tls = database.kind === 'postgres' && env.PGSSLMODE ? unknownTlsMode(env.PGSSLMODE) : undefined;
  if (tls !== undefined) problems.push(`PGSSLMODE=${JSON.stringify(env.PGSSLMODE)}: ${tls}`);
  if (problems.length > 0) throw new ConfigRefused(problems.join('\n'));
  return config;
}
