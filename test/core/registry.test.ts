import { describe, expect, it } from 'vitest';
import { registrableDomain } from '../../src/core/domain.ts';
import type { Feed } from '../../src/core/feed.ts';
import { isRegistry } from '../../src/core/registry.ts';
import { takeSnapshot } from '../../src/core/snapshot.ts';

const SELLING = ['com.se', 'co.nl', 'co.ua', 'biz.dk', 'ltd.ua', 'co.place', 'org.scot'];
const COUNTRIES = ['us.org', 'gr.com', 'za.bz', 'africa.com', 'jpn.org', 'fr.eu.org', 'uk.com'];
const PUBLIC_BODIES = ['gov.scot', 'service.gov.uk', 'gov.nl', 'edu.ru', 'ac.ru', 'sp.leg.br', 'sch.wf'];
const GIVEN_AWAY = [
  'duckdns.org',
  'pp.ua',
  'eu.cc',
  'cc.cd',
  'us.kg',
  'f5.si',
  'js.org',
  'biz.tm',
  'mooo.com',
];

const FEED: Feed = {
  id: 'list',
  kind: 'disposable',
  family: 'verified',
  licence: 'MIT',
  origin: 'a list',
  atLeast: 0,
};

describe('one line of a feed', () => {
  it('does not cover everybody below a registry: it is dropped and counted', () => {
    const registries = [...SELLING, ...COUNTRIES, ...PUBLIC_BODIES];
    // All of them are suffixes of the private part: the ICANN part is dropped anyway.
    expect(registries.filter(name => registrableDomain(name) !== undefined)).toEqual([]);
    const { names, dropped } = takeSnapshot(FEED, { version: '1', names: ['burner.com', ...registries] });
    expect(names).toEqual(['burner.com']);
    expect(dropped.suffix).toBe(registries.length);
  });

  it('may name a suffix that gives names away', () => {
    expect(GIVEN_AWAY.filter(name => registrableDomain(name) !== undefined)).toEqual([]);
    expect(takeSnapshot(FEED, { version: '1', names: GIVEN_AWAY }).names).toEqual(GIVEN_AWAY);
  });

  it.each([
    'firm.com.se',
    'ac.com',
    'hp.com',
    'co.com.example.net',
    'city.gov.scot',
    'uni.ac.ru',
    'a.fr.eu.org',
  ])('may name %s, which somebody registered', name => {
    expect(isRegistry(name)).toBe(false);
  });
});
