import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogOf } from '../support/catalog.ts';
import { hasPostgres, startPostgres } from '../support/postgres.ts';
import { runJson } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

describe.runIf(hasPostgres(true))('servers on one PostgreSQL', () => {
  test('all follow an update of a feed, and all go back when it is removed', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const env = { DATABASE_URL: await postgres.newDatabase() };
    const catalog = await catalogOf(['other.com']);
    const servers = await Promise.all([1, 2].map(() => startTestService({ env, catalog, followMs: 50 })));
    const { secret } = await servers[0]!.key();
    const answers = () =>
      Promise.all(
        servers.map(async server => {
          const response = await server.get('/v1/public/domain/castle-7.com?explain=true', secret);
          return (await response.json()) as { reason: string; evidence: { snapshot: string } };
        }),
      );
    const before = await answers();
    expect(before.map(({ reason }) => reason)).toEqual(['undeliverable', 'undeliverable']);

    const list = join(temporaryFolder(), 'castle.txt');
    writeFileSync(list, Array.from({ length: 1_000 }, (_, at) => `castle-${at}.com\n`).join(''));
    const done = await runJson(['feeds', 'update', '--from', `castle=${list}`], { env });
    expect(done).toMatchObject({ feeds: [{ feed: 'castle', outcome: 'accepted', before: null }] });
    await eventually('both follow', async () =>
      (await answers()).every(({ reason }) => reason === 'disposable'),
    );
    const [one, other] = await answers();
    expect(one!.evidence.snapshot).toBe(other!.evidence.snapshot);
    expect(one!.evidence.snapshot).not.toBe(before[0]!.evidence.snapshot);

    await runJson(['feeds', 'remove', 'castle'], { env });
    await eventually('both go back', async () =>
      (await answers()).every(({ reason }) => reason === 'undeliverable'),
    );
    await Promise.all(servers.map(server => server.close()));
  });
});
