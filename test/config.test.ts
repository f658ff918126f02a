import { execFileSync } from 'node:child_process';
import { chmodSync, lchownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { settingsFileOf } from '../bin/settings-file.mjs';
import { tellNewStore } from '../src/commands/world.ts';
import { ConfigRefused, readConfig } from '../src/config.ts';
import { shownDatabase } from '../src/database.ts';
import { exposedSecrets, exposedStore } from '../src/exposed.ts';
import { INSTALLATION, installationOf } from '../src/installation.ts';
import {
  distrustOf,
  heldSettings,
  settingsAgain,
  settingsFile,
  shownSettings,
  takeSettings,
  unknownSettings,
} from '../src/setting-sources.ts';
import { SETTINGS } from '../src/settings.ts';
import { temporaryFolder } from './support/service.ts';

const text = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

test('the table of settings in docs/settings.md and .env.example are what the service reads', () => {
  const rows = Object.entries(SETTINGS).map(
    ([name, { fallback, help }]) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`,
  );
  expect(text('docs/settings.md')).toContain(rows.join('\n'));
  const shown = text('.env.example').match(/^[A-Z_]+=.*$/gm);
  expect(shown).toEqual(Object.entries(SETTINGS).map(([name, { fallback }]) => `${name}=${fallback}`));
});

/** In a container; and what only the balancer of that file decides. */
const SET_BY_IMAGE = ['PORT', 'HOST', 'DATA_DIR', 'DATABASE_URL', 'DATABASE_URL_FILE'];

test.each([
  ['compose.yaml', [...SET_BY_IMAGE, 'TRUST_PROXY', 'BACKUP_DIR', 'BACKUP_EVERY', 'BACKUP_KEEP']],
  ['compose.sqlite.yaml', SET_BY_IMAGE],
])('every setting reaches the containers of %s, with its own default', (file, own) => {
  const passed = [...text(file).matchAll(/^ +([A-Z_]+): \$\{\1:?-(.*)\}$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  const left = Object.entries(SETTINGS).filter(([name]) => !own.includes(name));
  expect(passed).toEqual(left.map(([name, { fallback }]) => [name, fallback]));
});

test('a file with a secret that others can write to is named, with its fix', () => {
  const path = join(temporaryFolder(), 'token');
  writeFileSync(path, 'x');
  const told = (mode: number) => {
    chmodSync(path, mode);
    return exposedSecrets({ ADMIN_TOKEN_FILE: path, DATABASE_URL_FILE: `${path}-not`, FIRST_KEY_FILE: '' });
  };
  // As Docker and Kubernetes mount them.
  for (const mode of [0o400, 0o600, 0o444, 0o644]) expect(told(mode)).toEqual([]);
  const line = (mode: string) =>
    `ADMIN_TOKEN_FILE: others can change ${path} (mode ${mode}): chmod 600 ${path}`;
  expect(told(0o666)).toEqual([line('0666')]);
  expect(told(0o620)).toEqual([line('0620')]);
});

test('a store that other users can read or change is named, with its fix; not behind a door that is closed to them', () => {
  const folder = join(temporaryFolder(), 'data');
  const path = join(folder, 'domain-risk.db');
  mkdirSync(folder);
  writeFileSync(path, '');
  const told = (ofFolder: number, ofFile: number) => {
    chmodSync(folder, ofFolder);
    chmodSync(path, ofFile);
    return exposedStore({ kind: 'sqlite', path });
  };
  expect(told(0o700, 0o600)).toEqual([]);
  expect(told(0o700, 0o666)).toEqual([]);
  expect(told(0o755, 0o600)).toEqual([]);
  expect(told(0o775, 0o660)).toEqual([]);
  expect(told(0o755, 0o644)).toEqual([`others can read the store (mode 0644): chmod 600 ${path}`]);
  expect(told(0o1777, 0o666)).toEqual([
    `others can write to ${folder}, where the store is (mode 1777): chmod 700 it, or set DATA_DIR to a directory of its own`,
    `others can change the store (mode 0666): chmod 600 ${path}`,
  ]);
  expect(exposedStore({ kind: 'sqlite', path: join(path, 'none', 'x.db') })).toEqual([]);
  expect(exposedStore({ kind: 'postgres', url: 'postgres://db/a' })).toEqual([]);
});

test('every bad value is named with its fix, all at once', () => {
  const bad = { PORT: 'eighty', LOG_LEVEL: 'loud', DNS_SERVERS: 'dns.example', TRUST_PROXY: '10.0.0.0/99' };
  expect(() => readConfig(bad)).toThrow(ConfigRefused);
  for (const name of Object.keys(bad)) expect(() => readConfig(bad)).toThrow(`${name}=`);
});

test('a bad token is refused with a command that makes a good one, and never shown', () => {
  const read = () => readConfig({ ADMIN_TOKEN: 'hunter2' });
  expect(read).toThrow(/^ADMIN_TOKEN: must be 32 characters or more.*openssl rand -hex 32$/);
  expect(read).not.toThrow(/hunter2/);
  expect(readConfig({}).isAdminToken).toBeUndefined();
  const { isAdminToken } = readConfig({ ADMIN_TOKEN: 'x'.repeat(32) });
  const sent = ['x'.repeat(32), 'x'.repeat(31), 'x'.repeat(33), ''];
  expect(sent.map(token => isAdminToken!(token))).toEqual([true, false, false, false]);
});

test('as many workers as there are cores, or as many as are said', () => {
  const workersOf = (text?: string) => readConfig(text === undefined ? {} : { WORKERS: text }).workers;
  expect(workersOf()).toBe(1);
  if (process.platform === 'linux') expect(workersOf('3')).toBe(3);
  expect(workersOf('auto')).toBe(
    process.platform === 'linux' ? Math.min(8, navigator.hardwareConcurrency) : 1,
  );
});

test('operators cannot have a listener of their own at the address of callers', () => {
  const read = (env: Record<string, string>) => () =>
    readConfig({ PORT: '8080', METRICS_PORT: '8080', ...env });
  expect(read({})).toThrow(/^METRICS_PORT: must be another port than PORT/);
  expect(read({ METRICS_HOST: '127.0.0.2' })).not.toThrow();
  expect(read({ PORT: '0', METRICS_PORT: '0' })).not.toThrow();
});

test('relative paths are relative to the installation, from whatever folder it is started', () => {
  const root = new URL('..', import.meta.url).pathname.replace(/\/$/, '');
  expect(INSTALLATION).toBe(root);
  expect(readConfig({}).database).toEqual({ kind: 'sqlite', path: `${root}/var/domain-risk.db` });
  expect(readConfig({ DATABASE_URL: 'sqlite:a/b.db' }).database).toMatchObject({ path: `${root}/a/b.db` });
  expect(readConfig({ DATA_DIR: '/srv/data' }).dataDir).toBe('/srv/data');
});

test('a new store is not made beside one below the current folder, where earlier versions had it; who cannot look there has none', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('DATA_DIR', undefined);
  vi.stubEnv('DATABASE_URL', undefined);
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  onTestFinished(() => [said, cwd].forEach(spy => void spy.mockRestore()));
  const config = readConfig({ DATA_DIR: join(folder, 'new') });
  mkdirSync(join(folder, 'var'));
  writeFileSync(join(folder, 'var', 'domain-risk.db'), 'x');
  await expect(tellNewStore(config)).rejects.toThrow(`but one at ${folder}/var/domain-risk.db`);
  // Also for root, who may look everywhere.
  symlinkSync('loop', join(folder, 'loop'));
  cwd.mockReturnValue(join(folder, 'loop'));
  await tellNewStore(config);
  expect(said.mock.calls).toEqual([[`making a new store: ${folder}/new/domain-risk.db\n`]]);
});

test.each([
  ['/srv/domain-risk', '/srv/domain-risk'],
  ['/srv/app/node_modules/domain-risk', '/srv/app'],
  ['/srv/app/node_modules/.pnpm/domain-risk@1/node_modules/domain-risk', '/srv/app'],
  ['/node_modules/domain-risk', '/'],
  ['/srv/node_modules-of-ours', '/srv/node_modules-of-ours'],
])('a package in %s has its data in %s, where no update takes it away', (folder, place) => {
  expect(installationOf(folder)).toBe(place);
});

test('what a database address says of TLS and the driver does not know is refused by name', () => {
  const read = (parameters: string) => () =>
    readConfig({ DATABASE_URL: `postgres://op:pw-canary@db/a?${parameters}` });
  for (const mode of ['requrie', 'Require', 'allow', '', 'true']) {
    expect(read(`sslmode=${mode}`)).toThrow(
      `DATABASE_URL: sslmode=${mode} must be one of disable, prefer, require, verify-ca, verify-full, no-verify`,
    );
    expect(read(`sslmode=${mode}`)).not.toThrow(/canary/);
  }
  expect(read('sslmode=require&sslmode=off')).toThrow(/sslmode=off/);
  expect(read('sslMode=require')).toThrow(/^DATABASE_URL: must not have "sslMode" behind the \?/);
  for (const mode of ['disable', 'require', 'verify-full', 'no-verify'])
    expect(read(`sslmode=${mode}&connect_timeout=5`)).not.toThrow();
  const DATABASE_URL = 'postgres://op@db/a';
  expect(() => readConfig({ DATABASE_URL, PGSSLMODE: 'requrie' })).toThrow(/^PGSSLMODE="requrie": must be/);
  expect(() => readConfig({ DATABASE_URL, PGSSLMODE: 'require' })).not.toThrow();
});

test('a database is shown without its user, its password and its parameters', () => {
  const url = 'postgres://op:pw@db.example:5433/risk?sslmode=require';
  expect(shownDatabase({ kind: 'postgres', url })).toBe('postgres://db.example:5433/risk');
});

test('secrets may be in files: what is in them is checked alike, and never shown', () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const token = 'x'.repeat(40);
  const { isAdminToken, database } = readConfig({
    ADMIN_TOKEN_FILE: file('token', `${token}\n`),
    DATABASE_URL_FILE: file('url', 'postgres://op@db/a\n'),
  });
  expect([isAdminToken!(token), isAdminToken!('y'.repeat(40))]).toEqual([true, false]);
  expect(database).toEqual({ kind: 'postgres', url: 'postgres://op@db/a' });
  const refused = (env: Record<string, string>) => () => readConfig(env);
  expect(refused({ ADMIN_TOKEN_FILE: file('short', 'canary') })).toThrow(/^ADMIN_TOKEN: must be 32/);
  expect(refused({ ADMIN_TOKEN_FILE: file('short', 'canary') })).not.toThrow(/canary/);
  expect(refused({ ADMIN_TOKEN_FILE: file('empty', '\n') })).toThrow(
    /^ADMIN_TOKEN_FILE: must name a file that is not/,
  );
  expect(refused({ ADMIN_TOKEN_FILE: file('token', token), ADMIN_TOKEN: token })).toThrow(
    /^ADMIN_TOKEN_FILE: must not be set beside ADMIN_TOKEN$/,
  );
  // Nobody writes to it: whoever read it would wait for ever.
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  expect(refused({ ADMIN_TOKEN_FILE: join(folder, 'pipe') })).toThrow(/must name a regular file, not a pipe/);
  expect(refused({ ADMIN_TOKEN_FILE: '/dev/zero' })).toThrow(/must name a regular file/);
});

const settingsIn = (path: string, env = {}) => settingsFile({ DOMAIN_RISK_ENV_FILE: path, ...env });

test('what is no file in place of .env is named, and one that cannot be read: nothing stands in for it', () => {
  const folder = temporaryFolder();
  const [pipe, gone] = [join(folder, 'pipe'), join(folder, 'gone')];
  execFileSync('mkfifo', [pipe]);
  for (const path of [folder, pipe]) {
    expect(settingsFileOf([gone, path, join(folder, 'later')])).toBe(path);
    expect(() => settingsIn(path)).toThrow(new ConfigRefused(`${path} must be a file, or not be there`));
  }
  expect(() => settingsIn(gone)).toThrow(`${gone} cannot be read (ENOENT): run it as the user of that file`);
});

test.each<[string, number, number, string | undefined]>([
  ["this user's own", 1000, 0o600, undefined],
  ["root's", 0, 0o644, undefined],
  ['of whoever installed the program', 1001, 0o640, undefined],
  ["a stranger's", 65534, 0o600, 'belongs to another user (uid 65534): '],
  ['one that its group can write', 1000, 0o664, 'can be changed by others (mode 0664): chmod go-w it'],
  ['one that all can write', 0, 0o606, 'can be changed by others (mode 0606): chmod go-w it'],
])('settings in a file are taken or refused by who can write it: %s', (_, uid, mode, problem) => {
  const found = distrustOf({ uid, mode }, [0, 1000, 1001]);
  expect(found).toEqual(problem && expect.stringContaining(problem));
});

test('a .env that others can write, or that leads to one, is refused; NODE_OPTIONS in it is nothing but a name', () => {
  const path = join(temporaryFolder(), '.env');
  writeFileSync(path, 'NODE_OPTIONS=--require=/x.cjs\nPORT=9\nHOST=::1\nPOSTGRES_PASSWORD=x\n', {
    mode: 0o600,
  });
  const env: Record<string, string | undefined> = { DOMAIN_RISK_ENV_FILE: path, HOST: '::2' };
  takeSettings(env);
  expect(env).toEqual({ DOMAIN_RISK_ENV_FILE: path, HOST: '::2', PORT: '9' });
  expect(unknownSettings(env, heldSettings())).toEqual([
    `NODE_OPTIONS in ${path} is no setting and is ignored: set it in the environment`,
  ]);
  takeSettings({});
  chmodSync(path, 0o660);
  symlinkSync(path, `${path}-link`);
  for (const one of [path, `${path}-link`])
    expect(() => settingsIn(one)).toThrow(`${one} can be changed by others (mode 0660)`);
  chmodSync(path, 0o600);
  expect(settingsIn(`${path}-link`)).toMatchObject({ values: { PORT: '9' } });
});

// Nobody else can give a file away.
test.runIf(process.getuid?.() === 0)('what another user put there for root is refused, a link too', () => {
  const folder = temporaryFolder();
  const [own, stolen, link] = ['own', 'stolen', 'link'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [own, stolen]) writeFileSync(path, 'PORT=9\n');
  symlinkSync(own, link);
  for (const path of [stolen, link]) {
    lchownSync(path, 65534, 65534);
    expect(() => settingsIn(path)).toThrow(`${path} belongs to another user (uid 65534)`);
  }
});

test('what the environment says stays, also where the file says the same today and another thing tomorrow', () => {
  const path = join(temporaryFolder(), '.env');
  const env: Record<string, string | undefined> = { DOMAIN_RISK_ENV_FILE: path, HOST: '::1' };
  writeFileSync(path, 'HOST=::1\nPORT=9\nDOCS=off\n');
  takeSettings(env);
  const before = heldSettings();
  takeSettings({});
  // As by --port.
  env.PORT = '10';
  writeFileSync(path, 'HOST=::2\nPORT=11\nDOCS=on\nWORKERS=2\n');
  expect(settingsAgain(env, before).env).toMatchObject({ HOST: '::1', PORT: '10', DOCS: 'on', WORKERS: '2' });
});

test('a path that this user cannot reach is a bad value as any other', () => {
  const loop = join(temporaryFolder(), 'loop');
  // Also for root, who may look everywhere.
  symlinkSync('loop', loop);
  for (const [name, kind] of [
    ['BACKUP_DIR', 'directory'],
    ['FIRST_KEY_FILE', 'file'],
  ] as const)
    expect(() => readConfig({ [name]: join(loop, 'x') })).toThrow(
      `must name a ${kind} that this user can reach (ELOOP)`,
    );
});

test('where the current folder may not be looked into, the settings of the installation count', () => {
  const folder = temporaryFolder();
  const installed = join(folder, '.env');
  writeFileSync(installed, '');
  // Also for root, who may look everywhere.
  symlinkSync('loop', join(folder, 'loop'));
  expect(settingsFileOf([join(folder, 'loop', '.env'), installed])).toBe(installed);
});

test('a line of .env that sets nothing is told by its number, since it may be a secret', () => {
  const path = join(temporaryFolder(), '.env');
  writeFileSync(path, '# PORT\nPORT 9001\n\nADMIN_TOKEN="a\nb c\n"\nexport DOCS=off\nDECISION_LOG: all\r\n');
  expect(unknownSettings({}, settingsIn(path))).toEqual([
    `line 2 of ${path} has no "=" and is ignored`,
    `line 8 of ${path} has no "=" and is ignored`,
  ]);
});

test.each([
  ['ADMIN_TOKEN=0123456789abcdef0123456789abcdef#rest', true],
  [' export ADMIN_TOKEN = 0123#4567 # remark', true],
  ['ADMIN_TOKEN=#0123', true],
  ['ADMIN_TOKEN="0123#4567', true],
  ['ADMIN_TOKEN=0123 # remark', false],
  ['ADMIN_TOKEN= # remark', false],
  ['ADMIN_TOKEN="0123#4567"#remark', false],
  ["ADMIN_TOKEN='0123\n4567=a#b'", false],
  ['# ADMIN_TOKEN=0123#4567', false],
  ['OTHER=0123#4567', false],
])('of a value that a # has cut short the name is told: %j (%s)', (line, isCut) => {
  const path = join(temporaryFolder(), '.env');
  writeFileSync(path, `PORT=9\n${line}\nDOCS=on\n`);
  const told = unknownSettings({}, settingsIn(path)).filter(one => !one.startsWith('OTHER'));
  expect(told).toEqual(isCut ? [expect.stringContaining(`ADMIN_TOKEN in ${path} ends before a "#"`)] : []);
});

test('names that mean nothing are told: all of .env, of the environment those near one of ours', () => {
  const file = {
    path: '/srv/.env',
    values: { DNS_SERVER: '1.1.1.1', PORT: '80', COLOUR: 'red', HTTPS_PROXY: 'x' },
    taken: new Set(['PORT']),
    idle: [],
    cut: [],
  };
  const env = {
    PORT: '80',
    NO_PROXY: 'x',
    LOGLEVEL: 'warn',
    HOME: '/',
    PATH: '/bin',
    DOMAIN_RISK_WORKERS: '2',
    dns_servers: '',
  };
  expect(unknownSettings(env, file)).toEqual([
    'DNS_SERVER in /srv/.env is no setting and is ignored: did you mean DNS_SERVERS?',
    'COLOUR in /srv/.env is no setting and is ignored',
    'HTTPS_PROXY in /srv/.env is no setting and is ignored: set it in the environment',
    'LOGLEVEL in the environment is no setting and is ignored: did you mean LOG_LEVEL?',
    'DOMAIN_RISK_WORKERS in the environment is no setting and is ignored: did you mean WORKERS?',
    'dns_servers in the environment is no setting and is ignored: did you mean DNS_SERVERS?',
  ]);
  expect(
    unknownSettings({ HOME: '/', USER: 'op', TERM: 'xterm', HOSTNAME: 'a', PWD: '/' }, undefined),
  ).toEqual([]);
});

test('every setting is shown with where it came from, and no secret is', () => {
  const file = {
    path: '/srv/.env',
    values: { PORT: '81', HOST: '::1', DOCS: 'on' },
    taken: new Set(['PORT']),
    idle: [],
    cut: [],
  };
  const env = { PORT: '81', HOST: '127.0.0.2', DOCS: 'on', ADMIN_TOKEN: 'canary', WORKERS: 'many' };
  const shown = Object.fromEntries(shownSettings(env, file).map(({ name, ...rest }) => [name, rest]));
  expect(Object.keys(shown)).toEqual(Object.keys(SETTINGS));
  expect(shown).toMatchObject({
    PORT: { value: '81', from: '/srv/.env', problem: null },
    HOST: { value: '127.0.0.2', from: 'environment', problem: null },
    DOCS: { value: 'on', from: 'environment', problem: null },
    DATA_DIR: { value: './var', from: 'default', problem: null },
    ADMIN_TOKEN: { value: '(hidden)', from: 'environment', problem: expect.stringMatching(/^must be 32/) },
    DATABASE_URL: { value: '', from: 'default' },
    WORKERS: { problem: expect.stringMatching(/^must be auto/) },
  });
  expect(JSON.stringify(shown)).not.toContain('canary');
});

test.each([
  ['ADMIN_TOKEN_FILE', 'canary0123456789canary0123456789'],
  ['DATABASE_URL_FILE', 'postgres://u:canary@127.0.0.1/db'],
  ['ALERT_WEBHOOK_SECRET_FILE', 'whsec_canary0123456789'],
  ['FIRST_KEY_FILE', 'drk_canary'],
  ['FIRST_KEY_FILE', 'dro_canary'],
  ['BACKUP_DIR', 's3://key:canary@bucket'],
  ['DATA_DIR', 'postgres://u:canary@127.0.0.1/db'],
  ['DATABASE_URL', 'sqlite:postgres://u:canary@127.0.0.1/db'],
])('a secret that was typed where a path belongs (%s=%s) is refused and not shown', (name, value) => {
  const read = () => readConfig({ [name]: value });
  expect(read).toThrow(new RegExp(`^${name}: must `));
  expect(read).not.toThrow(/canary/);
  const shown = shownSettings({ [name]: value }, undefined);
  expect(shown.find(one => one.name === name)).toMatchObject({
    value: '(hidden)',
    problem: expect.stringMatching(/^must /),
  });
  expect(JSON.stringify(shown)).not.toContain('canary');
});

test('a path that can be used is shown', () => {
  const folder = temporaryFolder();
  const env = {
    BACKUP_DIR: folder,
    DATA_DIR: join(folder, 'new'),
    FIRST_KEY_FILE: 'first',
    DATABASE_URL: '',
  };
  expect(shownSettings(env, undefined)).toEqual(
    expect.arrayContaining(
      ['BACKUP_DIR', 'DATA_DIR', 'FIRST_KEY_FILE'].map(name =>
        expect.objectContaining({ name, value: env[name as keyof typeof env], problem: null }),
      ),
    ),
  );
  expect(readConfig({ DATABASE_URL: `sqlite://${folder}/a.db` }).database).toMatchObject({
    path: `${folder}/a.db`,
  });
});

test('the systemd unit promises no reload of what systemd itself reads once, and says how to upgrade below a read-only /opt', () => {
  const unit = text('deploy/domain-risk.service');
  expect(unit).toMatch(/^LoadCredential=/m);
  expect(unit).not.toMatch(/^ExecReload=/m);
  const steps = 'git pull && npm run build:console && systemctl start domain-risk';
  for (const file of ['deploy/domain-risk.service', 'docs/operate.md']) expect(text(file)).toContain(steps);
});
