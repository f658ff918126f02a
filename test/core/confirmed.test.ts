import { describe, expect, it, vi } from 'vitest';
import { allSuffixes } from '../../src/core/all-suffixes.ts';
import { confirming } from '../../src/core/confirmed.ts';
import type { Override, OverrideAction } from '../../src/core/override.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import type { TableTexts } from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';
import { catalogOf } from '../support/catalog.ts';

const NOW = Date.UTC(2026, 10, 16);

const override = (
  domain: string,
  action: OverrideAction,
  below: boolean,
  expiresAt: number | null = null,
): Override => ({
  ...{ domain, action, below, note: null, author: null, createdAt: 0, expiresAt },
});

/** The people at `inner.sure.org` are protected. */
async function withInnocentBelow(): Promise<TableTexts> {
  const texts = await readTables();
  return { ...texts, 'protected.csv': `${texts['protected.csv'].trimEnd()}\ninner.sure.org,name,\n` };
}

async function confirmed(overrides: readonly Override[] = []): Promise<string[]> {
  const lists = {
    telemetry: ['both.com', 'seen.com', 'used.com'],
    verified: ['sure.org', 'free.com', 'deep.sure.net', 'mooo.com', 'riseup.net'],
    popular: ['used.com'],
  };
  const catalog = await catalogOf(
    ['broad.com', 'both.com', 'used.com', 'mooo.com'],
    lists,
    withInnocentBelow,
  );
  const byName = new Map(overrides.map(one => [one.domain, one]));
  return [...allAtOnce(confirming({ catalog, overrides: byName }, NOW, allSuffixes())).names].sort();
}

describe('a name that a filter may tell', () => {
  it('is on a verified list or on those of two families, and neither a suffix, nor widely used, nor above an innocent one', async () => {
    expect(await confirmed()).toEqual(['both.com', 'deep.sure.net', 'free.com']);
  });

  it.each<[string, Override[], string[]]>([
    ['allowed', [override('free.com', 'allow', false)], ['both.com', 'deep.sure.net']],
    ['allowed below', [override('x.y.free.com', 'allow', false)], ['both.com', 'deep.sure.net']],
    ['allowed above', [override('sure.net', 'allow', true)], ['both.com', 'free.com']],
    ['a role', [override('both.com', 'role', false)], ['deep.sure.net', 'free.com']],
    ['a role below', [override('a.both.com', 'role', false)], ['deep.sure.net', 'free.com']],
    [
      'denied with all below',
      [override('bad.com', 'deny', true)],
      ['bad.com', 'both.com', 'deep.sure.net', 'free.com'],
    ],
    [
      'denied with all below where it is listed: once',
      [override('both.com', 'deny', true)],
      ['both.com', 'deep.sure.net', 'free.com'],
    ],
    ['denied alone', [override('bad.com', 'deny', false)], ['both.com', 'deep.sure.net', 'free.com']],
    [
      'denied alone where it is listed: what is below it is not denied by that, and listed',
      [override('both.com', 'deny', false)],
      ['deep.sure.net', 'free.com'],
    ],
    [
      'denied until yesterday',
      [override('bad.com', 'deny', true, NOW)],
      ['both.com', 'deep.sure.net', 'free.com'],
    ],
  ])('is not, or is, as an operator says: %s', async (_, overrides, names) => {
    expect(await confirmed(overrides)).toEqual(names);
  });

  it('is no name that is spared: suffixes, innocents, what is allowed, and all above these', async () => {
    const catalog = await catalogOf([], { verified: ['sure.net'] }, withInnocentBelow);
    const overrides = [override('inner.sure.org', 'deny', true), override('a.b.good.com', 'allow', false)];
    const byName = new Map(overrides.map(one => [one.domain, one]));
    const { names, spared } = allAtOnce(confirming({ catalog, overrides: byName }, NOW, allSuffixes()));
    expect([...names]).toEqual(['sure.net', 'inner.sure.org']);
    expect([...names].filter(name => spared.names.has(name) || spared.suffixes.has(name))).toEqual([]);
    for (const name of ['sure.org', 'a.b.good.com', 'good.com']) expect(spared.names).toContain(name);
    for (const name of ['mooo.com', 'edu.om']) expect(spared.suffixes).toContain(name);
  });

  it('is found by those above it, where it has more than two labels', async () => {
    const catalog = await catalogOf([], { verified: ['sure.net', 'a.b.sure.net', 'c.co.uk'] });
    const { above } = allAtOnce(confirming({ catalog, overrides: new Map() }, NOW, allSuffixes()));
    expect([...above].sort()).toEqual(['b.sure.net', 'co.uk', 'sure.net']);
  });

  it('is found in steps of twenty', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `n${at}.com`);
    const catalog = await catalogOf([], { verified: names });
    const listed = vi.spyOn(catalog, 'listed');
    let most = 0;
    for (const _ of confirming({ catalog, overrides: new Map() }, NOW, allSuffixes())) {
      most = Math.max(most, listed.mock.calls.length);
      listed.mockClear();
    }
    expect(most).toBe(20);
  });
});
