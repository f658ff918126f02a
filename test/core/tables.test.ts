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

describe('what is wrong with a table is told whole', () => {
  it.each<[() => unknown, string]>([
    [() => parseProviders('x'), 'data/providers.csv:1: the first row must be suffix,label,class'],
    [() => parseProviders('\n\nx'), 'data/providers.csv:3: the first row must be suffix,label,class'],
    [() => parseMailboxes('x'), 'data/mailboxes.csv:1: the first row must be domain,label,class,canary'],
    [() => parseProtected('x'), 'data/protected.csv:1: the first row must be domain,kind,label'],
    [() => parseFree('x'), 'data/free.csv:1: the first row must be domain,change,note'],
    [() => parseFree(FREE), 'data/free.csv:1: the table has no rows'],
    [() => parseRoles('# nothing'), 'data/roles.txt:1: the table has no rows'],
    [() => parseRoles('No-Reply'), 'data/roles.txt:1: not one lower-case label: "No-Reply"'],
    [() => parseRoles('-noreply'), 'data/roles.txt:1: not one lower-case label: "-noreply"'],
    [() => parseRoles('noreply-'), 'data/roles.txt:1: not one lower-case label: "noreply-"'],
    [() => parseRoles('no--reply'), 'data/roles.txt:1: not one lower-case label: "no--reply"'],
    [() => parseRoles('no.reply'), 'data/roles.txt:1: not one lower-case label: "no.reply"'],
    [
      () => parseProviders(`${PROVIDERS}a.com,A`),
      'data/providers.csv:2: 2 cells, must be 3: suffix,label,class',
    ],
    [
      () => parseProviders(`${PROVIDERS}a.com,A,x`),
      'data/providers.csv:2: class "x": must be one of business_platform, security_gateway, consumer_webmail, mailbox_provider, hosting, forwarding, transactional, parked, disposable',
    ],
    [
      () => parseProviders(`${PROVIDERS}A.com,A,hosting`),
      'data/providers.csv:2: suffix "A.com": write it as a.com',
    ],
    [
      () => parseProviders(`${PROVIDERS}com,A,hosting`),
      'data/providers.csv:2: suffix "com": The name has one label only: send a full domain such as gmail.com.',
    ],
    [() => parseMailboxes(`${MAILBOXES}a.com,,hosting,no`), 'data/mailboxes.csv:2: label is empty'],
    [
      () => parseMailboxes(`${MAILBOXES}A.com,A,hosting,no`),
      'data/mailboxes.csv:2: domain "A.com": write it as a.com',
    ],
    [
      () => parseMailboxes(`${MAILBOXES}a.com,A,x,no`),
      'data/mailboxes.csv:2: class "x": must be one of business_platform, security_gateway, consumer_webmail, mailbox_provider, hosting, forwarding, transactional, parked, disposable',
    ],
    [
      () => parseMailboxes(`${MAILBOXES}a.com,A,hosting,x`),
      'data/mailboxes.csv:2: canary "x": must be one of yes, no',
    ],
    [
      () => parseProtected(`${PROTECTED}A.com,name,`),
      'data/protected.csv:2: domain "A.com": write it as a.com',
    ],
    [
      () => parseProtected(`${PROTECTED}a.com,x,`),
      'data/protected.csv:2: kind "x": must be one of name, suffix, relay',
    ],
    [() => parseProtected(`${PROTECTED}a.com,suffix,A`), 'data/protected.csv:2: only a relay has a label'],
    [() => parseFree(`${FREE}A.com,add,`), 'data/free.csv:2: domain "A.com": write it as a.com'],
    [() => parseFree(`${FREE}x.a.com,add,`), 'data/free.csv:2: x.a.com is not a registrable domain'],
    [() => parseFree(`${FREE}a.com,x,`), 'data/free.csv:2: change "x": must be one of add, remove'],
    [() => parseFree(`${FREE}a.com,add,\na.com,remove,`), 'data/free.csv:3: a.com stands in line 2 already'],
  ])('case %#', (parse, problem) => {
    expect(parse).toThrow(expect.objectContaining({ name: 'TableError', message: problem }));
  });
});

describe('a table is read into rows', () => {
  it('of mailboxes, protected names, relays, free providers and role words', () => {
    const tables = parseTables({
      'providers.csv': `${PROVIDERS}mx.net,The Host,hosting\n  # a remark\nmx.org,Other,parked`,
      'mailboxes.csv': `${MAILBOXES}a.com,A,consumer_webmail,yes\nb.com,B,disposable,no`,
      'protected.csv': `${PROTECTED}c.com,name,\nd.com,suffix,\ne.com,relay,The Relay`,
      'free.csv': `${FREE}f.com,add,why\ng.com,remove,`,
      'roles.txt': 'noreply\nno-reply\n\n# more\nbounce2',
    });
    expect(tables).toEqual({
      providers: [
        { suffix: 'mx.net', label: 'The Host', class: 'hosting' },
        { suffix: 'mx.org', label: 'Other', class: 'parked' },
      ],
      mailboxes: new Map([
        ['a.com', { label: 'A', class: 'consumer_webmail', canary: true }],
        ['b.com', { label: 'B', class: 'disposable', canary: false }],
      ]),
      protected: new Set(['c.com', 'd.com']),
      suffixes: new Set(['d.com']),
      relays: new Map([['e.com', 'The Relay']]),
      free: { add: new Set(['f.com']), remove: new Set(['g.com']) },
      roles: new Set(['noreply', 'no-reply', 'bounce2']),
    });
  });
});
