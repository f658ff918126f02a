import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/core/ports.ts';
import { type DnsServer, startDns } from './support/dns.ts';
import { HARD, type HardSize, simulateHardInternet } from './support/hard-internet.ts';
import { isLate, visitHard } from './support/hard-visit.ts';
import { sized } from './support/scale.ts';
import { temporaryFolder } from './support/service.ts';
import { storeAt } from './support/store.ts';

let dns: DnsServer;
let store: Store;
beforeEach(async () => {
  dns = await startDns();
  store = await storeAt(join(temporaryFolder(), 'store.db'));
  return () => dns.close();
});

const SIZE = sized<HardSize>({ disposable: 120, platforms: 3, framing: [10, 50] }, HARD);

/** The rest of them in the full form, and in `npm run accuracy`. */
const CASES = [
  ['60 % are unlisted and the names move there after a sweep', 0.6, 'moved', 0.38],
  ['74 % are unlisted and the names are shown here long before a list has them', 0.74, 'shown', 0.32],
  ['74 % are unlisted and the names are listed dead and registered then', 0.74, 'relisted', 0.32],
  ['74 % are unlisted and the names are asked for before the first sweep', 0.74, 'asked', 0.32],
  ['74 % are unlisted and the names are registered before an update brings them', 0.74, 'raced', 0.32],
] as const;

describe(`the harder internet: ${SIZE.disposable} disposable, ${SIZE.platforms} platforms, framing with ${SIZE.framing.join(', ')} listed names from one key and from three`, () => {
  it.each(CASES.slice(0, sized(1, CASES.length)))(
    'flags no innocent, no platform and no framed hoster, where %s',
    async (_, unlisted, first, share) => {
      const looks = await visitHard(
        dns,
        store,
        simulateHardInternet(SIZE, unlisted, 2, isLate(first)),
        first,
      );
      for (const { when, seen, framed } of looks) {
        expect([when, seen.innocentFlagged, framed, seen.hiddenFound, seen.unasked]).toEqual([
          when,
          [],
          [],
          0,
          0,
        ]);
      }
      const { found, wanted } = looks.at(-1)!.seen;
      expect(found / wanted).toBeGreaterThanOrEqual(share);
      // Operators have moved on to other numbers and addresses by then.
      const rotated = looks.at(-2)!.seen;
      expect(rotated.found / rotated.wanted).toBeGreaterThanOrEqual(share);
    },
    600_000,
  );
});
