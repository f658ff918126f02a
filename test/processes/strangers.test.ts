import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, API_PATH, percentile, startBystander, statusesOf } from '../support/bystander.ts';
import { ALL_LISTS, countOf, fatalLines, read, startServer } from '../support/process.ts';
import { eventually, SEED, sized } from '../support/scale.ts';
import { pathsOf, sendStrangers } from '../support/strangers.ts';
import { descriptors, megabytes, stretch, watchMemory } from '../support/vitals.ts';

const CONNECTIONS = sized(1_000, 100_000);
const AT_ONCE = sized(300, 5_000);
const LONG_MS = sized(3_000, 15_000);
/** The promise at full size; in the short form other tests run on the same cores, for which `stretch` allows. */
const P99_MS = sized(5_000, 500);
const LEAST_SHARE = sized(0.99, 1);
/** The store's threads open theirs when there is first work for them. */
const OWN_DESCRIPTORS = 20;
const MOST_MEGABYTES = 128;
/** A server that breaks its promise must not take the machine with it. */
const FATAL_MEGABYTES = 1_024;

const DOCUMENTED = [
  ...['200', '204', '304', '400', '401', '403', '404', '405', '408', '413', '414', '415', '417', '422'],
  ...['429', '431', '503'],
];

test(`${CONNECTIONS} strangers send any bytes in any order at any speed: the process lives, another caller notices nothing, memory and descriptors come back`, {
  timeout: sized(180_000, 1_800_000),
}, async () => {
  process.stdout.write(`SEED=${SEED}\n`);
  const server = await startServer(sized({}, { env: ALL_LISTS }));
  const paths = await pathsOf(server.base);
  const bystander = startBystander(server, {
    secret: server.firstKey!,
    paths: [API_PATH, API_PATH, API_PATH, '/livez'],
    perSecond: 25,
  });
  await eventually('the first calls are answered', () => bystander.seen.length > 25);
  const before = { megabytes: megabytes(server.pid), ...descriptors(server.pid) };
  const memory = watchMemory(server.pid, growth => {
    if (growth > FATAL_MEGABYTES) server.signal('SIGKILL');
  });
  onTestFinished(memory.stop);

  const aftermath = await sendStrangers(
    { port: server.port, seed: SEED, connections: CONNECTIONS, atOnce: AT_ONCE, longMs: LONG_MS, paths },
    onTestFinished,
  );
  const seen = await bystander.stop();
  const mostMs = P99_MS * sized(stretch(server.pid), 1);
  memory.stop();
  const counts = Object.entries(aftermath.statuses).map(([status, { count }]) => `${count} × ${status}`);
  process.stdout.write(
    `${aftermath.mostOpen} at once; memory grew by ${memory.growth().toFixed(0)} MiB; p99 of another caller ${percentile(seen, 0.99).toFixed(0)} ms; ${counts.join(', ')}; ${JSON.stringify(aftermath.errors)}\n`,
  );
  expect(fatalLines(server)).toEqual([]);
  expect(memory.growth()).toBeLessThan(MOST_MEGABYTES);
  expect(await Promise.race([server.exited, 'alive'])).toBe('alive');
  const wrong = Object.entries(aftermath.statuses).filter(([status]) => !DOCUMENTED.includes(status));
  expect(wrong).toEqual([]);

  const good = seen.filter(({ status }) => status === 200);
  expect(good.length / seen.length, JSON.stringify(statusesOf(seen))).toBeGreaterThanOrEqual(LEAST_SHARE);
  expect(percentile(seen, 0.99)).toBeLessThan(mostMs);
  const calls = (answers: readonly Answer[]) => answers.filter(({ path }) => path === API_PATH).length;
  const inDoubt = calls(seen.filter(({ status }) => status === 0 || status === 500));
  const id = String(read(join(server.folder, 'domain-risk.db'), 'SELECT id FROM key')[0]?.id);
  expect(countOf(server.folder, id)).toBeGreaterThanOrEqual(calls(good));
  expect(countOf(server.folder, id)).toBeLessThanOrEqual(calls(good) + inDoubt);

  // Whoever was gone is gone: the descriptors at once, the memory when the next collections have run.
  await eventually('descriptors end with the sockets', () => {
    const { all, sockets } = descriptors(server.pid);
    return sockets <= before.sockets && all <= before.all + OWN_DESCRIPTORS;
  });
  await eventually(
    'the memory comes back',
    () => megabytes(server.pid) - before.megabytes < MOST_MEGABYTES / 2,
    60_000,
  );
});
