import { expect, it } from 'vitest';
import { PACKING } from '../../src/feeds/pack.ts';

it.each(['', '{"names":["a.com"]}\n', '{"labels":[["a.com","B\u00fccher \u{1f4da}"]]}\n'])(
  'the text %j comes back from the store as it was',
  async text => {
    expect(await PACKING.unpack(await PACKING.pack(text))).toBe(text);
  },
);
