import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigRefused, readConfig, SETTINGS } from '../src/config.ts';

const text = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

test('the table of settings in the README and .env.example are what the service reads', () => {
  const rows = Object.entries(SETTINGS).map(
    ([name, { fallback, help }]) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`,
  );
  expect(text('README.md')).toContain(rows.join('\n'));
  const shown = text('.env.example').match(/^[A-Z_]+=.*$/gm);
  expect(shown).toEqual(Object.entries(SETTINGS).map(([name, { fallback }]) => `${name}=${fallback}`));
});

test('every bad value is named with its fix, all at once', () => {
  const bad = { PORT: 'eighty', LOG_LEVEL: 'loud', DNS_SERVERS: 'dns.example', TRUST_PROXY: '10.0.0.0/99' };
  expect(() => readConfig(bad)).toThrow(ConfigRefused);
  for (const name of Object.keys(bad)) expect(() => readConfig(bad)).toThrow(`${name}=`);
});
