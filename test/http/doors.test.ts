import { expect, test } from 'vitest';
import type { Passed } from '../../src/core/door.ts';
import { refuse } from '../../src/core/refusal.ts';
import type { Call } from '../../src/http/call.ts';
import { createDoors, type DoorParts } from '../../src/http/doors.ts';
import { readHead } from '../../src/http/head.ts';

const MONTH = { name: '2026-11', start: 0, end: 1_000 };
const admission = (remaining: number | null) =>
  ({
    key: { id: 'key' },
    revision: 1,
    allowance: { limit: remaining, remaining, used: 0, month: MONTH },
  }) as Passed;
const exhausted = {
  ...refuse('quota_exceeded'),
  allowance: { limit: 0, remaining: 0, used: 0, month: MONTH },
} as Passed;

/** What a connection is known as, one by one, after a call that the door judges so. */
async function knownAs(
  passed: Passed,
  way: 'spend' | 'enter' | 'callerRefusal' | 'waits',
): Promise<(string | undefined)[]> {
  const known: (string | undefined)[] = [];
  const doors = createDoors({
    admit: {
      spend: (_: unknown, waiter: { resolve(one: Passed): void }) => waiter.resolve(passed),
      enter: async () => passed,
      refusal: async () => ('refused' in passed ? passed : undefined),
      waiting: () => ('refused' in passed ? undefined : passed.key.id),
    },
    ...{ overrides: { revision: () => 1 }, clock: () => 0, isTrustedProxy: () => false },
  } as unknown as DoorParts);
  const call = {
    head: readHead([]),
    res: { writeHead() {}, end() {} },
    ...{ req: {}, quota: [], finished() {} },
    connection: {
      address: '192.0.2.1',
      sends: () => true,
      knownAs: (one: string | undefined) => known.push(one),
    },
  } as unknown as Call;
  if (way === 'spend') doors.spend(call, () => {});
  else if (way === 'waits') doors.waits(call, 1);
  else await doors[way](call);
  return known;
}

test.each([
  ['let in and counted', admission(5), 'spend', ['key']],
  ['let in for the last time', admission(0), 'spend', ['key']],
  ['let in without a limit, uncounted', admission(null), 'enter', ['key']],
  ['let in, uncounted, with nothing left to call for', admission(0), 'enter', [undefined]],
  ['refused for its quota', exhausted, 'spend', [undefined]],
  ['refused for its origin', refuse('forbidden'), 'spend', [undefined]],
  ['refused, uncounted', refuse('unauthorized'), 'enter', [undefined]],
  ['refused before its body', refuse('unauthorized'), 'callerRefusal', [undefined]],
  ['let in before its body', admission(5), 'callerRefusal', ['key']],
  ['let in behind its body', admission(5), 'waits', ['key']],
  ['let in behind its body, with too little left', exhausted, 'waits', [undefined]],
] as const)('whoever is %s is known as that from then on', async (_, passed, way, known) => {
  expect(await knownAs(passed, way)).toEqual(known);
});
