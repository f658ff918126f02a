import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startDns } from '../support/dns.ts';
import { callMany, type Seen, tally } from '../support/load.ts';
import { countOf, read, startServer } from '../support/process.ts';
import { eventually, pause, sized } from '../support/scale.ts';

const CALLERS = sized(32, 128);
/** For so long it still takes new connections (`LINGER_MS` in src/http/drain.ts): whoever is slower finds nobody. */
const TAKES_MS = 1_000;

test('told to end under load, it answers every call that it took, resets none, and is gone within 10 s', async () => {
  const dns = await startDns([['slow.example.com', { fault: 'drop' }]]);
  onTestFinished(() => dns.close());
  const server = await startServer({ env: { DNS_SERVERS: dns.address } });
  const secret = server.firstKey!;
  let ended = false;
  let answered = 0;
  const load = {
    bases: [server.base],
    secret,
    calls: 1e9,
    goOn: () => !ended,
    onSeen: ({ status }: Seen) => (answered += Number(status === 200)),
  };
  const kept = callMany({ ...load, callers: CALLERS });
  const opened = callMany({ ...load, callers: 4, keepAlive: false });
  await eventually('calls are answered', () => answered > sized(200, 500));
  // This one waits for DNS when the end is announced, and is answered all the same.
  const slow = server.get('/v1/public/domain/slow.example.com', secret);
  await eventually('the question is out', () => dns.asked('slow.example.com') > 0);

  // And this one is kept open without a call: it does not hold the end up.
  const idle = connect(server.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void idle.destroy());

  const told = performance.now();
  server.signal('SIGTERM');
  await eventually('it says that it ends', () => server.stdout().includes('shutting down'));
  const ready = await server.get('/readyz').then(
    response => response.status,
    (error: Error) => (error.cause as NodeJS.ErrnoException).code,
  );
  if (ready !== 503) expect([ready, performance.now() - told > TAKES_MS]).toEqual(['ECONNREFUSED', true]);
  // Whoever sends the calls sees that it is not ready, and needs a moment to send them elsewhere.
  await pause(Math.max(0, 300 - (performance.now() - told)));
  ended = true;
  const seen = [...(await kept), ...(await opened)];
  expect((await slow).status).toBe(200);
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - told).toBeLessThan(10_000);

  // Nobody took those who came when the listener was gone, which a slow tester does.
  const isTooLate = ({ error, endedAt }: Seen) => error === 'ECONNREFUSED' && endedAt - told > TAKES_MS;
  const taken = seen.filter(one => !isTooLate(one));
  expect(tally(taken)).toEqual({ 200: taken.length });
  expect(taken.some(one => one.startedAt > told)).toBe(true);
  const id = String(read(join(server.folder, 'domain-risk.db'), 'SELECT id FROM key')[0]?.id);
  expect(countOf(server.folder, id)).toBe(taken.length + 1);
});
