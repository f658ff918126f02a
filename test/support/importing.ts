/** A process that accepts one version of a feed after the other, until it is killed: `importing.ts <database>`, a file or an address. */

import { PACKING } from '../../src/feeds/pack.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { updateFeeds } from '../../src/update.ts';
import { catalogOf } from './catalog.ts';
import { FEW_TABLES, IMPORTED, versionOf } from './versions.ts';

const place = process.argv[2]!;
const store = place.startsWith('postgres')
  ? await (await import('../../src/store/postgres/store.ts')).openPostgresStore(place)
  : await openSqliteStore(place, error => {
      throw error;
    });
for (let version = 0; ; version++) {
  const [done] = await updateFeeds(
    {
      store,
      sources: [{ feed: IMPORTED, read: async () => versionOf(version) }],
      installed: [],
      tables: async () => FEW_TABLES,
      catalog: () => catalogOf([]),
      packing: PACKING,
      clock: Date.now,
      actor: { who: 'tester', via: 'test' },
    },
    { force: false, dryRun: false, progress: () => {} },
  );
  if (done?.outcome !== 'accepted') throw new Error(`version ${version}: ${done?.outcome}`);
  process.stdout.write(`${version}\n`);
}
