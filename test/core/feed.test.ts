import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayFrom, dayText } from '../../src/core/days.ts';
import type { Feed } from '../../src/core/feed.ts';
import { keepingNames } from '../../src/core/gate.ts';
import { keeping } from '../../src/core/kept.ts';
import { cleaning, reading, readingKept, takeSnapshot, textOf } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const FEED: Feed = {
  id: 'list',
  kind: 'disposable',
  family: 'broad',
  licence: 'MIT',
  origin: 'npm package list',
  atLeast: 1,
};

describe('a snapshot of a feed', () => {
  it('keeps names in canonical form and counts what it drops', () => {
    const names = [
      'Spam.COM',
      'spam.com',
      'münchen.de',
      'com',
      'co.uk',
      'edu.pl',
      'single',
      'a.test',
      'not a name',
      '',
      '1.2.3.4',
      '*.wild.com',
    ];
    const { names: kept, dropped } = takeSnapshot(FEED, { version: '1', names });
    expect(kept).toEqual(['spam.com', 'xn--mnchen-3ya.de']);
    expect(dropped).toEqual({ suffix: 4, specialUse: 1, malformed: 4, duplicate: 1 });
  });

  it('keeps a private suffix, because strangers below it are what it is listed for', () => {
    expect(takeSnapshot(FEED, { version: '1', names: ['cc.cd'] }).names).toEqual(['cc.cd']);
  });

  it('keeps labels that can be shown to everybody, and no others; a version must be such a one', () => {
    const labels = new Map([
      ['a.com', ' Alias <b> '],
      ['b.com', '\u001b[2J'],
      ['c.com', 'x'.repeat(101)],
      ['d.com', ''],
    ]);
    const raw = { version: '1', names: [...labels.keys()], labels };
    expect([...takeSnapshot(FEED, raw).labels]).toEqual([['a.com', 'Alias <b>']]);
    for (const version of ['', '1\n2', 'v'.repeat(101)])
      expect(() => takeSnapshot(FEED, { ...raw, version })).toThrow(/its version must be one line/);
  });

  it('is refused when far fewer names are there than a list like it has', () => {
    const names = ['a.com', 'b.com', 'not a name'];
    expect(() => takeSnapshot({ ...FEED, atLeast: 3 }, { version: '1', names })).toThrow(
      'npm package list: 2 usable names, expected at least 3',
    );
  });
});

describe('names of a feed', () => {
  it.each<[string, string[], string[], number]>([
    ['in order', ['a.com', 'b.com', 'c.com'], ['a.com', 'b.com', 'c.com'], 0],
    ['in order, each twice', ['a.com', 'a.com', 'b.com', 'b.com'], ['a.com', 'b.com'], 2],
    ['out of order', ['c.com', 'a.com', 'b.com'], ['c.com', 'a.com', 'b.com'], 0],
    [
      'out of order, some twice',
      ['b.com', 'a.com', 'b.com', 'a.com', 'c.com', 'c.com'],
      ['b.com', 'a.com', 'c.com'],
      3,
    ],
    ['that come again much later', ['a.com', 'b.com', 'c.com', 'a.com'], ['a.com', 'b.com', 'c.com'], 1],
    [
      'in order again behind one that was not',
      ['b.com', 'a.com', 'c.com', 'd.com', 'c.com'],
      ['b.com', 'a.com', 'c.com', 'd.com'],
      1,
    ],
  ])('%s count once each', (_, names, kept, duplicate) => {
    const snapshot = takeSnapshot(FEED, { version: '1', names });
    expect(snapshot.names).toEqual(kept);
    expect(snapshot.dropped.duplicate).toBe(duplicate);
  });

  it('are as many as expected where they are exactly so many', () => {
    expect(
      takeSnapshot({ ...FEED, atLeast: 2 }, { version: '1', names: ['a.com', 'b.com'] }).names,
    ).toHaveLength(2);
  });

  it('have a day where the feed tells one, under the name as it stands there', () => {
    const since = new Map([
      ['A.com', '2026-01-01'],
      ['b.com', '2026-01-02'],
    ]);
    const snapshot = takeSnapshot(FEED, { version: '1', names: ['A.com', 'B.com', 'c.com'], since });
    expect([...snapshot.since]).toEqual([dayFrom('2026-01-01'), 0, 0]);
    expect(snapshot.acceptedAt).toBeNull();
  });

  it('have the day of the whole list where the feed tells none, or nonsense', () => {
    const raw = {
      version: '1',
      names: ['b.com', 'x y', 'a.com', 'c.com', 'a.com'],
      since: new Map([
        ['a.com', '2026-01-01'],
        ['c.com', 'yesterday'],
      ]),
      dated: '2026-08-09',
    };
    expect([...takeSnapshot(FEED, raw).since]).toEqual([dayFrom('2026-08-09'), dayFrom('2026-01-01'), 0]);
  });

  it('are read in steps of 500, and told in lines of 500', () => {
    const yields = (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `d${at}.com`);
      const cleaned = cleaning(FEED, { version: '1', names });
      let steps = 0;
      for (;;) {
        const step = cleaned.next();
        if (step.done) return { steps, lines: textOf(step.value).split('\n').length - 1 };
        steps++;
      }
    };
    // A line of the head and one for each 500 names; a step for each line, and for each 500 names that were read.
    expect([1, 499, 500, 501, 1_000].map(yields)).toEqual([
      { steps: 2, lines: 2 },
      { steps: 2, lines: 2 },
      { steps: 3, lines: 2 },
      { steps: 4, lines: 3 },
      { steps: 5, lines: 3 },
    ]);
  });
});

describe('the text that a snapshot is kept as', () => {
  const taken = (names: readonly string[]) =>
    takeSnapshot(FEED, {
      version: '1.2.3',
      names: ['Known.COM', ...names],
      since: new Map([['Known.COM', '2026-11-01']]),
      labels: new Map([['Known.COM', 'A "label"\n']]),
    });

  // fc.domain() takes half a second for that many.
  const name = fc.nat(99_999).map(at => `d${at.toString(36)}.${['com', 'co.uk', 'xn--p1ai'][at % 3]}`);

  it('gives back the same snapshot, whatever names stand in it', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 1_500, size: 'max' }), names => {
        const snapshot = taken(names);
        const again = allAtOnce(reading(FEED, textOf(snapshot), snapshot.digest, 7));
        expect(again).toEqual({ ...snapshot, acceptedAt: 7 });
        expect(dayText(again.since[0]!)).toBe('2026-11-01');
      }),
      { numRuns: 10 },
    );
  });

  it.each<[string, (text: string) => string]>([
    ['one letter is another', text => text.replace('known.com', 'knovn.com')],
    ['its end is missing', text => text.slice(0, -20)],
    ['it is empty', () => ''],
  ])('is refused when %s', (_, spoil) => {
    const snapshot = taken(['a.com']);
    const text = spoil(textOf(snapshot));
    expect(() => allAtOnce(reading(FEED, text, snapshot.digest, 7))).toThrow('digest');
  });

  it.each([
    ['nothing', ''],
    ['names only', '{"names":["a.com"]}\n'],
    ['no count of what was dropped', '{"version":"1"}\n{"names":["a.com"]}\n'],
    ['no version', '{"dropped":{}}\n{"names":["a.com"]}\n'],
    ['a version too late', '{"names":["a.com"]}\n{"version":"1","dropped":{}}\n'],
  ])('is refused when it holds %s, though the digest is right', (_, text) => {
    expect(() => allAtOnce(reading(FEED, text, hash('sha256', text), 7))).toThrow('it has no version');
  });

  it('holds every fact in lines, and is read one line a step', () => {
    const snapshot = taken(['a.com']);
    expect(textOf(snapshot).split('\n')).toEqual([
      '{"version":"1.2.3","dropped":{"malformed":0,"suffix":0,"specialUse":0,"duplicate":0}}',
      '{"names":["known.com","a.com"],"days":[[20758,1],[0,1]]}',
      '{"labels":[["known.com","A \\"label\\""]]}',
      '',
    ]);
    expect(snapshot.digest).toBe(hash('sha256', textOf(snapshot)));
    const steps = reading(FEED, textOf(snapshot), snapshot.digest, null);
    let yields = 0;
    while (!steps.next().done) yields++;
    expect(yields).toBe(1 + 3);
  });

  it.each<[string, string, Feed]>([
    ['it has now', textOf(taken(['a.com', 'b.com'])), FEED],
    [
      'of a rotating list',
      textOf(keepingNames(taken(['a.com']), undefined, 20_000)),
      { ...FEED, rotates: 2 },
    ],
    [
      'it had before the days stood in it',
      '{"version":"1","dropped":{}}\n{"names":["a.com","b.com"]}\n{"since":[["b.com","2026-01-01"]]}\n',
      FEED,
    ],
  ])('gives a catalog the same names and days, in the form %s', (_, text, feed) => {
    const read = [feed, text, hash('sha256', text), 86_400_000 * 20_000] as const;
    const kept = allAtOnce(readingKept(...read));
    expect({ ...kept, names: [...kept.names] }).toEqual({
      ...allAtOnce(keeping(allAtOnce(reading(...read)))),
      names: allAtOnce(reading(...read)).names,
    });
    expect(kept.names.length).toBeGreaterThan(1);
  });

  it('of a million characters, some of two halves, has its digest looked at in two steps', () => {
    const names = Array.from({ length: 20_000 }, (_, at) => `${'n'.repeat(20)}${at}.com`);
    const labels = new Map(names.map(name => [name, '\u{1f4da}'.repeat(5)]));
    const snapshot = takeSnapshot(FEED, { version: '1', names, labels });
    const text = textOf(snapshot);
    const yields = [...reading(FEED, text, snapshot.digest, null)].length;
    expect(text.length).toBeGreaterThan(2 ** 20);
    expect(yields - text.split('\n').length).toBe(2);
    expect(() => allAtOnce(reading(FEED, `${text}\n`, snapshot.digest, null))).toThrow(
      'its digest is another',
    );
  });

  it('gives back what came though we know it as something else, in lines of a bounded length', () => {
    const names = Array.from({ length: 900 }, (_, at) => `d${at}.com`);
    const doubtful = new Map(names.map((name, at) => [name, 20_000 + (at % 30)]));
    const kept = keepingNames(takeSnapshot(FEED, { version: '1', names }), undefined, 20_000, doubtful);
    const again = allAtOnce(reading(FEED, textOf(kept), kept.digest, 7));
    expect(again).toEqual({ ...kept, acceptedAt: 7 });
    expect(again.doubtful).toEqual(doubtful);
    const without = keepingNames(takeSnapshot(FEED, { version: '1', names }), undefined, 20_000);
    expect(without.digest).not.toBe(kept.digest);
  });

  it('gives back what came to a popularity list and left it, in lines of a bounded length', () => {
    const moved = new Map(Array.from({ length: 900 }, (_, at) => [`d${at}.com`, 20_000 + (at % 30)]));
    const fresh = takeSnapshot(FEED, { version: '1', names: ['d1.com'] });
    const kept = keepingNames(fresh, undefined, 20_000, new Map(), moved);
    expect(
      Math.max(
        ...textOf(kept)
          .split('\n')
          .map(line => line.length),
      ),
    ).toBeLessThan(20_000);
    const again = allAtOnce(reading(FEED, textOf(kept), kept.digest, 7));
    expect(again).toEqual({ ...kept, acceptedAt: 7 });
    expect(again.moved).toEqual(moved);
  });

  it('gives back of a rotating list what it showed when', () => {
    const rotating = { ...FEED, rotates: 1_000 };
    const names = Array.from({ length: 1_200 }, (_, at) => `d${at}.com`);
    const first = keepingNames(takeSnapshot(rotating, { version: '1', names }), undefined, 20_000);
    const next = keepingNames(takeSnapshot(rotating, { version: '2', names }), first, 20_001);
    const again = allAtOnce(reading(rotating, textOf(next), next.digest, 7));
    expect(again).toEqual({ ...next, acceptedAt: 7 });
    expect([again.since[1_199], again.shown?.last[1_199], again.shown?.days[1_199]]).toEqual([
      20_000, 20_001, 2,
    ]);
  });

  describe('of an earlier version of the service', () => {
    const text = [
      '{"version":"1","dropped":{"malformed":0,"suffix":0,"specialUse":0,"duplicate":0}}',
      '{"names":["a.com","b.com"]}',
      '{"since":[["a.com","2026-10-01"]]}',
      '',
    ].join('\n');
    const accepted = Date.parse('2026-11-15T12:00:00Z');
    const read = (feed: Feed) => allAtOnce(reading(feed, text, hash('sha256', text), accepted));

    it('has the days that it tells, and else the one on which it was accepted', () => {
      expect([...read(FEED).since].map(dayText)).toEqual(['2026-10-01', '2026-11-15']);
    });

    it('keeps the names of a rotating list for their time', () => {
      const rotating = { ...FEED, rotates: 1_000 };
      const next = keepingNames(
        takeSnapshot(rotating, { version: '2', names: ['x.com'] }),
        read(rotating),
        dayFrom('2026-11-16'),
      );
      expect(next.names).toEqual(['x.com', 'a.com', 'b.com']);
    });
  });
});
