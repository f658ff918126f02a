import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepKey } from '../../src/commands/key-file.ts';
import { CommandFailed, showOnce } from '../../src/commands/print.ts';
import { welcome } from '../../src/commands/welcome.ts';
import { readConfig } from '../../src/config.ts';
import { digestOf } from '../../src/core/key.ts';
import type { Store } from '../../src/core/ports.ts';
import { createOperate, newSecret } from '../../src/operate.ts';
import { openBeside, SECRET } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

/** What a start with an empty store says, on both streams. */
async function firstStart(
  env: Record<string, string>,
  folder = temporaryFolder(),
  {
    store: given,
    invite,
    hasTerminal,
    onOutput = () => {},
  }: {
    store?: Store;
    invite?: (secret: string) => string;
    hasTerminal?: boolean;
    onOutput?: () => void;
  } = {},
) {
  const store = given ?? (await openBeside(folder));
  const said: string[] = [];
  const spies = [process.stdout, process.stderr].map(stream =>
    vi.spyOn(stream, 'write').mockImplementation(text => {
      if (stream === process.stdout) onOutput();
      return said.push(String(text)) > 0;
    }),
  );
  onTestFinished(() => spies.forEach(spy => void spy.mockRestore()));
  const address = { host: '127.0.0.1', port: 8080 };
  await welcome({ address, store, invite }, readConfig({ DATA_DIR: folder, ...env }), hasTerminal).finally(
    () => spies.forEach(spy => void spy.mockRestore()),
  );
  return { store, said: said.join('') };
}

const opens = async (store: Store, secret: string) => (await store.keyByDigest(digestOf(secret))).key?.name;

test('the first key is printed, once', async () => {
  const { store, said } = await firstStart({});
  expect(await opens(store, SECRET.exec(said)![0])).toBe('first');
});

test('one that could not be written is told of, with the way to another, and the service goes on', async () => {
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(() => process.stdout.emit('error', full));
  await expect(showOnce(() => process.stdout.write('secret'), 'rotate it')).rejects.toThrow(
    /^it could not be shown \(ENOSPC\): rotate it$/,
  );
  out.mockRestore();
  const { store, said } = await firstStart({}, undefined, {
    onOutput: () => process.stdout.emit('error', full),
  });
  expect(said).toContain(
    'it could not be shown (ENOSPC): nobody has the first API key: "domain-risk keys rotate first"',
  );
  expect(await store.listKeys()).toHaveLength(1);
});

test('on a terminal a link is printed too, that gives this very key away; elsewhere there is none', async () => {
  const offered: string[] = [];
  const invite = (secret: string) => `code${offered.push(secret)}`;
  const { said } = await firstStart({}, undefined, { invite, hasTerminal: true });
  expect(said).toContain('http://127.0.0.1:8080/#/welcome/code1\n');
  expect(offered).toEqual([SECRET.exec(said)![0]]);
  await firstStart({}, undefined, { invite, hasTerminal: false });
  await firstStart({ FIRST_KEY: newSecret() }, undefined, { invite, hasTerminal: true });
  expect(offered).toHaveLength(1);
});

test('a key given in the environment is the first one, and nothing is printed of it', async () => {
  const FIRST_KEY = newSecret();
  const { store, said } = await firstStart({ FIRST_KEY });
  expect(await opens(store, FIRST_KEY)).toBe('first');
  expect(said).not.toMatch(SECRET);
  expect(said).toContain('the first API key is the one of FIRST_KEY\n');
});

test('with FIRST_KEY_FILE it is written there, for its user only; what the file holds already is taken', async () => {
  const file = join(temporaryFolder(), 'first');
  const written = await firstStart({ FIRST_KEY_FILE: file });
  const secret = readFileSync(file, 'utf8').trim();
  expect(await opens(written.store, secret)).toBe('first');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(written.said).not.toMatch(SECRET);
  const taken = await firstStart({ FIRST_KEY_FILE: file });
  expect(await opens(taken.store, secret)).toBe('first');
});

test('a key that is none of those in the store already is told of, and not one that is', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'first');
  const [FIRST_KEY, another] = [newSecret(), newSecret()];
  const store = await openBeside(folder);
  const start = async (env: Record<string, string>) => (await firstStart(env, folder, { store })).said;
  const unused = (from: string) => `the key of ${from} is not used: this store has keys already`;
  await start({ FIRST_KEY });
  expect(await start({ FIRST_KEY })).not.toContain('not used');
  expect(await start({ FIRST_KEY: another })).toContain(unused('FIRST_KEY'));
  writeFileSync(file, FIRST_KEY);
  expect(await start({ FIRST_KEY_FILE: file })).not.toContain('not used');
  writeFileSync(file, another);
  expect(await start({ FIRST_KEY_FILE: file })).toContain(unused(file));
  for (const text of ['', 'no key']) {
    writeFileSync(file, text);
    expect(await start({ FIRST_KEY_FILE: file })).not.toContain(file);
  }
  const operate = createOperate({ store, clock: Date.now });
  await operate.rotateKey((await store.listKeys())[0]!.id, { overlap: 0 }, { who: 'op', via: 'test' });
  expect(await start({ FIRST_KEY })).toContain(unused('FIRST_KEY'));
});

test('a file that was left empty, as by a disk that was full, is written as if it were not there', async () => {
  const file = join(temporaryFolder(), 'first');
  writeFileSync(file, '', { mode: 0o644 });
  symlinkSync(file, `${file}-link`);
  const { store } = await firstStart({ FIRST_KEY_FILE: `${file}-link` });
  expect(await opens(store, readFileSync(file, 'utf8').trim())).toBe('first');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(file)).sort()).toEqual(['first', 'first-link']);
});

test('a key that could be written by half only leaves no file, and the next start is free', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'first');
  const write = ((file: number, text: string) => {
    writeSync(file, text.slice(0, 20));
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  }) as typeof writeFileSync;
  expect(() => keepKey(path, newSecret(), write)).toThrow(
    new CommandFailed(`FIRST_KEY_FILE: cannot write ${path} (ENOSPC): free some space`),
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a link that leads nowhere is named as such, with what to do', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'first');
  symlinkSync(join(folder, 'target'), path);
  expect(() => keepKey(path, newSecret())).toThrow(
    `FIRST_KEY_FILE: ${path} is a link to a file that is not there (ENOENT): make that file`,
  );
  expect(readdirSync(folder)).toEqual(['first']);
});

test('of two servers that share the file and start at once, both go on with the key that was there first', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'first');
  const [one, other] = [newSecret(), newSecret()];
  expect([keepKey(path, one), keepKey(path, other)]).toEqual([one, one]);
  expect(readdirSync(folder)).toEqual(['first']);
});

test('where another server made the first key meanwhile, no file stays with a key that opens nothing', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'first');
  const { store } = await firstStart({ FIRST_KEY: newSecret() }, folder);
  const late = { ...store, listKeys: async () => [] };
  const { said } = await firstStart({ FIRST_KEY_FILE: file }, folder, { store: late });
  expect(said).toContain(`another server has just made the first API key: it is not in ${file}`);
  expect(existsSync(file)).toBe(false);
  const given = newSecret();
  writeFileSync(file, given);
  await firstStart({ FIRST_KEY_FILE: file }, folder, { store: late });
  expect(readFileSync(file, 'utf8')).toBe(given);
});

test('a file that cannot be written or holds no key stops the start, and no key is made', async () => {
  const folder = temporaryFolder();
  const file = join(temporaryFolder(), 'first');
  writeFileSync(file, 'no key');
  for (const path of [file, join(folder, 'none', 'first')])
    await expect(firstStart({ FIRST_KEY_FILE: path }, folder)).rejects.toThrow(CommandFailed);
  const store = await openBeside(folder);
  expect(await store.listKeys()).toEqual([]);
  // Where there are keys nobody needs the file.
  await firstStart({ FIRST_KEY: newSecret() }, folder);
  const unused = join(folder, 'unused');
  await firstStart({ FIRST_KEY_FILE: unused }, folder);
  expect(existsSync(unused)).toBe(false);
});
