import { describe, expect, it } from 'vitest';
import {
  parseFree,
  parseMailboxes,
  parseProtected,
  parseProviders,
  parseRoles,
  parseTables,
} from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';

describe('the tables that ship in data/', () => {
  it('are well-formed', async () => {
    const tables = parseTables(await readTables());
    expect(tables.providers.length).toBeGreaterThanOrEqual(370);
    expect(tables.roles.has('noreply')).toBe(true);
    expect(tables.relays.get('duck.com')).toBe('DuckDuckGo Email Protection');
  });

  it('mark 50 canaries, none of them a disposable service', async () => {
    const { mailboxes } = parseTables(await readTables());
    const canaries = [...mailboxes.values()].filter(({ canary }) => canary);
    expect(canaries).toHaveLength(50);
    expect(canaries.every(row => row.class === 'consumer_webmail')).toBe(true);
  });

  it('contradict themselves nowhere', async () => {
    const tables = parseTables(await readTables());
    for (const name of tables.free.add) expect(tables.free.remove, name).not.toContain(name);
    for (const name of tables.relays.keys()) expect([...tables.mailboxes.keys()], name).not.toContain(name);
    for (const [name, row] of tables.mailboxes)
      if (row.class === 'consumer_webmail') expect(tables.free.remove, name).not.toContain(name);
  });
});

const PROVIDERS = 'suffix,label,class\n';
const MAILBOXES = 'domain,label,class,canary\n';
const PROTECTED = 'domain,kind,label\n';
const FREE = 'domain,change,note\n';

describe('a malformed row ends the start and names its file and line', () => {
  it.each<[string, () => unknown, string]>([
    [
      'no header',
      () => parseProviders('google.com,Google,hosting'),
      'data/providers.csv:1: the first row must be',
    ],
    ['an empty file', () => parseProviders(''), 'data/providers.csv:1: the first row must be'],
    [
      'no rows',
      () => parseProviders('# only a comment\nsuffix,label,class\n'),
      'data/providers.csv:2: the table has no rows',
    ],
    [
      'a cell too few',
      () => parseProviders(`${PROVIDERS}\n# note\ngoogle.com,Google`),
      'data/providers.csv:4: 2 cells',
    ],
    [
      'a cell too many',
      () => parseProviders(`${PROVIDERS}google.com,Google, Inc.,hosting`),
      'data/providers.csv:2: 4 cells',
    ],
    [
      'an unknown class',
      () => parseProviders(`${PROVIDERS}google.com,Google,webmale`),
      'data/providers.csv:2: class "webmale": must be one of',
    ],
    [
      'an empty label',
      () => parseProviders(`${PROVIDERS}google.com,,hosting`),
      'data/providers.csv:2: label is empty',
    ],
    [
      'a single label as suffix',
      () => parseProviders(`${PROVIDERS}localhost,x,parked`),
      'data/providers.csv:2: suffix "localhost"',
    ],
    [
      'an IP as suffix',
      () => parseProviders(`${PROVIDERS}0.0.0.0,x,parked`),
      'data/providers.csv:2: suffix "0.0.0.0"',
    ],
    [
      'a public suffix',
      () => parseProviders(`${PROVIDERS}co.uk,x,hosting`),
      'data/providers.csv:2: suffix "co.uk"',
    ],
    ['capitals', () => parseProviders(`${PROVIDERS}Google.com,x,hosting`), 'write it as google.com'],
    [
      'the same row twice',
      () => parseProviders(`${PROVIDERS}a.com,x,hosting\na.com,y,hosting`),
      'data/providers.csv:3: a.com stands in line 2',
    ],
    [
      'a canary that is neither yes nor no',
      () => parseMailboxes(`${MAILBOXES}a.com,A,hosting,maybe`),
      'data/mailboxes.csv:2: canary "maybe"',
    ],
    [
      'an unknown kind',
      () => parseProtected(`${PROTECTED}a.com,parent,`),
      'data/protected.csv:2: kind "parent"',
    ],
    [
      'a relay without label',
      () => parseProtected(`${PROTECTED}a.com,relay,`),
      'data/protected.csv:2: label is empty',
    ],
    [
      'a label on what is no relay',
      () => parseProtected(`${PROTECTED}a.com,name,A`),
      'data/protected.csv:2: only a relay',
    ],
    ['an unknown change', () => parseFree(`${FREE}a.com,plus,x`), 'data/free.csv:2: change "plus"'],
    [
      'a free name below a registrable domain',
      () => parseFree(`${FREE}x.a.com,add,x`),
      'data/free.csv:2: x.a.com is not a registrable',
    ],
    [
      'two words in a line',
      () => parseRoles('noreply\nno reply'),
      'data/roles.txt:2: not one lower-case label',
    ],
    ['a word twice', () => parseRoles('bounce\n\nbounce'), 'data/roles.txt:3: bounce stands here twice'],
  ])('%s', (_, parse, problem) => {
    expect(parse).toThrow(problem);
  });

  it('takes Windows line ends, spaces around cells and comments', () => {
    expect(parseProviders('# c\r\nsuffix,label,class\r\n\r\n google.com , Google , hosting \r\n')).toEqual([
      { suffix: 'google.com', label: 'Google', class: 'hosting' },
    ]);
  });
});
