import { expect, test } from 'vitest';
import type { FeedSource } from '../../src/core/feed.ts';
import { readTables } from '../../src/feeds/tables.ts';
import { buildCatalog } from '../../src/refresh.ts';
import { startTestService } from '../support/service.ts';

function feedOf(names: string[]): FeedSource {
  const feed = { kind: 'disposable', verified: true, licence: 'MIT', atLeast: 1 } as const;
  return { feed: { ...feed, id: 'own', origin: 'list own' }, read: async () => ({ version: '1', names }) };
}

test('a running server takes a new catalog as a whole, and keeps the last good one when the next is broken', async () => {
  const service = await startTestService();
  const { secret } = await service.key();
  const listed = async (name: string) => {
    const response = await service.get(`/v1/public/domain/${name}`, secret);
    return ((await response.json()) as { reason: string }).reason === 'disposable';
  };
  expect([await listed('0-mail.com'), await listed('new-one.com')]).toEqual([true, false]);

  await service.reload(() =>
    buildCatalog({ feeds: [feedOf(['new-one.com'])], tables: readTables }, () => {}),
  );
  expect([await listed('0-mail.com'), await listed('new-one.com')]).toEqual([false, true]);

  const brokenTable = async () => ({ ...(await readTables()), 'roles.txt': 'Not A Word' });
  for (const build of [
    () => buildCatalog({ feeds: [feedOf([])], tables: readTables }, () => {}),
    () => buildCatalog({ feeds: [feedOf(['other.com'])], tables: brokenTable }, () => {}),
  ]) {
    await service.reload(build);
    expect([await listed('0-mail.com'), await listed('new-one.com')]).toEqual([false, true]);
  }
  expect(service.logged.filter(line => line.includes('last good one stays'))).toHaveLength(2);
  expect(service.logged.join('')).toContain('data/roles.txt:1:');
});
