import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageProblem } from '../../src/commands/print.ts';
import {
  checkedList,
  dateValue,
  domainValue,
  durationValue,
  labelValue,
  limitValue,
  overlapValue,
  quotaValue,
  rateValue,
} from '../../src/commands/values.ts';
import { parseNetwork, parseOrigin } from '../../src/core/origin.ts';
import { LONGEST_OVERLAP } from '../../src/core/rotation.ts';
import { SETTINGS } from '../../src/settings.ts';
import { bareEnvironment } from '../support/environment.ts';
import { CLI, hasTool, NO_DNS, openBeside, ROOT, run, runJson } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { storeAt } from '../support/store.ts';

/** What the documents promise; the help of each command must name these words. Others may be added. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  '': ['Exit codes: 0 done, 1 failed, 2 wrong usage'],
  serve: ['environment', '--port', '--host', '--data-dir', ...Object.keys(SETTINGS)],
  lookup: ['[domain]', '--explain', '--offline', '--json'],
  top: ['--limit', '--reason', '--json'],
  'keys create': [
    '--name',
    '--if-missing',
    '--quota',
    '--origin',
    '--network',
    '--expires',
    '--rate',
    '--json',
  ],
  'keys list': ['--all', '--json'],
  'keys generate': ['FIRST_KEY', '--json'],
  'keys update': ['<key>', '--name', '--quota', '--origin', '--network', '--expires', '--json'],
  'keys rotate': ['<key>', '--overlap', '--json'],
  'keys revoke': ['<key>', '--json'],
  'overrides set': ['<domain>', '<action>', 'allow', 'deny', 'role', '--below', '--expires', '--json'],
  'overrides list': ['--json'],
  'overrides remove': ['<domain>', '--json'],
  'overrides import': ['<file>', '--dry-run', '--replace-all', '--json'],
  'overrides export': [],
  'feeds status': ['--json'],
  'feeds update': ['[feed...]', '--from', '--force', '--dry-run', '--json'],
  'feeds rollback': ['<feed>', '--undo', '--json'],
  'feeds add': ['<name>', '<place>', '--kind', '--format', '--verified', '--force', '--json'],
  'feeds remove': ['<feed>', '--json'],
  'feeds approve': ['<feed>', '[domain...]', '--take-back'],
  'feeds reject': ['<feed>', '[domain...]', '--take-back', '--json'],
  'feeds filter': ['--out', '--public-key', '--json'],
  'feeds sweep': ['--limit', '--rate', '--json'],
  'infra list': ['--json'],
  'infra forget': ['<host>', '--undo', '--json'],
  audit: ['--limit', '--json'],
  backup: ['<file>', '--json'],
  restore: ['<file>', '--dry-run', '--yes', '--json'],
  migrate: ['--from', '--to', '--json'],
  config: ['--json'],
  doctor: ['--json'],
  decisions: ['--domain', '--key', '--since', '--limit', '--json'],
  'operators add': ['<name>', '--json'],
  'operators list': ['--json'],
  'operators revoke': ['<name>', '--json'],
};

test('whoever has read enough, as in "| head -1", ends no command with a failure', async () => {
  const folder = temporaryFolder();
  const env = bareEnvironment({ DATA_DIR: folder });
  await (await openBeside(folder)).close();
  for (const args of [
    ['feeds', 'update', '--help'],
    ['overrides', 'set', 'a.example.com', 'deny'],
    ['--help'],
  ]) {
    const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let said = '';
    child.stderr.on('data', chunk => (said += String(chunk)));
    const [code] = await once(child, 'close');
    expect([code, said]).toEqual([0, '']);
  }
});

function subcommands(help: string): string[] {
  const section = help.split(/^Commands:$/m)[1]?.split('\n\n')[0] ?? '';
  return [...section.matchAll(/^ {2}([a-z]+)/gm)].map(found => found[1]!).filter(name => name !== 'help');
}

test('every command explains itself on stdout, with exit code 0, and touches nothing; a document names it', async () => {
  const folder = join(temporaryFolder(), 'var');
  const helps = new Map<string, string>();
  for (let level = ['']; level.length > 0; ) {
    const below: string[] = [];
    for (const command of level) {
      const { code, stdout, stderr } = await run([...command.split(' ').filter(Boolean), '--help'], {
        folder,
      });
      expect([command, code, stderr]).toEqual([command, 0, '']);
      expect(stdout).toContain(`Usage: domain-risk${command && ` ${command}`}`);
      helps.set(command, stdout);
      below.push(...subcommands(stdout).map(name => `${command} ${name}`.trim()));
    }
    level = below;
  }
  for (const [command, words] of Object.entries(PROMISED)) {
    for (const word of words)
      expect([command, helps.get(command)]).toEqual([command, expect.stringContaining(word)]);
  }
  const manual = globSync(['README.md', 'docs/*.md'], { cwd: ROOT })
    .map(file => readFileSync(join(ROOT, file), 'utf8'))
    .join();
  const commands = [...helps].filter(([, help]) => subcommands(help).length === 0).map(([name]) => name);
  expect(commands.filter(name => !(name in PROMISED))).toEqual([]);
  expect(commands.filter(name => !new RegExp(`(?:domain-risk |\`)${name}\\b`).test(manual))).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});

test('the version is the package’s', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
});

test('under a user id that the system has no name for, every command works all the same', async () => {
  const folder = temporaryFolder();
  const hook = join(temporaryFolder(), 'nameless.mjs');
  writeFileSync(
    hook,
    `import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.userInfo = () => { throw new Error('uv_os_get_passwd returned ENOENT'); };
syncBuiltinESMExports();
`,
  );
  const env = { NODE_OPTIONS: `--import ${hook}` };
  expect(await run(['--version'], { env })).toMatchObject({ code: 0 });
  const set = ['overrides', 'set', 'example.com', 'deny'];
  await (await openBeside(folder)).close();
  expect(await runJson(set, { folder, env })).toMatchObject({ author: null });
  expect(await runJson(set, { folder, env: { ...env, USER: 'op' } })).toMatchObject({ author: 'op' });
  expect(await runJson(set, { folder })).toMatchObject({ author: userInfo().username });
});

const NEEDS_A_STORE = [
  'keys list',
  'overrides set example.com deny',
  'feeds update --from castle=none.txt',
  'keys update a --quota 1',
  'keys rotate a',
  'keys revoke a',
  'overrides list',
  'overrides remove example.com',
  'infra list',
  'infra forget mx.example.com',
  'feeds sweep --limit 1',
  'top',
  'audit',
  'operators list',
  'backup copy.db',
];
test('where there is no store, commands that need one make none and name the path and the setting', async () => {
  const folder = join(temporaryFolder(), 'var');
  for (const command of NEEDS_A_STORE) {
    const { code, stdout, stderr } = await run(command.split(' '), { folder });
    expect([command, code, stdout]).toEqual([command, 1, '']);
    expect(stderr).toMatch(/^domain-risk: .*DATA_DIR.*start the service first: "domain-risk serve".*\n$/);
    expect(stderr).toContain(join(folder, 'domain-risk.db'));
  }
  const env = { DATABASE_URL: `sqlite:${folder}/other.db` };
  const { stderr } = await run(['keys', 'list'], { folder, env });
  expect(stderr).toMatch(/^domain-risk: .*other\.db does not exist; set DATABASE_URL to sqlite:.*\n$/);
  expect(existsSync(folder)).toBe(false);
});

test('in a folder that was deleted, and where too few files may be open, a command says so in one line', async () => {
  const folder = temporaryFolder();
  const said = (script: string) => {
    const env = bareEnvironment({ DATA_DIR: folder, DNS_SERVERS: NO_DNS });
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
    return [status, stdout, stderr.replace(/^sh: .*getcwd.*\n/m, '')];
  };
  const gone = 'the current folder does not exist any more: change to another one (cd /)';
  for (const launcher of ['scripts/boot.mjs src/cli.ts', 'bin/domain-risk.mjs']) {
    const at = join(folder, 'gone');
    const command = `${process.execPath} ${join(ROOT, launcher)} keys list`;
    const result = said(`mkdir ${at}; cd ${at}; rmdir ${at}; ${command}`);
    expect(result).toEqual([1, '', `domain-risk: ${gone}\n`]);
  }
  const [code, , few] = said(`ulimit -n 40; ${process.execPath} ${CLI} keys create --name x`);
  expect([code, few]).toEqual([
    1,
    expect.stringMatching(/^domain-risk: only 40 files may be open .*: raise the limit \(ulimit -n,.*\)\n$/),
  ]);
});

test('an empty file is no store: commands say so and leave it, and who makes a store says that too', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'domain-risk.db');
  writeFileSync(path, '');
  const { code, stderr } = await run(['keys', 'list'], { folder });
  expect([code, stderr]).toEqual([
    1,
    `domain-risk: there is no store: ${path} is empty; set DATA_DIR to the directory that holds it, or bring a backup back with "domain-risk restore FILE"\n`,
  ]);
  expect(readFileSync(path, 'utf8')).toBe('');
  const made = await run(['keys', 'create', '--name', 'x'], { folder });
  expect(made.stderr).toContain(`making a new store: ${path} (the file there is empty)\n`);
});

test.runIf(existsSync('/proc/self'))(
  'where no directory can be made, a command says so at once',
  async () => {
    const { code, stderr } = await run(['keys', 'create', '--name', 'x'], { folder: '/proc/x/y' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('set DATA_DIR to a directory that this user'),
    ]);
  },
);

const isRoot = process.getuid?.() === 0;
test.skipIf(isRoot && !hasTool('setpriv'))(
  'a store of another user is not taken for a missing one',
  async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0);
    // Root reads everything as long as it has its capabilities.
    const through = isRoot ? ['setpriv', '--bounding-set=-all'] : [];
    const { code, stderr } = await run(['keys', 'list'], { folder, through });
    chmodSync(folder, 0o700);
    expect([code, stderr]).toEqual([
      1,
      `domain-risk: cannot read ${join(folder, 'domain-risk.db')} (EACCES): run it as the user of the service\n`,
    ]);
    if (!isRoot) return;
    // As a version before left what root had restored, but for who is who.
    const path = join(folder, 'domain-risk.db');
    writeFileSync(path, 'x', { mode: 0o600 });
    chownSync(path, 65_534, 65_534);
    const started = await run(['keys', 'list'], { folder, through });
    expect(started.stderr).toBe(
      `domain-risk: cannot read ${path} (EACCES): it belongs to another user than its folder; as root: chown --reference="${folder}" "${path}"*\n`,
    );
  },
);

test.skipIf(isRoot && !hasTool('setpriv'))(
  'a store that may only be read is told of by its name, and goes on once it may be written',
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'domain-risk.db');
    await (await storeAt(path)).close();
    chmodSync(path, 0o400);
    const through = isRoot ? ['setpriv', '--bounding-set=-all'] : [];
    const list = () => run(['overrides', 'list'], { folder, through });
    const cannot = (file: string) => ({
      code: 1,
      stderr: `domain-risk: cannot write to the database ${path}: give this user write access to ${file}, or set DATA_DIR to another one\n`,
    });
    expect(await list()).toMatchObject(cannot(path));
    expect(readdirSync(folder)).toEqual(['domain-risk.db']);
    chmodSync(path, 0o600);
    // As SQLite leaves it where a copy that may only be read was looked at.
    writeFileSync(`${path}-shm`, '', { mode: 0o400 });
    expect(await list()).toMatchObject(cannot(`${path}-shm`));
    rmSync(`${path}-shm`);
    expect(await list()).toMatchObject({ code: 0, stderr: '' });
  },
);

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['', /Usage/],
  ['keys', /Usage/],
  ['dance', /unknown command/],
  ['keys create', /--name/],
  ['keys create --name a --key drk_abc', /unknown option/],
  ['keys create --name a drk_abc', /too many arguments/],
  ['keys create --name a --quota -1', /whole number/],
  ['keys create --name a --origin any --origin https://a.com', /--origin any is no limit: leave it out/],
  ['keys create --name a --origin https://a.com --origin any', /--origin any is no limit: leave it out/],
  ['keys update a --network any --network 192.0.2.0/24', /--network any is no limit: leave it out/],
  ['keys update a --network 192.0.2.0/24 --network any', /--network any is no limit: leave it out/],
  ['keys rotate a --overlap 999999d', /the overlap must be at most 366d/],
  ['keys update a', /--name, --note, --quota, --rate, --origin, --network or --expires/],
  ['overrides set example.com perhaps', /allow, deny, role/],
  ['keys create --name a --expires 2020-01-01', /2020-01-01 is past/],
  ['overrides set example.com deny --expires 2020-01-01', /2020-01-01 is past/],
  ['lookup co.uk', /not a domain/],
  ['lookup', /name a domain, or a file/],
  ['lookup example.com --key-file key', /--key-file needs --url/],
  ['migrate --from ./var/x.db', /--from must be like sqlite:\.\//],
  ['migrate --from sqlite:x.db', /DATABASE_URL \(or --to .*postgres:\/\//],
  ['top --reason safe', /disposable/],
];

test('wrong usage ends with exit code 2, an explanation on stderr, and nothing on stdout', async () => {
  const folder = join(temporaryFolder(), 'var');
  for (const [command, words] of WRONG) {
    const { code, stdout, stderr } = await run(command.split(' ').filter(Boolean), { folder });
    expect([command, code, stdout]).toEqual([command, 2, '']);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
  expect(existsSync(folder)).toBe(false);
});

const BAD_VALUES: readonly (readonly [string, (text: string) => unknown, readonly string[]])[] = [
  ['a quota', quotaValue, ['', '-1', '1.5', '1e3', '2147483649', 'none', '0x10']],
  ['a rate', rateValue, ['0', '-1', '0.5', 'unlimited']],
  ['a limit', limitValue, ['0', '1001', 'all', '1.0']],
  [
    'a date',
    dateValue,
    [
      '2020-01-01',
      '2026-11-14T12:00:00Z',
      '2027-02-30',
      '2027-13-01',
      '31.01.2027',
      'tomorrow',
      '2027-01-31T25:00:00Z',
    ],
  ],
  ['a duration', durationValue, ['soon', '5', '-5m', '1w', '']],
  ['an overlap', overlapValue, ['999999d', '367d', '8785h', '-1d', '5']],
  ['a domain', domainValue, ['', 'a@example.com', 'co.uk', 'https://example.com', 'nodot', '127.0.0.1']],
  [
    'an origin',
    checkedList('--origin', parseOrigin),
    ['example.com', 'https://example.com/a', 'null', 'https://*.com:x'],
  ],
  [
    'a network',
    checkedList('--network', parseNetwork),
    ['192.0.2.0/33', 'example.com', '2001:db8::/129', ''],
  ],
  ['a name', labelValue, ['', '   ', '\u200b', '\u202egnp.exe', 'two\nlines', 'x'.repeat(201)]],
];
test('an overlap may be as long as a leap year', () => {
  expect(overlapValue('366d')).toBe(LONGEST_OVERLAP * 1_000);
});

test.each(BAD_VALUES)('%s that makes no sense is wrong usage', (_, parse, values) => {
  for (const value of values) expect(() => parse(value), JSON.stringify(value)).toThrow(UsageProblem);
});
