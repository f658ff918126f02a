import { expect, test } from 'vitest';
import { Shares } from '../../src/http/shares.ts';

interface One {
  readonly name: string;
  readonly network: string;
  open: number;
}

const one = (name: string, network: string, open = 0): One => ({ name, network, open });

function shares(most: number) {
  const gone: string[] = [];
  const all = new Shares<One>(most, ({ name }) => gone.push(name));
  return { all, gone };
}

test('where all take too much, the network that takes most gives way, and nobody else', () => {
  const { all, gone } = shares(100);
  const [honest, ...strangers] = [one('honest', 'a'), one('s1', 'b'), one('s2', 'b'), one('s3', 'b')];
  all.set(strangers[0]!, 30);
  all.set(strangers[1]!, 30);
  all.set(strangers[2]!, 30);
  expect(gone).toEqual([]);
  all.set(honest!, 40);
  expect(gone).toEqual(['s1']);
  // What it took is free again, and is not counted twice.
  all.set(strangers[0]!, 0);
  all.set(honest!, 20);
  expect(gone).toEqual(['s1']);
  all.set(strangers[0]!, 90);
  expect(gone).toEqual(['s1', 's2', 's3', 's1']);
});

test('in a network whoever waits for no answer gives way first, of those the one who took some longest ago', () => {
  const { all, gone } = shares(100);
  const [busy, first, second] = [one('busy', 'a', 1), one('first', 'a'), one('second', 'a')];
  all.set(busy, 30);
  all.set(first, 30);
  all.set(second, 30);
  all.set(first, 31);
  all.set(one('next', 'b'), 20);
  expect(gone).toEqual(['second']);
  first.open = 1;
  all.set(one('last', 'b'), 45);
  expect(gone).toEqual(['second', 'next', 'busy']);
});
