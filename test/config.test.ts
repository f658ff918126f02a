import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigRefused, readConfig, SETTINGS } from '../src/config.ts';

const text = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

test('the table of settings in docs/operate.md and .env.example are what the service reads', () => {
  const rows = Object.entries(SETTINGS).map(
    ([name, { fallback, help }]) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`,
  );
  expect(text('docs/operate.md')).toContain(rows.join('\n'));
  const shown = text('.env.example').match(/^[A-Z_]+=.*$/gm);
  expect(shown).toEqual(Object.entries(SETTINGS).map(([name, { fallback }]) => `${name}=${fallback}`));
});

/** In a container; and what only the balancer of that file decides. */
const SET_BY_IMAGE = ['PORT', 'HOST', 'DATA_DIR', 'DATABASE_URL'];

test.each([
  ['compose.yaml', [...SET_BY_IMAGE, 'TRUST_PROXY']],
  ['compose.sqlite.yaml', SET_BY_IMAGE],
])('every setting reaches the containers of %s, with its own default', (file, own) => {
  const passed = [...text(file).matchAll(/^ +([A-Z_]+): \$\{\1:?-(.*)\}$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  const left = Object.entries(SETTINGS).filter(([name]) => !own.includes(name));
  expect(passed).toEqual(left.map(([name, { fallback }]) => [name, fallback]));
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
