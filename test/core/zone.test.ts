import { expect, it } from 'vitest';
import { zoneOf } from '../../src/core/zone.ts';

const PROTECTED = new Set(['eu.org', 'pp.ru', 'uk.com']);
const catalog = { isSuffix: (name: string) => PROTECTED.has(name) };

it.each([
  ['a name', 'mail.firm.com', 'firm.com'],
  ['below a registry of a country', 'mail.firm.co.uk', 'firm.co.uk'],
  ['below a registry of the private part', 'mail.firm.co.ua', 'firm.co.ua'],
  ['below another', 'firm.com.de', 'firm.com.de'],
  ['that is such a registry itself', 'co.ua', 'co.ua'],
  ['below a protected registry', 'mail.firm.uk.com', 'firm.uk.com'],
  ['below one that gives names away', 'x.club.eu.org', 'eu.org'],
  ['below another of these', 'club.pp.ru', 'pp.ru'],
  ['below one that is called like a registry, and protected by nobody', 'club.net.ru', 'net.ru'],
  ['below a suffix that gives names away', 'x.mine.duckdns.org', 'duckdns.org'],
  ['below one in a country', 'x.mine.pp.ua', 'pp.ua'],
  ['below one that is called like a registry', 'x.mine.biz.tm', 'biz.tm'],
])('domains are counted as they were registered: %s', (_, name, zone) => {
  expect(zoneOf(name, catalog)).toBe(zone);
});
