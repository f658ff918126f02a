import { describe, expect, it } from 'vitest';
import type { FeedSource } from '../src/core/feed.ts';
import { readTables } from '../src/feeds/tables.ts';
import { buildCatalog } from '../src/refresh.ts';

function source(id: string, names: string[], version = '1.0.0'): FeedSource {
  const feed = {
    id,
    kind: 'disposable' as const,
    verified: false,
    licence: 'MIT',
    origin: `list ${id}`,
    atLeast: 1,
  };
  return { feed, read: async () => ({ version, names }) };
}

const build = (...feeds: FeedSource[]) => buildCatalog({ feeds, tables: () => readTables() }, () => {});

describe('building a catalog', () => {
  it('tells its progress feed by feed, up to the end', async () => {
    const told: unknown[] = [];
    const feeds = [source('a', ['a.com']), source('b', ['b.com'])];
    await buildCatalog({ feeds, tables: () => readTables() }, (...progress) => told.push(progress));
    expect(told).toEqual([
      ['a', 0, 2],
      ['b', 1, 2],
      ['catalog', 2, 2],
    ]);
  });

  it('gives the same generation for the same feeds and another one for a new version', async () => {
    const { generation } = await build(source('a', ['a.com']));
    expect(generation).toMatch(/^[0-9a-f]{12}$/);
    expect((await build(source('a', ['a.com']))).generation).toBe(generation);
    expect((await build(source('a', ['a.com'], '1.0.1'))).generation).not.toBe(generation);
  });

  it('fails whole when one feed is broken', async () => {
    await expect(build(source('a', ['a.com']), source('b', ['no name']))).rejects.toThrow(
      'list b: 0 usable names',
    );
  });

  it('fails when a feed names one of the largest mailbox providers', async () => {
    await expect(build(source('a', ['a.com', 'gmail.com']))).rejects.toThrow('list a names gmail.com');
  });

  it('fails when a table is broken, before any feed is read', async () => {
    const broken: FeedSource = { ...source('a', []), read: () => Promise.reject(new Error('read')) };
    const tables = async () => ({ ...(await readTables()), 'roles.txt': 'Not A Word' });
    await expect(buildCatalog({ feeds: [broken], tables }, () => {})).rejects.toThrow('data/roles.txt:1:');
  });
});
