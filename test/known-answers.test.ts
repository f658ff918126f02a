import { expect, it } from 'vitest';
import { buildCatalog } from '../src/assemble.ts';
import { SOURCES } from '../src/feeds/sources.ts';
import { knownAnswers, type WrongAnswer, wrongAnswers } from './support/known-answers.ts';

/** One line for each, so that a failure says what to mend. */
function told({ domain, expected, answered }: WrongAnswer): string {
  const differing = Object.keys(expected).filter(column => expected[column] !== answered[column]);
  return `${domain}: ${differing.map(column => `${column} ${answered[column]}, is ${expected[column]}`).join('; ')}`;
}

it('answers at least 99 of 100 names that people know as they are', async () => {
  const known = knownAnswers();
  expect(known.length).toBeGreaterThanOrEqual(300);
  const wrong = await wrongAnswers(await buildCatalog(SOURCES, () => {}), known);
  if (wrong.length > 0)
    console.warn(`${wrong.length} of ${known.length} wrong:\n${wrong.map(told).join('\n')}`);
  expect(wrong.length, wrong.map(told).join('\n')).toBeLessThanOrEqual(known.length / 100);
});
