import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { cleaning, textOf } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { ACT } from '../support/act.ts';
import { catalogOf } from '../support/catalog.ts';
import { KILLS, killImport, WITHIN_MS } from '../support/killed-import.ts';
import { CALM, callMany } from '../support/load.ts';
import { openBeside, read } from '../support/process.ts';
import { eventually, pause, randomFrom, SEED, sized } from '../support/scale.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { IMPORTED } from '../support/versions.ts';

test(`killed ${KILLS} times in the middle of an import (seed ${SEED}), the store holds the old version or the new one, whole`, {
  timeout: sized(180_000, 600_000),
}, async () => {
  const random = randomFrom(SEED);
  for (let kill = 0; kill < KILLS; kill++) {
    const path = join(temporaryFolder(), 'domain-risk.db');
    await killImport(path, WITHIN_MS * random(), async statement => read(path, statement));
    expect(read(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
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
