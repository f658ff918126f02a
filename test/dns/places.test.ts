import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type PlaceCaps, Places, type Waiter } from '../../src/dns/places.ts';
import { SlowRoom } from '../../src/dns/slow-room.ts';

/** Lets all of them wait for the one place, then gives it on until nobody waits: who had it, in order. */
function turns(
  waiters: readonly (readonly [key: string, zone: string])[],
  caps: Partial<PlaceCaps> = {},
): string[] {
  const places = new Places({ most: 1, perZone: 1, perKey: 1, ...caps });
  const had: string[] = [];
  const inside: Waiter[] = [];
  places.take('first', 'first');
  for (const [key, zone] of waiters) {
    const waiter: Waiter = {
      ...{ key, zone },
      take: () => {
        had.push(`${key} ${zone}`);
        inside.push(waiter);
      },
    };
    places.wait(waiter);
  }
  places.leave('first', 'first');
  for (let one = inside.shift(); one; one = inside.shift()) places.leave(one.zone, one.key);
  expect(places).toMatchObject({ taken: 0, waiting: 0 });
  return had;
}

describe('places', () => {
  test('keys that wait take turns, however long the row of one of them is', () => {
    const row = [
      ['a', '1'],
      ['a', '2'],
      ['a', '3'],
      ['b', '4'],
      ['c', '5'],
      ['b', '6'],
    ] as const;
    expect(turns(row)).toEqual(['a 1', 'b 4', 'c 5', 'a 2', 'b 6', 'a 3']);
  });

  test('zones of one key take turns too', () => {
    const row = [
      ['a', '1'],
      ['a', '1'],
      ['a', '1'],
      ['a', '2'],
    ] as const;
    expect(turns(row)).toEqual(['a 1', 'a 2', 'a 1', 'a 1']);
  });

  test('a zone or a key that is full is passed over until it has room', () => {
    const places = new Places({ most: 4, perZone: 1, perKey: 2 });
    const had: string[] = [];
    const wait = (key: string, zone: string) =>
      places.wait({ key, zone, take: () => void had.push(`${key} ${zone}`) });
    expect([places.take('z', 'a'), places.take('y', 'a')]).toEqual([true, true]);
    expect([places.take('x', 'a'), places.take('z', 'b'), places.take('w', 'b')]).toEqual([
      false,
      false,
      true,
    ]);
    wait('a', 'x');
    wait('b', 'z');
    places.leave('w', 'b');
    expect(had).toEqual([]);
    places.leave('z', 'a');
    expect(had).toEqual(['a x', 'b z']);
  });

  test('one that no longer waits is passed over', () => {
    const places = new Places({ most: 1, perZone: 1, perKey: 1 });
    const had: string[] = [];
    const [gone, next] = ['gone', 'next'].map(zone => ({ key: 'a', zone, take: () => void had.push(zone) }));
    places.take('first', 'first');
    places.wait(gone!);
    places.wait(next!);
    places.withdraw(gone!);
    places.withdraw(gone!);
    expect(places.waiting).toBe(1);
    places.leave('first', 'first');
    expect(had).toEqual(['next']);
  });

  test('whatever comes and goes, no cap is passed, nobody is forgotten and no place stays empty', () => {
    const caps = { most: 5, perZone: 2, perKey: 3 };
    const who = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y', 'z', 'w'));
    const step = fc.oneof(who, fc.nat(20));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const places = new Places(caps);
        const inside: { key: string; zone: string }[] = [];
        const waiting: Waiter[] = [];
        const ask = (key: string, zone: string) => {
          if (places.take(zone, key)) return void inside.push({ key, zone });
          const waiter = {
            ...{ key, zone },
            take: () => {
              waiting.splice(waiting.indexOf(waiter), 1);
              inside.push(waiter);
            },
          };
          waiting.push(waiter);
          places.wait(waiter);
        };
        const leave = (at: number) => {
          const [one] = inside.splice(at % Math.max(1, inside.length), 1);
          if (one) places.leave(one.zone, one.key);
        };
        const count = (wanted: (one: { key: string; zone: string }) => boolean) =>
          inside.filter(wanted).length;
        for (const one of steps) {
          if (typeof one === 'number') leave(one);
          else ask(...one);
          expect(places).toMatchObject({ taken: inside.length, waiting: waiting.length });
          expect(inside.length).toBeLessThanOrEqual(caps.most);
          for (const key of 'abc') expect(count(c => c.key === key)).toBeLessThanOrEqual(caps.perKey);
          for (const zone of 'xyzw') expect(count(c => c.zone === zone)).toBeLessThanOrEqual(caps.perZone);
          const couldGo = waiting.filter(
            ({ key, zone }) =>
              count(c => c.key === key) < caps.perKey && count(c => c.zone === zone) < caps.perZone,
          );
          if (inside.length < caps.most) expect(couldGo).toEqual([]);
        }
        while (inside.length > 0) leave(0);
        expect(waiting).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the slow room', () => {
  /** Who had to leave, after all of these came in this order; of several keys each is one letter. */
  function leaving(
    comers: readonly (readonly [name: string, keys: string, zone: string])[],
    caps: PlaceCaps,
  ): string[] {
    const gone: string[] = [];
    const room = new SlowRoom(caps);
    for (const [name, keys, zone] of comers)
      room.enter({ keys: new Set(keys), zone, giveUp: () => void gone.push(name) });
    expect(room.size).toBe(comers.length - gone.length);
    return gone;
  }

  test('when it is full, the key with most in it gives up its oldest', () => {
    const caps = { most: 4, perZone: 9, perKey: 9 };
    const comers = ['a1', 'b1', 'b2', 'b3', 'a2', 'b4'].map(name => [name, name[0]!, name] as const);
    expect(leaving(comers, caps)).toEqual(['b1', 'b2']);
  });

  test('of a zone that is full, the key with most in it gives up its oldest there', () => {
    const caps = { most: 9, perZone: 3, perKey: 9 };
    const comers = ['b1', 'a1', 'a2', 'a3', 'a4', 'a5'].map(name => [name, name[0]!, 'x'] as const);
    const elsewhere = ['b', 'b', 'b', 'b'].map((key, at) => [`elsewhere${at}`, key, `y${at}`] as const);
    expect(leaving([...elsewhere, ...comers], caps)).toEqual(['a1', 'a2', 'a3']);
  });

  test('a key or a zone that is full makes room itself', () => {
    const key = { most: 9, perZone: 9, perKey: 2 };
    expect(
      leaving(
        [
          ['1', 'a', 'x'],
          ['2', 'b', 'y'],
          ['3', 'a', 'z'],
          ['4', 'a', 'w'],
        ],
        key,
      ),
    ).toEqual(['1']);
    const zone = { most: 9, perZone: 2, perKey: 9 };
    expect(
      leaving(
        [
          ['1', 'a', 'x'],
          ['2', 'b', 'y'],
          ['3', 'c', 'x'],
          ['4', 'b', 'x'],
        ],
        zone,
      ),
    ).toEqual(['1']);
  });

  test('one that others wait for too passes to the next of them, and only the last one gives it up', () => {
    const caps = { most: 9, perZone: 9, perKey: 2 };
    const comers = [...'abcdefg'].map((name, at) => [name, at === 0 ? 'xyz' : 'x', name] as const);
    expect(leaving(comers, caps)).toEqual(['b', 'c', 'd', 'e']);
    const ofY = [...'hijk'].map(name => [name, 'y', name] as const);
    const ofZ = [...'lm'].map(name => [name, 'z', name] as const);
    expect(leaving([...comers, ...ofY, ...ofZ], caps)).toEqual([...'bcdehi', 'a']);
  });

  test('passing one on makes no room: where the zone or all are full, another one goes', () => {
    const comers = [...'abcd'].map((name, at) => [name, at === 0 ? 'xy' : 'x', 'zone'] as const);
    expect(leaving(comers, { most: 9, perZone: 3, perKey: 9 })).toEqual(['b']);
    expect(leaving(comers, { most: 3, perZone: 9, perKey: 9 })).toEqual(['b']);
  });

  test('whoever comes for whatever in whatever order, no cap is passed, and who is inside has a key', () => {
    const caps = { most: 6, perZone: 3, perKey: 4 };
    const comer = fc.record({
      keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
      zone: fc.constantFrom('x', 'y', 'z'),
      joins: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(fc.array(comer, { maxLength: 60 }), comers => {
        const room = new SlowRoom(caps);
        const inside = new Set<{ zone: string; keys: Set<string> }>();
        const count = (isMeant: (one: { zone: string; keys: Set<string> }) => boolean) =>
          [...inside].filter(isMeant).length;
        for (const { keys, zone, joins } of comers) {
          const slow = { zone, keys: new Set(keys), giveUp: () => void inside.delete(slow) };
          inside.add(slow);
          room.enter(slow);
          expect(room.size).toBe(inside.size);
          expect(inside.size).toBeLessThanOrEqual(caps.most);
          expect(count(one => one.keys.size === 0)).toBe(0);
          expect(count(one => one.zone === zone)).toBeLessThanOrEqual(caps.perZone);
          for (const key of 'abc')
            expect(count(({ keys: [first] }) => first === key)).toBeLessThanOrEqual(caps.perKey);
          for (const one of inside) one.keys.add(joins);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('whoever comes has few passed on, however many keys wait for all that is inside', () => {
    const room = new SlowRoom({ most: 320, perZone: 400, perKey: 400 });
    const inside = Array.from({ length: 321 }, () => ({
      ...{ zone: 'zone', keys: new Set(Array.from({ length: 200 }, (_, key) => `key${key}`)) },
      giveUp: vi.fn(),
    }));
    for (const one of inside) room.enter(one);
    expect(room.size).toBe(320);
    const passed = inside.reduce((sum, { keys }) => sum + 200 - keys.size, 0);
    expect(passed).toBeLessThanOrEqual(200);
  });

  test('one that left makes room, and is not told to go', () => {
    const gone: string[] = [];
    const room = new SlowRoom({ most: 1, perZone: 1, perKey: 1 });
    const slow = (key: string) => ({ keys: new Set(key), zone: key, giveUp: () => void gone.push(key) });
    const first = slow('a');
    room.enter(first);
    room.leave(first);
    room.enter(slow('b'));
    expect(gone).toEqual([]);
  });
});
