import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLog } from '../../src/commands/log.ts';

/** A stdout whose reader reads when it is told to. */
function reader() {
  const texts: string[] = [];
  let waiting: (() => void) | undefined;
  let isReading = false;
  const out = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      texts.push(text);
      if (isReading) done();
      else waiting = done;
    },
  });
  return {
    out,
    lines: () => texts.map(text => JSON.parse(text) as Record<string, unknown>),
    readOn() {
      isReading = true;
      waiting?.();
    },
  };
}

const MOST = 2 ** 20;
const LONG = 'x'.repeat(1_000);
const settled = () => new Promise(resolve => setImmediate(resolve));

test('while nobody reads, the log stays within a bound; then it says how many lines are missing', async () => {
  const { out, lines, readOn } = reader();
  const log = createLog('info', out);
  for (let i = 0; i < 5_000; i++) log.info({ i }, LONG);
  expect(out.writableLength).toBeLessThan(MOST + 2_000);
  readOn();
  await settled();
  const kept = lines().filter(({ msg }) => msg === LONG).length;
  expect(kept).toBeGreaterThan(900);
  expect(lines().at(-1)).toMatchObject({ level: 40, dropped: 5_000 - kept, time: expect.any(Number) });
  log.info('and on');
  await settled();
  expect(lines().at(-1)).toMatchObject({ level: 30, msg: 'and on' });
  expect(lines().filter(({ dropped }) => dropped !== undefined)).toHaveLength(1);
});

test('a fatal line is never dropped', async () => {
  const { out, lines, readOn } = reader();
  const log = createLog('info', out);
  for (let i = 0; i < 2_000; i++) log.error(LONG);
  log.fatal('the last words');
  log.info('dropped as before');
  readOn();
  await settled();
  expect(lines().map(({ msg }) => msg)).toContain('the last words');
  expect(lines().map(({ msg }) => msg)).not.toContain('dropped as before');
});
