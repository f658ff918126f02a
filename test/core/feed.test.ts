import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Feed } from '../../src/core/feed.ts';
import { reading, takeSnapshot, textOf } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';

const FEED: Feed = {
  id: 'list',
  kind: 'disposable',
  verified: false,
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
        expect(again.since.get('known.com')).toBe('2026-11-01');
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
});
