import { expect, it } from 'vitest';
import type { Family, FeedKind, Snapshot } from '../../src/core/feed.ts';
import { knownFrom } from '../../src/core/known.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';
import type { Tables } from '../../src/core/tables.ts';

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
    list('disposable', 'verified', ['seen-by-people.com', 'by-both.com']),
    list('disposable', 'broad', ['broad.com', 'by-both.com', 'uni.edu', 'relay.com']),
    list('disposable', 'telemetry', ['telemetry.com']),
    list('disposable', 'broad', ['netlify.app', 'duckdns.org', 'a.b.farm.com', 'x.seen-by-people.com']),
    list('popular', 'broad', [
      ...['popular.com', 'by-both.com', 'www.shop.co.uk', 'project.github.io', 'other.github.io'],
      ...['x.netlify.app', 'club.fr.eu.org', 'x.mooo.com', 'one.duckdns.org'],
    ]),
    list('academic', 'broad', ['uni.edu']),
    list('free', 'broad', ['free.com']),
    list('relay', 'broad', ['other-relay.com']),
  ],
  TABLES,
);

it.each([
  ['broad.com', true],
  ['telemetry.com', true],
  // No list of innocent names clears what a verified one has.
  ['seen-by-people.com', false],
  ['by-both.com', false],
  // Cleared already, which does not make it another name.
  ['uni.edu', true],
  ['relay.com', true],
  ['popular.com', false],
  // What is below it would be cleared with it.
  ['farm.com', true],
  ['b.farm.com', true],
  ['c.b.farm.com', false],
  ['com', false],
])('%s is one that a list of innocent names could clear: %s', (name, isClearable) => {
  expect(known.isClearable(name)).toBe(isClearable);
});

it.each([
  ['popular.com', true],
  // A verified list that names it in use must not hide what it named last time.
  ['by-both.com', true],
  ['uni.edu', true],
  ['alumni.uni.edu', true],
  ['a.b.uni.edu', true],
  ['uni.edu.com', false],
  ['myuni.edu', false],
  ['x.company.com', false],
  ['x.hoster.net', false],
  ['protected.com', true],
  ['relay.com', true],
  ['a1.net', true],
  ['web.de', true],
  ['hoster.net', true],
  ['burner-host.net', false],
  ['burner-box.com', false],
  ['company.com', false],
  // Lists of free providers are full of disposable names, and whoever writes one of relays writes himself in.
  ['free.com', false],
  ['other-relay.com', false],
])('%s is known as innocent: %s', (name, isInnocent) => {
  expect(known.isInnocent(name)).toBe(isInnocent);
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
