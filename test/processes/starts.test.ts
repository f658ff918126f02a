import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigRefused, readConfig } from '../../src/config.ts';
import { SETTINGS } from '../../src/settings.ts';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import { bareEnvironment } from '../support/environment.ts';
import { CLI, openBeside, type ProcessOptions, ROOT, run, startChild } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

/** A start that must not succeed: exit code 1 and exactly one line of ours on the error stream. */
async function refusedStart(options: ProcessOptions): Promise<string> {
  const { code, signal, stdout, stderr } = await run(['serve'], options);
  expect({ code, signal, stdout: stdout.replace(/^\{.*\n/gm, '') }).toEqual({
    code: 1,
    signal: null,
    stdout: '',
  });
  const lines = stderr.split('\n').filter(line => line.startsWith('domain-risk: '));
  expect(lines).toHaveLength(1);
  expect(stderr).not.toMatch(/^\s+at /m);
  return lines[0]!;
}

const BAD: Readonly<Record<keyof typeof SETTINGS, readonly string[]>> = {
  PORT: ['abc', '65536', '-1', '80 80', '8080.5', ''],
  HOST: ['a b', 'http://localhost', ''],
  DATA_DIR: [''],
  DATABASE_URL: ['mysql://localhost/a', 'sqlite:', 'somewhere.db', 'postgres://', 'postgres://host:port/a'],
  DNS_SENTINELS: [
    'gmail',
    'gmail.com outlook.com',
    'a.test',
    'com',
    Array.from({ length: 11 }, (_, at) => `a${at}.com`).join(),
  ],
  DNS_SERVERS: ['dns.example', '127.0.0.1:0', '127.0.0.1:70000', '1.2.3', ',', '127.0.0.1,'],
  FEEDS_OFF: ['castel', 'castle fakefilter', 'all'],
  TRUST_PROXY: ['everyone', '10.0.0.0/33', '10.0.0.0/8,x'],
  ADMIN_TOKEN: ['short', 'x'.repeat(31), `${'x'.repeat(40)} `, `${'x'.repeat(40)}ü`, `drk_${'x'.repeat(49)}`],
  METRICS_PORT: ['abc', '65536', '-1', 'on'],
  METRICS_HOST: ['a b', 'http://localhost'],
  DOCS: ['true', 'OFF', ''],
  CONNECTIONS_PER_ADDRESS: ['0', '-1', 'many', '1000000', ''],
  WORKERS: ['0', '9', 'all', '1.5', ''],
  LOG_LEVEL: ['loud', 'INFO', ''],
  ACCESS_LOG: ['some', 'true', ''],
  FAST_LANE: ['yes', ''],
  ADMIN_TOKEN_FILE: ['/nowhere/token'],
  DATABASE_URL_FILE: ['/nowhere/url'],
  FEEDS_UPDATE: ['weekly', 'on', ''],
  FIRST_KEY: ['drk_short', `drk_${'x'.repeat(49)}`],
  FIRST_KEY_FILE: ['/'],
  BACKUP_DIR: ['/etc/passwd'],
  BACKUP_EVERY: ['', '0m', '10s', 'daily', '1w'],
  BACKUP_KEEP: ['', '0', '-1', 'all', '1000'],
  DECISION_LOG: ['on', 'FLAGGED', ''],
  ALERT_WEBHOOK: ['example.com', 'ftp://a.example', 'https://me:pass@a.example'],
  ALERT_WEBHOOK_SECRET: ['secret', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(88)}`],
  ALERT_WEBHOOK_SECRET_FILE: ['/nowhere/secret'],
  DECISION_DAYS: ['0', '1000', 'all', ''],
};

test('every setting has values that it refuses', () => {
  expect(Object.keys(BAD).sort()).toEqual(Object.keys(SETTINGS).sort());
});

test.each(Object.entries(BAD).flatMap(([name, values]) => values.map(value => [name, value])))(
  '%s=%j is refused by its name, with what it must be',
  (name, value) => {
    const read = () => readConfig({ [name!]: value });
    expect(read).toThrow(ConfigRefused);
    // Also where a path belongs: what is none may be a secret.
    const isHidden = [
      'DATA_DIR',
      'BACKUP_DIR',
      'ADMIN_TOKEN_FILE',
      'DATABASE_URL_FILE',
      'FIRST_KEY_FILE',
      'ALERT_WEBHOOK_SECRET_FILE',
      'DATABASE_URL',
      'ADMIN_TOKEN',
      'FIRST_KEY',
      'ALERT_WEBHOOK',
      'ALERT_WEBHOOK_SECRET',
    ].includes(name!);
    const shown = isHidden ? '' : `=${JSON.stringify(value).replace(/[.\\]/g, '\\$&')}`;
    expect(read).toThrow(new RegExp(`^${name}${shown}: .*(must|write) `, 's'));
  },
);

test('the address of a database, which holds a password, is never shown', () => {
  for (const value of [
    'mysql://op:pw-canary@db/a',
    'postgres://op:pw-canary',
    'host=db password=pw-canary',
  ]) {
    const read = () => readConfig({ DATABASE_URL: value });
    expect(read).toThrow(/^DATABASE_URL: must be /);
    expect(read).not.toThrow(/canary/);
  }
});

test('all bad settings are told at once, one line each, before anything is made', async () => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await run(['serve'], { folder, env: { PORT: 'x', LOG_LEVEL: 'loud' } });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^domain-risk: PORT="x": must be a number/),
    expect.stringMatching(/^domain-risk: LOG_LEVEL="loud": must be one of/),
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test('a port in use is named, with the setting to change', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  expect(await refusedStart({ env: { PORT: `${port}` } })).toMatch(
    new RegExp(`port ${port} .*in use.*set PORT`),
  );
  expect(await refusedStart({ env: { METRICS_PORT: `${port}` } })).toMatch(
    new RegExp(`port ${port} .*in use.*set METRICS_PORT`),
  );
});

test('an address that is not ours is named, with the setting to change', async () => {
  expect(await refusedStart({ env: { HOST: '192.0.2.1' } })).toMatch(/192\.0\.2\.1.*set HOST/);
});

test('a data directory that cannot be written to is named, with the setting to change', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, 'precious');
  expect(await refusedStart({ folder: file })).toMatch(/is no directory: set DATA_DIR/);
  expect(await refusedStart({ folder: join(file, 'below') })).toMatch(/set DATA_DIR/);
  expect(readFileSync(file, 'utf8')).toBe('precious');
});

test('a database of a newer version is refused and left as it is', async () => {
  const folder = temporaryFolder();
  await (await openBeside(folder)).close();
  const path = join(folder, 'domain-risk.db');
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 7}`);
  db.close();
  const before = readFileSync(path);
  expect(await refusedStart({ folder })).toMatch(/newer version.*update domain-risk/);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a corrupt database is refused and left as it is', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'domain-risk.db');
  writeFileSync(path, 'not a database at all\n'.repeat(500));
  const before = readFileSync(path);
  expect(await refusedStart({ folder })).toMatch(/corrupt.*restore a backup/);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a store that is locked when the first key must be stored ends the start, port and all', async () => {
  const folder = temporaryFolder();
  await (await openBeside(folder)).close();
  const other = new DatabaseSync(join(folder, 'domain-risk.db'));
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  expect(await refusedStart({ folder })).toMatch(/locked.*start again/);
});

test('a store that an earlier version kept in the current folder is named, not replaced by an empty one', async () => {
  const cwd = temporaryFolder();
  const former = join(cwd, 'former-var');
  await (await openBeside(former)).close();
  const started = startChild(
    [process.execPath, CLI, 'keys', 'create', '--name', 'web'],
    bareEnvironment({ DATA_DIR: './former-var' }),
    cwd,
  );
  expect(await started.exited).toMatchObject({ code: 1 });
  expect(started.stderr()).toMatch(
    new RegExp(
      `^domain-risk: there is no store at .*, but one at ${former}/domain-risk.db: .*; set DATA_DIR=${former} `,
    ),
  );
  expect(existsSync(join(ROOT, 'former-var'))).toBe(false);
});
