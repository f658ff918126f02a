import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { cleaning, reading, textOf } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { ACT } from '../support/act.ts';
import { catalogOf } from '../support/catalog.ts';
import { bareEnvironment } from '../support/environment.ts';
import { CALM, callMany } from '../support/load.ts';
import { anyPostgres, hasPostgres } from '../support/postgres.ts';
import { openBeside, output, read, startChild } from '../support/process.ts';
import { eventually, pause, randomFrom, SEED, sized } from '../support/scale.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { IMPORTED, versionOf } from '../support/versions.ts';

const KILLS = sized(1, 50);
const IMPORTING = join(import.meta.dirname, '../support/importing.ts');
const DURATION = { timeout: sized(180_000, 600_000) };

type Rows = (statement: string) => Promise<readonly Record<string, unknown>[]>;

/** Ends an import at any moment of it, and looks at what is left. */
async function killImport(place: string, afterMs: number, rows: Rows): Promise<void> {
  const started = startChild([process.execPath, IMPORTING, place], bareEnvironment({}));
  await output(started, /^0$/m);
  await pause(afterMs);
  started.child.kill('SIGKILL');
  await started.exited;

  const told = Number(started.stdout().trim().split('\n').at(-1));
  const [row, ...others] = await rows('SELECT * FROM snapshot');
  expect(others).toEqual([]);
  expect([`${told}`, `${told + 1}`]).toContain(row!.version);
  const text = await PACKING.unpack(String(row!.body));
  const { names } = allAtOnce(reading(IMPORTED, text, String(row!.digest), 1));
  expect(names).toEqual(versionOf(Number(row!.version)).names);
  const [acts] = await rows("SELECT count(*) AS n FROM audit WHERE action = 'feed.update'");
  expect(Number(acts!.n)).toBe(Number(row!.version) + 1);
}

test(
  `killed ${KILLS} times in the middle of an import (seed ${SEED}), the store holds the old version or the new one, whole`,
  DURATION,
  async () => {
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      const path = join(temporaryFolder(), 'domain-risk.db');
      await killImport(path, 250 * random(), async statement => read(path, statement));
      expect(read(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    }
  },
);

test.runIf(hasPostgres())(`the same on PostgreSQL (seed ${SEED})`, DURATION, async () => {
  const random = randomFrom(SEED);
  const postgres = await anyPostgres();
  onTestFinished(() => postgres.close());
  for (let kill = 0; kill < KILLS; kill++) {
    const url = await postgres.newDatabase();
    const rows: Rows = async statement => {
      // A statement that was under way when its client died may end after it.
      await eventually('nobody is connected', async () => {
        const others =
          'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
        return (await postgres.query(others, [], url)).length === 0;
      });
      return postgres.query(statement.replace('FROM ', 'FROM domain_risk.'), [], url);
    };
    await killImport(url, 250 * random(), rows);
  }
});

test('while feeds change under load, no answer mixes two generations', async () => {
  const service = await startTestService({ catalog: await catalogOf(['other.com']), followMs: 5 });
  const { secret } = await service.key();
  const store = await openBeside(service.folder);
  const accept = async (version: number) => {
    const names = version % 2 === 0 ? ['even.com'] : ['odd.com'];
    const snapshot = allAtOnce(cleaning(IMPORTED, { version: `${version}`, names }));
    const { digest } = snapshot;
    const body = await PACKING.pack(textOf(snapshot));
    const was = (await store.snapshots())[0]?.digest ?? null;
    const head = { feed: IMPORTED.id, version: `${version}`, digest, names: 1, acceptedAt: version };
    return store.acceptSnapshot({ ...head, body }, was, ACT);
  };
  /** An operator does it again where a busy machine had the store locked for too long. */
  const acceptAtLast = async (version: number) => {
    await eventually('it is accepted', () =>
      accept(version).catch(error => {
        if (!(error instanceof StoreUnavailable)) throw error;
        return false;
      }),
    );
  };
  await acceptAtLast(0);
  await eventually('the first is followed', async () => {
    const response = await service.get('/v1/public/domain/even.com', secret);
    return ((await response.json()) as { reason: string }).reason === 'disposable';
  });

  let isGoing = true;
  const call = (name: string) => {
    const path = `/v1/public/domain/${name}?explain=true`;
    const load = { bases: [service.base], secret, path, callers: 4, calls: 1e9, restMs: CALM };
    return callMany({ ...load, goOn: () => isGoing });
  };
  const load = Promise.all([call('even.com'), call('odd.com'), call('below.even.com')]);
  for (let version = 1; version <= sized(4, 200); version++) {
    await acceptAtLast(version);
    await eventually('it is followed', async () => {
      const response = await service.get('/v1/public/domain/even.com', secret);
      return (
        (((await response.json()) as { reason: string }).reason === 'disposable') === (version % 2 === 0)
      );
    });
    await pause(30);
  }
  isGoing = false;

  /** Generation to the names that answers of it called listed, and those that they did not. */
  const seen = new Map<string, { listed: Set<string>; clean: Set<string> }>();
  const answers = (await load).flat();
  // A call that a busy machine did not count in time is a 500, and mixes nothing.
  const counted = answers.filter(({ status }) => status !== 500);
  expect(counted.length).toBeGreaterThan(0.9 * answers.length);
  for (const { status, body } of counted) {
    expect(status).toBe(200);
    const { domain, reason, evidence } = JSON.parse(body) as {
      domain: string;
      reason: string;
      evidence: { snapshot: string; lists: unknown[] };
    };
    expect(reason === 'disposable').toBe(evidence.lists.length > 0);
    const sides = seen.get(evidence.snapshot) ?? { listed: new Set(), clean: new Set() };
    seen.set(evidence.snapshot, sides);
    sides[evidence.lists.length > 0 ? 'listed' : 'clean'].add(domain.replace('below.', ''));
  }
  expect(seen.size).toBeGreaterThan(2);
  for (const { listed, clean } of seen.values()) {
    expect([...listed].length + [...clean].length).toBeLessThanOrEqual(2);
    expect([...listed].filter(name => clean.has(name))).toEqual([]);
  }
});
