import { expect, it } from 'vitest';
import { registrableDomain } from '../../src/core/domain.ts';
import { doubtOf } from '../../src/core/doubt.ts';
import type { Family, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { knownFrom } from '../../src/core/known.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import { parseTables, type Tables } from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';

const TABLES: Tables = {
  providers: [
    { suffix: 'mx.hoster.net', label: 'Hoster', class: 'hosting' },
    { suffix: 'burner-host.net', label: 'Burner', class: 'disposable' },
  ],
  mailboxes: new Map([
    ['gmail.com', { label: 'Gmail', class: 'consumer_webmail', canary: true }],
    ['web.de', { label: 'WEB.DE', class: 'consumer_webmail', canary: false }],
    ['burner-box.com', { label: 'Burner', class: 'disposable', canary: false }],
  ]),
  protected: new Set(['protected.com']),
  suffixes: new Set(),
  relays: new Map([['relay.com', 'Relay']]),
  free: { add: new Set(['a1.net']), remove: new Set(['company.com']) },
  roles: new Set(),
};

function list(kind: FeedKind, family: Family, names: readonly string[]): Snapshot {
  const feed = { id: `${kind}-${family}`, kind, family, licence: 'MIT', origin: 'here', atLeast: 0 };
  return takeSnapshot(feed, { version: '1', names });
}

const known = knownFrom(
  [
    list('disposable', 'verified', ['seen-by-people.com', 'by-both.com', 'named.parent.com', 'mooo.com']),
    list('disposable', 'broad', ['broad.com', 'by-both.com', 'uni.edu', 'relay.com']),
    list('disposable', 'telemetry', ['telemetry.com']),
    list('disposable', 'broad', ['netlify.app', 'duckdns.org', 'a.b.farm.com', 'x.seen-by-people.com']),
    list('popular', 'broad', [
      ...['popular.com', 'by-both.com', 'www.shop.co.uk', 'project.github.io', 'other.github.io'],
      ...['x.netlify.app', 'club.fr.eu.org', 'x.mooo.com', 'one.duckdns.org'],
    ]),
    list('academic', 'broad', ['uni.edu', 'uni-of-x.com', 'duckdns.org']),
    list('protected', 'broad', ['own.protected.net']),
    list('free', 'broad', ['free.com']),
    list('relay', 'broad', ['other-relay.com']),
  ],
  TABLES,
);

/** Each list of innocent names that would clear it. */
const CLEARING = ['popular', 'free', 'relay', 'academic', 'protected'] as const;
const [ALL, NONE] = [CLEARING, [] as const];
/** What is below a name that one of these has is theirs, whatever lists say of its parents. */
const GUARDING = CLEARING.slice(2);

it.each<[string, readonly FeedKind[]]>([
  ['broad.com', ALL],
  ['telemetry.com', ALL],
  // What a verified list has is cleared by an operator's list of protected names alone.
  ['seen-by-people.com', ['protected']],
  ['by-both.com', ['protected']],
  ['mail.by-both.com', ['protected']],
  // Cleared already, which does not make it another name.
  ['uni.edu', ALL],
  ['relay.com', ALL],
  ['popular.com', NONE],
  // What is below it would be cleared with it.
  ['farm.com', ALL],
  ['b.farm.com', ALL],
  ['c.b.farm.com', NONE],
  // A verified list goes on naming what is below a protected name.
  ['parent.com', NONE],
  ['com', NONE],
  // It is listed by its parent.
  ['mail.broad.com', GUARDING],
  ['a.mail.telemetry.com', GUARDING],
  ['x.seen-by-people.com', ALL],
  // So it is below a suffix, where many people use it: one line each cleared a thousand (2026-11-18).
  ['evil.duckdns.org', ['popular', ...GUARDING]],
  ['mail.evil.duckdns.org', GUARDING],
  ['evil.mooo.com', ['popular', 'protected']],
  // Nobody can list its parent.
  ['mail.relay.com', NONE],
])('%s is one that lists of these kinds could clear: %j', (name, kinds) => {
  expect(CLEARING.filter(kind => known.isClearable(name, kind))).toEqual(kinds);
});

it.each([
  ['popular.com', true],
  ['uni-of-x.com', true],
  ['free.com', false],
  ['gmail.com', false],
  ['nobody.com', false],
])('%s is known for something else than webmail: %s', (name, isNoWebmail) => {
  expect(known.isNoWebmail(name)).toBe(isNoWebmail);
});

it.each([
  'popular.com',
  // A verified list that names it in use must not hide what it named last time.
  'by-both.com',
  'uni.edu',
  'protected.com',
  'own.protected.net',
  'relay.com',
  'a1.net',
  'web.de',
  'hoster.net',
  'town.gov.uk',
])('%s is known as innocent', name => {
  expect(known.innocentOf(name)).toBe(name);
});

it.each([
  // Whoever named their owner would have named them all.
  ['mail.popular.com', 'popular.com'],
  ['alumni.uni-of-x.com', 'uni-of-x.com'],
  ['a.b.uni-of-x.com', 'uni-of-x.com'],
  ['alumni.uni.edu', 'uni.edu'],
  ['x.project.github.io', 'project.github.io'],
  ['news.town.gov.uk', 'town.gov.uk'],
  ['vip.a1.net', 'a1.net'],
  // Nobody can name theirs.
  ['mail.protected.com', 'mail.protected.com'],
  ['a.own.protected.net', 'a.own.protected.net'],
  ['x.relay.com', 'x.relay.com'],
  ['x.web.de', 'x.web.de'],
])('%s is innocent and counts as %s', (name, counts) => {
  expect(known.innocentOf(name)).toBe(counts);
});

it.each([
  'uni.edu.com',
  'myuni-of-x.com',
  'x.company.com',
  // Anybody may have a name below that of a hosting company or below a public suffix.
  'x.hoster.net',
  'x.github.io',
  'x.duckdns.org',
  'burner-host.net',
  'burner-box.com',
  'x.burner-box.com',
  'company.com',
  // Lists of free providers are full of disposable names, and whoever writes one of relays writes himself in.
  'free.com',
  'other-relay.com',
])('%s is not known as innocent', name => {
  expect(known.innocentOf(name)).toBeUndefined();
});

it.each([
  ['github.io', 'project.github.io'],
  ['fr.eu.org', 'club.fr.eu.org'],
  // Named already, given away by our own table, no suffix of strangers, or one that no list can name.
  ['netlify.app', undefined],
  ['duckdns.org', undefined],
  ['mooo.com', undefined],
  ['eu.org', undefined],
  ['popular.com', undefined],
  ['shop.co.uk', undefined],
  ['co.uk', undefined],
  ['com', undefined],
])('below the suffix %s is the innocent name %s', (suffix, name) => {
  expect(known.innocentBelow(suffix)).toBe(name);
});

it('the canaries are those of the table', () => {
  expect([...known.canaries]).toEqual(['gmail.com']);
});

it('a list with four names below each company of our own tables is refused, of any family', async () => {
  const tables = parseTables(await readTables());
  const companies = [...tables.protected].filter(name => registrableDomain(name) === name);
  const lines = companies.flatMap(name => ['mail', 'corp', 'email', 'notify'].map(one => `${one}.${name}`));
  const before = Array.from({ length: 1_000 }, (_, at) => `throwaway${at}.com`);
  for (const family of ['verified', 'telemetry', 'broad'] as const) {
    const [inUse, fresh] = [before, [...before, ...lines]].map(names => list('disposable', family, names));
    const held = { ...knownFrom([], tables), installed: inUse!, today: 20_758 };
    expect(doubtOf(fresh!, inUse!, held).problems).toEqual([
      expect.stringMatching(`^${lines.length} of its ${1_000 + lines.length} names .* innocent`),
    ]);
  }
});
