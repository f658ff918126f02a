import { expect, onTestFinished, test } from 'vitest';
import { type Operators, watchOperators } from '../src/appoint.ts';
import { digestOf } from '../src/core/key.ts';
import type { OperatorRecord } from '../src/core/operator.ts';
import type { Call } from '../src/http/call.ts';
import { createDoors, type DoorParts } from '../src/http/doors.ts';

const tokenOf = (digit: string) => `dro_${digit.repeat(64)}`;
const record = (name: string, token: string): OperatorRecord => ({
  ...{ name, digest: digestOf(token), createdAt: 1, revokedAt: null },
});

/** Operators as they are kept, by whoever changes them, and how often somebody looked. */
async function watched(patienceMs?: number) {
  const kept: OperatorRecord[] = [];
  const kit = { kept, looks: 0, list: async () => [...kept] };
  const store = {
    listOperators: () => {
      kit.looks++;
      return kit.list();
    },
  };
  const operators = await watchOperators({ store, everyMs: 1e6, ...(patienceMs && { patienceMs }) });
  onTestFinished(() => operators.close());
  kit.looks = 0;
  return { kit, operators };
}

async function nameNow(operators: Operators, token: string) {
  await operators.refresh(token);
  return operators.nameOf(token);
}

test('a token counts from the moment on in which any server made it, and no longer once any revoked it', async () => {
  const { kit, operators } = await watched();
  const ada = tokenOf('a');
  kit.kept.push(record('ada', ada));
  expect(await nameNow(operators, ada)).toBe('ada');
  kit.kept.length = 0;
  expect(await nameNow(operators, ada)).toBeUndefined();
});

test('a thousand tokens that nobody knows cost one look and hold up nobody; what is no token costs none', async () => {
  const { kit, operators } = await watched();
  const ada = tokenOf('a');
  kit.kept.push(record('ada', ada));
  await operators.look();
  kit.looks = 0;
  const wrong = Array.from({ length: 1_000 }, (_, at) => `dro_${String(at).padStart(64, '0')}`);
  const [first] = await Promise.all(wrong.map(token => nameNow(operators, token)));
  expect([first, kit.looks]).toEqual([undefined, 1]);
  // The next look for strangers is a tenth of a second away.
  const late = operators.refresh(tokenOf('b'));
  expect([await nameNow(operators, ada), kit.looks]).toEqual(['ada', 2]);
  await late;
  expect(kit.looks).toBe(3);
  for (const token of ['', 'x'.repeat(68), 'dro_', `${ada}0`, `dro_${'z'.repeat(64)}`])
    expect(operators.refresh(token)).toBeUndefined();
});

test('a store that fails or is silent keeps nobody out who was in, nor lets anybody in', async () => {
  const { kit, operators } = await watched(20);
  const ada = tokenOf('a');
  kit.kept.push(record('ada', ada));
  await operators.look();
  const trouble: (typeof kit.list)[] = [() => Promise.reject(new Error('away')), () => new Promise(() => {})];
  for (const list of trouble) {
    kit.list = list;
    expect([await nameNow(operators, ada), await nameNow(operators, tokenOf('b'))]).toEqual([
      'ada',
      undefined,
    ]);
  }
});

test('what an earlier look brings later is not taken', async () => {
  const { kit, operators } = await watched();
  const ada = tokenOf('a');
  const { promise, resolve } = Promise.withResolvers<OperatorRecord[]>();
  kit.list = () => promise;
  const early = operators.look();
  kit.list = async () => [];
  await operators.look();
  resolve([record('ada', ada)]);
  await early;
  expect(operators.nameOf(ada)).toBeUndefined();
});

test('nobody acts under the name of an operator who was revoked, not with the ADMIN_TOKEN either', async () => {
  const { kit, operators } = await watched();
  kit.kept.push({ ...record('Ada', tokenOf('a')), revokedAt: 2 });
  await operators.look();
  const parts = { operators, isAdminToken: () => true, isTrustedProxy: () => false };
  const doors = createDoors(parts as unknown as DoorParts);
  const as = (who: string) => {
    const req = { rawHeaders: ['X-Operator', who] };
    const head = { authorization: 'Bearer admin' };
    return doors.actorOf({ req, head, connection: { address: '::1' } } as unknown as Call).ok;
  };
  expect(['Bob', 'Ada', 'ADA'].map(as)).toEqual([true, false, false]);
});

test('nobody acts with a token that was revoked while its body came in, under whatever name', () => {
  const operators = { nameOf: () => undefined, isAppointed: () => false, refresh: () => undefined };
  const isAdminToken = (sent: string) => sent === 'admin';
  const doors = createDoors({ operators, isAdminToken, isTrustedProxy: () => false } as unknown as DoorParts);
  const actorWith = (token: string) => {
    const req = { rawHeaders: ['X-Operator', 'Bob'] };
    const head = { authorization: `Bearer ${token}` };
    return doors.actorOf({ req, head, connection: { address: '::1' } } as unknown as Call);
  };
  expect(actorWith('admin')).toMatchObject({ ok: true, value: { who: 'Bob' } });
  expect(actorWith(tokenOf('a'))).toEqual({ ok: false, problem: expect.stringContaining('was revoked') });
});
