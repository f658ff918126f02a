import { describe, expect, it } from 'vitest';
import { type Feed, takeSnapshot } from '../../src/core/feed.ts';

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

  it('is refused when far fewer names are there than a list like it has', () => {
    const names = ['a.com', 'b.com', 'not a name'];
    expect(() => takeSnapshot({ ...FEED, atLeast: 3 }, { version: '1', names })).toThrow(
      'npm package list: 2 usable names, expected at least 3',
    );
  });
});
