import { expect, test, vi } from 'vitest';
import { madeOnce } from '../../src/http/endpoints/probes.ts';

/** What is given out when it is asked for at these moments after the process began. */
async function givenAt(...moments: number[]): Promise<number[]> {
  const given: number[] = [];
  let made = 0;
  const give = madeOnce(async () => ++made);
  for (const moment of moments) {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(moment);
    const giving = give(it => given.push(it));
    clock.mockRestore();
    await giving;
  }
  return given;
}

test('who watches is answered from the first moment of the process on', async () => {
  expect(await givenAt(0)).toEqual([1]);
  expect(await givenAt(900)).toEqual([1]);
});

test('however many ask, it is made once a second', async () => {
  expect(await givenAt(10, 500, 1_010, 1_011, 1_500, 2_011, 2_012)).toEqual([1, 1, 1, 2, 2, 2, 3]);
});
