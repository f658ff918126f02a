import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Account, type Job } from '../../src/http/accounts.ts';
import { Fairness } from '../../src/http/fairness.ts';
import { PRICES, priceOf } from '../../src/http/prices.ts';
import { Queue } from '../../src/http/queue.ts';
import { eventually, pause, turn } from '../support/scale.ts';

function fair(isFull: () => boolean = () => false): Fairness {
  const fairness = new Fairness({ isFull, isBehind: () => false });
  onTestFinished(() => fairness.close());
  return fairness;
}

/** Holds the processor; in a test with a time of its own it moves that on, and takes next to nothing. */
let takeMs = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

/**
 * Only what jobs do takes time: who is served before whom is then a matter of the rules alone, and not of what other
 * programs take from the processor in the middle of a turn.
 */
function timeOfWork(): void {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const real = takeMs;
  takeMs = ms => {
    now += ms;
  };
  onTestFinished(() => {
    clock.mockRestore();
    takeMs = real;
  });
}

interface Fake extends Job {
  state: 'new' | 'served' | 'refused';
}

/** One request of a caller that takes so long to answer. */
function job(caller: string, ms = 0, onServed: (one: Fake) => void = () => {}, within?: string): Fake {
  const one: Fake = {
    state: 'new',
    caller: () => ({
      within,
      name: caller,
      kind: (['key', 'claim', 'probe'] as const).find(kind => caller.startsWith(kind)) ?? 'stranger',
    }),
    work() {
      takeMs(ms);
      one.state = 'served';
      onServed(one);
      return ms * 1_000;
    },
    shed() {
      one.state = 'refused';
    },
    isProxy: false,
  };
  return one;
}

test('where nobody waits, a request is answered at once', () => {
  const fairness = fair();
  const one = job('a');
  expect(fairness.arrive(one)).toBe(true);
  expect(one.state).toBe('served');
});

test('who comes once is served before the rest of a thousand requests of somebody else', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  const greedy = Array.from({ length: 1_000 }, () => job('greedy', 0.5, () => order.push('greedy')));
  for (const one of greedy) fairness.arrive(one);
  const modest = job('modest', 0.5, () => order.push('modest'));
  fairness.arrive(modest);
  await eventually('the modest one is served', () => modest.state === 'served');
  expect(order.indexOf('modest')).toBeLessThan(50);
});

test('a key that a thousand addresses send has no more turns than any other key', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  const ofPage = Array.from({ length: 2_000 }, (_, at) =>
    job('key of a page', 0.1, () => order.push('page'), `192.0.2.${at % 1_000}`),
  );
  for (const one of ofPage) fairness.arrive(one);
  for (let i = 0; i < 200; i++) fairness.arrive(job('key of another', 0.1, () => order.push('another')));
  await eventually(
    'the other one has its answers',
    () => order.filter(one => one === 'another').length === 200,
  );
  expect(order.lastIndexOf('another')).toBeLessThan(600);
});

test('who sends a key that somebody else floods is served before the rest of the flood', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  for (let i = 0; i < 1_000; i++)
    fairness.arrive(job('key of a page', 0.1, () => order.push('flood'), '192.0.2.1'));
  fairness.arrive(job('key of a page', 0.1, () => order.push('visitor'), '192.0.2.2'));
  await eventually('the visitor is served', () => order.includes('visitor'));
  expect(order.indexOf('visitor')).toBeLessThan(150);
});

test('of a thousand that one caller has waiting, those served last come first, and none waits long', async () => {
  timeOfWork();
  const fairness = fair();
  const waited: number[] = [];
  // Each comes again when it was answered, as clients do that have many connections open.
  const ask = () => {
    const since = performance.now();
    const served = () => {
      waited.push(performance.now() - since);
      if (waited.length < 6_000) setImmediate(ask);
    };
    fairness.arrive(job('key', 0.1, served));
  };
  for (let i = 0; i < 1_000; i++) ask();
  await eventually('all are served', () => waited.length >= 6_000 && fairness.waiting === 0);
  const sorted = waited.toSorted((a, b) => a - b);
  // In the order of their coming each would wait for the 100 ms that a thousand take.
  expect(sorted[3_500]).toBeLessThan(50);
  expect(sorted.at(-1)).toBeLessThan(450);
});

test('callers share by what their requests cost, not by how many they send', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  for (let i = 0; i < 400; i++) {
    fairness.arrive(job('cheap', 0.1, () => order.push('cheap')));
    fairness.arrive(job('dear', 1, () => order.push('dear')));
  }
  await eventually('all are served', () => order.length === 800);
  // Until half of the cheap ones were served: ten for each dear one.
  const half = order.findIndex((_, at) => order.slice(0, at).filter(one => one === 'cheap').length === 200);
  expect(half - 200).toBeLessThan(100);
});

test('large answers that go on being written when their turn is over take their time from it', async () => {
  const fairness = fair();
  /** How many pages were begun in each turn, before the event loop could write any of them. */
  const turns: number[] = [];
  let begun = 0;
  const work = () => {
    if (begun++ === 0)
      setImmediate(() => {
        turns.push(begun);
        begun = 0;
      });
    return PRICES.page;
  };
  // All of them wait while new connections come.
  fairness.accepted();
  for (let i = 0; i < 1_000; i++) fairness.arrive({ ...job(`stranger${i}`), work });
  await eventually('all are served or refused', () => fairness.waiting === 0);
  // A turn of 10 ms has room for 34 of 0.3 ms, though beginning one takes next to nothing.
  expect(Math.max(...turns)).toBeLessThanOrEqual(40);
});

test.each([
  ['a proxy brings is refused as it comes: others wait behind it', true],
  ['a caller sends is refused when it has waited longest', false],
])('what %s', async (_, isProxy) => {
  const fairness = fair();
  const refused: { hasOlder: boolean }[] = [];
  const all: Fake[] = [];
  // Far more than can be done.
  const until = performance.now() + 20_000;
  while (refused.length < 100 && performance.now() < until) {
    for (let i = 0; i < 20; i++) {
      const one = job('greedy', 1);
      const shed = () => {
        refused.push({ hasOlder: all.slice(0, all.indexOf(one)).some(({ state }) => state === 'new') });
        one.state = 'refused';
      };
      all.push(Object.assign(one, { isProxy, shed }));
      fairness.arrive(one);
    }
    await pause(2);
  }
  expect(refused.filter(({ hasOlder }) => hasOlder === isProxy).length).toBeGreaterThan(refused.length / 2);
});

test('while the store has all that it can take no call is begun, and who waits too long is refused', async () => {
  let isFull = true;
  const fairness = fair(() => isFull);
  const [early, late, stranger] = [job('key a'), job('key a'), job('a')];
  expect(fairness.arrive(early)).toBe(false);
  await eventually('it is refused', () => early.state !== 'new', 10_000);
  expect(early.state).toBe('refused');
  // Who is not known may want something that needs no store.
  fairness.arrive(stranger);
  await eventually('it is served', () => stranger.state === 'served');
  fairness.arrive(late);
  isFull = false;
  await eventually('it is served', () => late.state === 'served');
});

test('a key whose answers have yet to be made gets no turn before they are, and others do', async () => {
  let behind: string | undefined = 'key a';
  const fairness = new Fairness({
    isFull: () => false,
    isBehind: (key = behind) => key !== undefined && key === behind,
  });
  onTestFinished(() => fairness.close());
  const [a, b, stranger] = [job('key a'), job('key b'), job('a')];
  for (const one of [a, b, stranger]) expect(fairness.arrive(one)).toBe(false);
  await eventually('others are served', () => b.state === 'served' && stranger.state === 'served');
  for (let i = 0; i < 10; i++) await turn();
  expect(a.state).toBe('new');
  behind = undefined;
  await eventually('it is served', () => a.state === 'served');
});

test('many calls of a key that gets no turn for as long are refused as those that wait for theirs are', async () => {
  timeOfWork();
  const fairness = new Fairness({ isFull: () => false, isBehind: () => true });
  onTestFinished(() => fairness.close());
  const all = Array.from({ length: 100 }, () => job('key a'));
  for (const one of all) fairness.arrive(one);
  await turn();
  expect(all.every(({ state }) => state === 'new')).toBe(true);
  takeMs(1_000);
  for (let i = 0; i < 10; i++) await turn();
  expect(all.every(({ state }) => state === 'refused')).toBe(true);
});

test('while new connections come, nothing holds them up for long', async () => {
  const fairness = fair();
  fairness.accepted();
  const one = job('a', 1);
  expect(fairness.arrive(one)).toBe(false);
  await eventually('it is served all the same', () => one.state === 'served');
});

test('where connections come all the time, strangers do not take the time to accept them, and are served all the same', async () => {
  timeOfWork();
  const fairness = fair();
  const began = performance.now();
  let accepted = 0;
  let served = 0;
  let after: { readonly ms: number; readonly served: number } | undefined;
  const accept = () => {
    takeMs(0.15);
    fairness.accepted();
    if (++accepted < 1_000) setImmediate(accept);
    else after = { ms: performance.now() - began, served };
  };
  accept();
  for (let at = 0; at < 2_000; at++) fairness.arrive(job(`stranger ${at}`, 0.3, () => served++));
  await eventually('all were accepted', () => after !== undefined);
  expect(after!.served).toBeGreaterThan(10);
  expect((accepted * 0.15) / after!.ms).toBeGreaterThan(0.7);
});

test('who watches the service does not wait for new connections either', async () => {
  const fairness = fair();
  let turns = 0;
  const probe = job('probe');
  const accept = () => {
    fairness.accepted();
    turns++;
    if (probe.state === 'new') setImmediate(accept);
  };
  accept();
  fairness.arrive(probe);
  await eventually('it is answered', () => probe.state === 'served');
  // Others wait for eight turns at the least.
  expect(turns).toBeLessThan(6);
});

test('a known key that comes now and then is served while the kernel has more to be read than a turn has time for', async () => {
  const fairness = fair();
  fairness.accepted();
  const [key, stranger] = [job('key'), job('stranger')];
  fairness.arrive(key);
  fairness.arrive(stranger);
  // One turn of the event loop in which others arrive all the time.
  const until = performance.now() + 200;
  for (let i = 0; performance.now() < until; i++) {
    fairness.arrive(job(`other ${i}`));
    fairness.polled();
    const pauseUntil = performance.now() + 2;
    while (performance.now() < pauseUntil);
  }
  expect([key.state, stranger.state]).toEqual(['served', 'new']);
});

test('who comes again as soon as it was served keeps no turn of the event loop from ending', async () => {
  const fairness = fair();
  let isOver = false;
  let served = 0;
  const again = (name: string) => {
    const one = job(name, 1, () => {
      served++;
      if (!isOver) process.nextTick(again, name);
    });
    fairness.arrive(one);
  };
  for (let i = 0; i < 100; i++) again(`stranger ${i}`);
  let turns = 0;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  await eventually('many are served', () => served > 300, 20_000);
  isOver = true;
  // Ten or so in a turn; 300 and more where they are served whenever somebody comes (2026-11-15).
  expect(served / turns).toBeLessThan(100);
});

test.each(['key', 'claim'])('a %s is served beside any number of strangers', async kind => {
  timeOfWork();
  const fairness = fair();
  for (let i = 0; i < 2_000; i++) fairness.arrive(job(`stranger ${i}`, 0.5));
  const order: string[] = [];
  const known = job(kind, 0.5, () => order.push(kind));
  fairness.arrive(job('somebody', 0.5, () => order.push('somebody')));
  fairness.arrive(known);
  await eventually('it is served', () => known.state === 'served');
  expect(order[0]).toBe(kind);
});

test('while connections come, one of those who claim to have a key is served before the next is taken, and then one in some milliseconds', async () => {
  timeOfWork();
  const fairness = fair();
  fairness.accepted();
  const claims = Array.from({ length: 20 }, (_, at) => job(`claim ${at}`, 0.1));
  for (const one of claims) fairness.arrive(one);
  const served = () => claims.filter(({ state }) => state === 'served').length;
  await turn();
  expect(served()).toBe(1);
  // Where each connection brings one, the next ones would wait for those.
  for (let at = 0; at < 20; at++) {
    takeMs(0.3);
    fairness.accepted();
    await turn();
  }
  expect(served()).toBe(3);
});

test('while connections come, those who watch the service have a quarter of the time, however many they are', async () => {
  timeOfWork();
  const fairness = fair();
  fairness.accepted();
  let probed = 0;
  for (let at = 0; at < 200; at++) fairness.arrive(job(`probe ${at}`, 0.3, () => probed++));
  const began = performance.now();
  for (let turn = 0; turn < 30; turn++) {
    takeMs(0.3);
    fairness.accepted();
    await new Promise(resolve => setImmediate(resolve));
  }
  expect(probed).toBeGreaterThan(5);
  expect((probed * 0.3) / (performance.now() - began)).toBeLessThan(0.4);
});

test('what is pipelined behind a probe is not read in the turn of those who watch', async () => {
  const fairness = fair();
  fairness.arrive(job('somebody', 20));
  const endOf = new Map<string, number>();
  for (const name of ['probe', 'key', 'stranger'])
    fairness.arrive({
      ...job(name),
      work(until) {
        endOf.set(name, until - performance.now());
        return 0;
      },
    });
  await eventually('all had their turn', () => endOf.size === 3);
  expect(endOf.get('probe')).toBeLessThanOrEqual(0);
  expect(endOf.get('key')).toBeGreaterThan(0);
  expect(endOf.get('stranger')).toBeGreaterThan(0);
});

test('whoever claims to have a key takes neither the time of known ones nor all that of strangers', async () => {
  timeOfWork();
  const fairness = fair();
  const served = { key: 0, claim: 0, stranger: 0 };
  const again = (kind: keyof typeof served, at: number): Fake =>
    job(`${kind} ${at}`, 0.2, () => {
      served[kind]++;
      if (served.key < 1_000) queueMicrotask(() => fairness.arrive(again(kind, at)));
    });
  fairness.arrive(job('somebody', 20));
  for (const kind of ['claim', 'stranger', 'key'] as const)
    for (let at = 0; at < 100; at++) fairness.arrive(again(kind, at));
  await eventually('it goes on', () => served.key >= 1_000);
  expect(served.claim).toBeLessThan(600);
  expect(served.stranger).toBeGreaterThan(250);
});

test('more probes than can be answered, of any number of addresses, leave nothing behind', async () => {
  timeOfWork();
  const fairness = fair();
  let served = 0;
  const due: { readonly name: string; readonly at: number }[] = [];
  const ask = (name: string): boolean =>
    fairness.arrive(
      job(name, 0.2, () => {
        // Now and then somebody else, too, for whom others are forgotten.
        if (++served % 50 === 0) ask(`probe of guest ${served}`);
        due.push({ name, at: performance.now() + 300 });
      }),
    );
  fairness.arrive(job('somebody', 20));
  for (let at = 0; at < 3_000; at++) ask(`probe ${at}`);
  const again = () => {
    while (due.length > 0 && due[0]!.at <= performance.now()) ask(due.shift()!.name);
    if (served < 20_000) setImmediate(again);
  };
  again();
  await eventually('it goes on', () => served >= 20_000);
  expect(queryObjects(Account, { format: 'count' })).toBeLessThan(6_500);
});

test('strangers are served beside a key that asks for more than can be done', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  for (let i = 0; i < 60; i++) fairness.arrive(job('key', 1, () => order.push('key')));
  fairness.arrive(job('stranger', 0.5, () => order.push('stranger')));
  await eventually('all are served', () => order.length === 61);
  expect(order.indexOf('stranger')).toBeLessThan(40);
});

test('nobody who was served or refused is kept in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const fairness = fair();
  const kept: WeakRef<Fake>[] = [];
  // Whoever comes with a new connection waits for a turn.
  for (let i = 0; i < 500; i++) {
    fairness.accepted();
    const one = job(`caller ${i % 50}`);
    kept.push(new WeakRef(one));
    fairness.arrive(one);
  }
  await eventually('none waits', () => fairness.waiting === 0);
  // Nor by a queue that is still there, of somebody who has more to come.
  const queue = new Queue<Fake>();
  for (let i = 0; i < 100; i++) {
    const one = job('queued');
    kept.push(new WeakRef(one));
    queue.push(one);
  }
  for (let i = 0; i < 99; i++) queue.shift();
  await eventually('none is kept', async () => {
    await pause(20);
    collect();
    return kept.filter(one => one.deref() !== undefined).length < 5;
  });
});

test('who has several requests waiting is served beside any number who come again and again with one', async () => {
  const fairness = fair();
  let isOver = false;
  // Each comes again as soon as it was served.
  const again = (name: string) =>
    fairness.arrive(job(name, 0.5, () => void (isOver || setImmediate(() => again(name)))));
  for (let i = 0; i < 100; i++) again(`one ${i}`);
  const several = Array.from({ length: 5 }, () => job('several', 0.5));
  for (const one of several) fairness.arrive(one);
  await eventually('all of them are served', () => several.every(one => one.state === 'served'), 10_000);
  isOver = true;
});

test('who watches the service is answered beside any number of strangers and keys', async () => {
  timeOfWork();
  const fairness = fair();
  const order: string[] = [];
  for (let i = 0; i < 1_000; i++) fairness.arrive(job(`stranger ${i}`, 0.5, () => order.push('other')));
  for (let i = 0; i < 1_000; i++) fairness.arrive(job(`key ${i}`, 0.5, () => order.push('other')));
  fairness.arrive(job('probe', 0.1, () => order.push('probe')));
  await eventually('it is answered', () => order.includes('probe'));
  expect(order.indexOf('probe')).toBeLessThan(60);
});

test('strangers who come from ever new addresses do not starve one who waits in the row', async () => {
  timeOfWork();
  const fairness = fair();
  // More than one turn takes, so that those who come now have to wait.
  fairness.arrive(job('stranger first', 11));
  let newcomers = 0;
  let before = 0;
  const second = job('stranger old', 1, () => {
    before = newcomers;
  });
  for (const one of [job('stranger old', 1), second]) fairness.arrive(one);
  const come = () => {
    if (newcomers++ < 2_000) fairness.arrive(job(`stranger ${newcomers}`, 1, come));
  };
  for (let at = 0; at < 20; at++) come();
  await eventually('all were served', () => second.state === 'served' && newcomers > 2_000);
  expect(before).toBeLessThan(200);
});

test.each(['stranger', 'key'])(
  'what becomes of the calls of a %s behind their turn is taken from it: new connections and others do not wait for hundreds',
  async caller => {
    timeOfWork();
    const fairness = fair();
    let behind = 0;
    let most = 0;
    // Read in no time; answering them goes on when the turn is over.
    const answeredLater = () => {
      const one = job(caller);
      return Object.assign(one, {
        work() {
          one.state = 'served';
          most = Math.max(most, ++behind);
          setImmediate(() => behind--);
          return PRICES.call;
        },
      });
    };
    const first = job('somebody', 20);
    fairness.arrive(first);
    const all = Array.from({ length: 1_000 }, answeredLater);
    for (const one of all) fairness.arrive(one);
    await eventually('all had their turn', () => all.every(({ state }) => state !== 'new'));
    expect(most).toBeLessThan(200);
  },
);

test.each(['key', 'claim'])(
  'strangers have their turns beside any number of dear requests of a %s, and so have first calls',
  async caller => {
    timeOfWork();
    const fairness = fair();
    let isOver = false;
    // Answered later, and sent again at once.
    const dear = (name: string): Fake => {
      const one: Fake = Object.assign(job(name), {
        work() {
          takeMs(0.05);
          if (!isOver) setImmediate(() => fairness.arrive(one));
          return 10_000;
        },
      });
      return one;
    };
    onTestFinished(() => {
      isOver = true;
    });
    fairness.arrive(job('somebody', 20));
    for (let at = 0; at < 100; at++) fairness.arrive(dear(`${caller} dear ${at % 3}`));
    const others = ['a stranger', 'claim of another', 'key of another'].flatMap(name =>
      Array.from({ length: 10 }, () => job(name, 0.1)),
    );
    for (const one of others) fairness.arrive(one);
    let turns = 0;
    for (; others.some(({ state }) => state === 'new') && turns < 200; turns++) await turn();
    expect(turns).toBeLessThan(20);
  },
);

test.each([
  ['plain ones are read as they come', PRICES.call, 300],
  ['dear ones as many as a turn has time for', 2_000, 6],
])('where nobody waits, calls that are answered later: %s', (_, price, most) => {
  timeOfWork();
  const fairness = fair();
  const later = () => Object.assign(job('key'), { work: () => price });
  const read = Array.from({ length: 300 }, later).filter(one => fairness.arrive(one));
  expect(read.length).toBeLessThanOrEqual(most);
  expect(read.length).toBeGreaterThan(most / 2);
});

test('where nobody waits, what took its time at once is not charged for it again', () => {
  timeOfWork();
  const fairness = fair();
  const read = Array.from({ length: 300 }, () => job('key', 2)).filter(one => fairness.arrive(one));
  expect(read).toHaveLength(5);
});

test.each([
  ['a.com', PRICES.call],
  ['a'.repeat(64), PRICES.call],
  ['a'.repeat(100), PRICES.call + 104],
  ['a.'.repeat(100), PRICES.call + 604],
  ['.'.repeat(1_024), PRICES.call + 1_532],
  ['.'.repeat(1_025), PRICES.call],
])('a name of %s has its price', (segment, price) => {
  expect(priceOf(PRICES.call, segment)).toBe(price);
});

test('who watches now and then waits behind nobody who asks all the time', async () => {
  timeOfWork();
  const fairness = fair();
  fairness.arrive(job('somebody', 20));
  const order: string[] = [];
  const again = (name: string): Fake =>
    job(name, 0.05, () => {
      order.push(name);
      if (order.length < 20_000) queueMicrotask(() => fairness.arrive(again(name)));
    });
  let waited: number | undefined;
  const second = () => {
    const asked = order.length;
    return job('probe of a watcher', 0.05, () => {
      waited = order.length - asked;
    });
  };
  // It comes back a while later, and before those had their turn who were served behind it.
  const first = job('probe of a watcher', 0.05, () =>
    queueMicrotask(() => {
      takeMs(150);
      fairness.arrive(second());
    }),
  );
  for (let at = 0; at < 300; at++) fairness.arrive(again(`probe ${at}`));
  await eventually('it goes on', () => order.length > 400);
  fairness.arrive(first);
  await eventually('it is answered', () => waited !== undefined);
  expect(waited).toBeLessThan(100);
});

test('a probe that had to wait does not make the next ones wait longer', async () => {
  timeOfWork();
  const fairness = fair();
  fairness.arrive(job('somebody', 20));
  const waits: number[] = [];
  const watch = () => {
    const asked = performance.now();
    const one = job('probe of a watcher', 0.6, () => waits.push(performance.now() - asked));
    // It has a connection of its own, which is none of what it is charged for.
    fairness.arrive({ ...one, work: until => one.work(until) / 10 });
  };
  let next = performance.now();
  let served = 0;
  // Each asks again as soon as it has its answer: a round takes longer than until who watches asks again.
  const again = (name: string): Fake =>
    job(name, 0.05, () => {
      if (served++ > 60_000) return;
      queueMicrotask(() => fairness.arrive(again(name)));
      if (performance.now() < next) return;
      next = performance.now() + 110;
      queueMicrotask(watch);
      if (served < 2) queueMicrotask(watch);
    });
  for (let at = 0; at < 3_000; at++) fairness.arrive(again(`probe ${at}`));
  await eventually('it has watched for a while', () => served > 60_000);
  expect(waits.length).toBeGreaterThan(15);
  // Not of all: who asks while it is being answered looks like one who asks again at once.
  expect(waits.filter(wait => wait > 60).length).toBeLessThan(waits.length / 2);
});
