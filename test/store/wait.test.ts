import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { waitAtMost } from '../../src/store/wait.ts';
import { eventually, hold, pause, turn } from '../support/scale.ts';

test('ends by itself after its time, and not before', async () => {
  const started = performance.now();
  await new Promise<void>(resolve => void waitAtMost(200, resolve));
  const took = performance.now() - started;
  expect(took).toBeGreaterThanOrEqual(199);
  // 201 ms were measured (2026-11-15).
  expect(took).toBeLessThan(2_000);
});

test('does not pass before an answer is read that came in time, not even in its last moment', async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const seen: string[] = [];
  // Shorter than a step: nothing is left of it once the loop turns again.
  const wait = waitAtMost(40, () => seen.push('passed'));
  port1.on('message', () => {
    seen.push('answered');
    wait.end();
  });
  await turn();
  port2.postMessage('');
  hold(500);
  await pause(100);
  expect(seen).toEqual(['answered']);
});

test('takes nothing from it while the event loop is held, and tells how long that was', async () => {
  const wait = waitAtMost(900);
  hold(1_500);
  expect(wait.left()).toBeGreaterThanOrEqual(800);
  await eventually('its time goes on', () => wait.left() < 800);
  expect(wait.held()).toBeGreaterThan(1_000);
  wait.end();
});

test('that was ended does not pass', async () => {
  let isPassed = false;
  const wait = waitAtMost(20, () => {
    isPassed = true;
  });
  wait.end();
  await pause(100);
  expect(isPassed).toBe(false);
});
