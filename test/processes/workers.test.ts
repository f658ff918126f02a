import { renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/binding.ts';
import type { Store } from '../../src/core/ports.ts';
import { newKey } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import { catalogOf } from '../support/catalog.ts';
import { type DnsServer, startDns } from '../support/dns.ts';
import { CALM, call, callMany, type Seen, tally } from '../support/load.ts';
import { callWithLocalParts, everywhere, MARK } from '../support/local-parts.ts';
import { countOf, openBeside, type Running, read, run, startServer } from '../support/process.ts';
import { eventually, full, pause, sized } from '../support/scale.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isStarved } from '../support/vitals.ts';

/** The system deals 64 connections out to all of them. */
const WORKERS = '2';
const CALLERS = 64;
const TOKEN = 'token-of-the-tests-0123456789abcdef';

/** A server of several workers costs 2 s of a processor to start: one for all that it can go on after (2026-11-17). */
let server: Running;
let store: Store;
let dns: DnsServer;
/** The port of the listener for operators. */
let operators: number;
let settings: string;
const setToken = (token: string) => writeFileSync(settings, `ADMIN_TOKEN=${token}\n`);
const ends: (() => void | Promise<void>)[] = [];
const cleanup = (end: () => void | Promise<void>) => void ends.push(end);

/** What one short connection was told while the server started. */
interface AtStart {
  readonly path: string;
  /** It was opened after somebody had heard from `/readyz` that the service is ready. */
  readonly isLate: boolean;
  readonly told: 'starting' | number;
}
let atStart: readonly AtStart[];

/** From before it listens until it has been ready for some time. Several at a time, so that each listener gets some. */
async function watchStart(port: number): Promise<AtStart[]> {
  const seen: AtStart[] = [];
  const until = performance.now() + 120_000;
  let readyAt = Number.POSITIVE_INFINITY;
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
    return (await answer.text()).includes('the service is starting') ? 'starting' : answer.status;
  };
  const watch = async (path: string) => {
    while (performance.now() < Math.min(until, readyAt + 1_000)) {
      const isLate = performance.now() > readyAt;
      const told = await ask(path).catch(() => undefined);
      if (told !== undefined) seen.push({ path, isLate, told });
      if (path === '/readyz' && told === 200) readyAt = Math.min(readyAt, performance.now());
      await pause(10);
    }
  };
  const watching = Promise.all(['/readyz', '/v1/usage', '/readyz', '/v1/usage'].map(watch));
  await eventually('it listens', () => seen.length > 0, 60_000);
  // Whoever listens until the workers do waits for it before it goes, and meanwhile gets its share of the others.
  const idle = connect(port, '127.0.0.1').on('error', () => {});
  await watching;
  idle.destroy();
  return seen;
}

beforeAll(async () => {
  dns = await startDns([['slow.example.com', { fault: 'drop' }]]);
  cleanup(() => dns.close());
  operators = await freePort({ host: '127.0.0.1', port: 0 });
  const folder = temporaryFolder(cleanup);
  settings = join(folder, 'settings.env');
  setToken('before'.repeat(8));
  const apart = { METRICS_PORT: String(operators), DOMAIN_RISK_ENV_FILE: settings };
  const port = await freePort({ host: '127.0.0.1', port: 0 });
  const env = { WORKERS, ACCESS_LOG: 'all', DNS_SERVERS: dns.address, PORT: String(port), ...apart };
  const starting = startServer({ env: { ...env, ...reloadAtStart(folder) }, cleanup });
  [server, atStart] = await Promise.all([starting, watchStart(port)]);
  store = await openBeside(server.folder, cleanup);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** The token is changed when worker 1 has its environment, and told by SIGHUP before it goes on. */
function reloadAtStart(folder: string): Record<string, string> {
  const hook = join(folder, 'hook.mjs');
  const [begun, told] = ['begun', 'told'].map(name => JSON.stringify(join(folder, name)));
  writeFileSync(
    hook,
    `import { existsSync, writeFileSync } from 'node:fs';
    import { isMainThread, workerData } from 'node:worker_threads';
    if (isMainThread) {
      const look = setInterval(() => {
        if (!existsSync(${begun})) return;
        clearInterval(look);
        writeFileSync(${JSON.stringify(settings)}, 'ADMIN_TOKEN=${TOKEN}');
        process.once('SIGHUP', () => setImmediate(() => writeFileSync(${told}, '')));
        process.kill(process.pid, 'SIGHUP');
      }, 5);
    } else if (workerData?.worker === 1) {
      writeFileSync(${begun}, '');
      while (!existsSync(${told})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }\n`,
  );
  return { NODE_OPTIONS: `--import ${hook}` };
}

async function makeKey(limits: { quota?: number; rate?: number } = {}) {
  const made = newKey({ name: 'workers', ...limits }, Date.now());
  await store.createKey(made.key, ACT);
  return made;
}

test('while it starts callers are told to come again, and once /readyz has said 200 nobody is, at whichever worker', () => {
  const told = (path: string, isLate: boolean) =>
    atStart.filter(one => one.path === path && one.isLate === isLate).map(one => one.told);
  for (const [path, status] of [['/readyz', 200] as const, ['/v1/usage', 401] as const]) {
    expect(told(path, false)).toContain('starting');
    expect(told(path, true)).toContain(status);
    expect(told(path, true)).not.toContain('starting');
  }
});

test('over all workers a quota admits exactly that many calls, each with a count of its own', async () => {
  const quota = sized(150, 1003);
  const { key, secret } = await makeKey({ quota });
  const seen = await callMany({ bases: [server.base], secret, callers: CALLERS, calls: 3 * quota });
  // On a machine so busy that the store is late a call may be counted and answered with 500.
  if (!isStarved(server.pid)) expect(tally(seen)).toEqual({ 200: quota, 429: 2 * quota });
  const left = seen.flatMap(one => (one.status === 200 ? [one.remaining!] : []));
  const inDoubt = seen.filter(({ status }) => status === 500).length;
  expect(new Set(left).size).toBe(left.length);
  expect(left.every(count => count < quota)).toBe(true);
  expect(left.length + inDoubt).toBeGreaterThanOrEqual(quota);
  expect(countOf(server.folder, key.id)).toBe(quota);
});

test('over all workers calls with one and with several names fill a quota exactly', async () => {
  const quota = sized(201, 501);
  const { key, secret } = await makeKey({ quota });
  const load = { bases: [server.base], secret, callers: CALLERS / 2, calls: sized(40, 100) };
  const [alone, several] = await Promise.all([
    callMany({ ...load, calls: sized(240, 600) }),
    callMany({ ...load, names: 7 }),
  ]);
  const granted = (seen: readonly Seen[]) => seen.filter(({ status }) => status === 200).length;
  const counted = granted(alone) + 7 * granted(several);
  if (!isStarved(server.pid)) {
    expect(Object.keys(tally([...alone, ...several]))).toEqual(['200', '429']);
    expect(counted).toBe(quota);
  }
  expect(counted).toBeLessThanOrEqual(quota);
  expect(granted(several)).toBeGreaterThan(0);
  expect(countOf(server.folder, key.id)).toBe(quota);
});

test('over all workers a key may make no more calls in a second than its rate', async () => {
  const rate = 20;
  const { secret } = await makeKey({ rate });
  const load = { bases: [server.base], secret, callers: CALLERS, calls: sized(150, 400) };
  const began = performance.now();
  const seen = await callMany(load);
  const seconds = (performance.now() - began) / 1000;
  const served = seen.filter(({ status }) => status === 200).length;
  expect(Object.keys(tally(seen))).toEqual(['200', '429']);
  expect(served).toBeGreaterThanOrEqual(rate);
  expect(served).toBeLessThanOrEqual(rate + rate * seconds);
});

test('a revoked key is refused with the next call on every connection', async () => {
  const { key, secret } = await makeKey();
  const agents = Array.from({ length: 24 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  onTestFinished(() => {
    for (const agent of agents) agent.destroy();
  });
  const callAll = () => Promise.all(agents.map(agent => call({ secret }, server.base, agent)));
  expect(tally(await callAll())).toEqual({ 200: 24 });
  expect(await store.updateKey({ ...key, revokedAt: Date.now() }, key, ACT)).toBe(true);
  expect(tally(await callAll())).toEqual({ 401: 24 });
});

/** Every spelling with every kind of key. */
const CHECKS = sized(8 * 16 * 5, 10_000);
test(`after ${CHECKS} calls no worker has left a local part in the log, a metric, a file, the audit or an answer`, async () => {
  const callers = {
    port: server.port,
    secret: (await makeKey()).secret,
    limited: (await makeKey({ quota: 1, rate: 1 })).secret,
  };
  const lines = () => server.stdout().split('"msg":"request"').length;
  const before = lines();
  const answers = await callWithLocalParts(callers, CHECKS);
  expect(answers.split('HTTP/1.1 ')).toHaveLength(CHECKS + 1);
  await eventually('all are logged', () => lines() >= before + CHECKS);
  const places = await everywhere({
    ...{ ...callers, operators, token: TOKEN, folder: server.folder, answers },
    logged: server.stdout() + server.stderr(),
  });
  expect(Object.keys(places)).toContain('domain-risk.db-wal');
  for (const [place, text] of Object.entries(places))
    expect([place, text.includes(MARK)]).toEqual([place, false]);
});

async function metric(base: string, name: string): Promise<number> {
  const body = await (await fetch(`${base}/metrics`, { headers: { connection: 'close' } })).text();
  const line = body.split('\n').find(one => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('whichever worker is asked, the metrics are those of all of them', async () => {
  const { secret } = await makeKey();
  const base = `http://127.0.0.1:${operators}`;
  const name = 'domain_risk_verdicts_total{reason="disposable"}';
  const before = await metric(base, name);
  const path = '/v1/public/domain/mailinator.com';
  await callMany({ bases: [server.base], secret, callers: CALLERS, calls: CALLERS, path });
  // Each keeps for a second what it was told.
  await eventually('all tell the same', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => metric(base, name)));
    return all.every(one => one === before + CALLERS);
  });
  expect(await metric(base, 'domain_risk_workers')).toBe(2);
  expect(await metric(base, 'process_resident_memory_bytes')).toBeGreaterThan(2 ** 20);
});

test.each(['1', '2'])(
  'a second server with %s workers at the same port ends with 1 and says why',
  async more => {
    const env = { PORT: String(server.port), WORKERS: more };
    const { code, stderr } = await run(['serve'], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${server.port} on 127.0.0.1 is in use`);
    expect((await server.get('/livez')).status).toBe(200);
  },
);

test('workers cannot share the port of a server that has one', async () => {
  const alone = await startTestService({ catalog: await catalogOf(['other.com']) });
  const { code, stderr } = await run(['serve'], { env: { PORT: String(alone.port), WORKERS } });
  expect([code, stderr.includes(`port ${alone.port} on 127.0.0.1 is in use`)]).toEqual([1, true]);
});

test('workers share the listener of operators as well, which another server cannot have', async () => {
  expect(new Set(await askedAs(TOKEN))).toEqual(new Set([200]));
  expect((await server.get('/metrics')).status).toBe(404);
  const { code, stderr } = await run(['serve'], { env: { METRICS_PORT: String(operators), WORKERS } });
  expect([code, stderr.includes(`port ${operators} on 127.0.0.1 is in use`)]).toEqual([1, true]);
});

/** As 12 connections of their own are told, which all workers take. */
async function askedAs(token: string): Promise<number[]> {
  const ask = async () => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    return (await fetch(`http://127.0.0.1:${operators}/admin/keys`, { headers })).status;
  };
  return Promise.all(Array.from({ length: 12 }, ask));
}

test('SIGHUP reloads the token of operators in all workers, also while they start', async () => {
  const after = 'b'.repeat(40);
  expect(server.stdout().split('"settings reloaded"').length - 1).toBe(1);
  expect(new Set(await askedAs(TOKEN))).toEqual(new Set([200]));
  setToken(after);
  server.signal('SIGHUP');
  await eventually('the new token counts', async () =>
    (await askedAs(after)).every(status => status === 200),
  );
  expect(new Set(await askedAs(TOKEN))).toEqual(new Set([401]));
});

/** The last of the server for all: it is gone afterwards. */
test('told to end under load, all workers answer every call that they took, reset none, and are gone within 10 s', async () => {
  const { key, secret } = await makeKey();
  let isOver = false;
  let answered = 0;
  const load = {
    bases: [server.base],
    secret,
    calls: 1e9,
    goOn: () => !isOver,
    onSeen: ({ status }: Seen) => (answered += Number(status === 200)),
  };
  const kept = callMany({ ...load, callers: 32 });
  const opened = callMany({ ...load, callers: 4, keepAlive: false });
  await eventually('calls are answered', () => answered > sized(200, 500));
  const slow = server.get('/v1/public/domain/slow.example.com', secret);
  await eventually('the question is out', () => dns.asked('slow.example.com') > 0);
  const told = performance.now();
  server.signal('SIGTERM');
  await pause(300);
  isOver = true;
  const seen = [...(await kept), ...(await opened)];
  expect((await slow).status).toBe(200);
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - told).toBeLessThan(10_000);
  // As in drain.test.ts: who comes later than a second finds nobody.
  const taken = seen.filter(({ error, endedAt }) => error !== 'ECONNREFUSED' || endedAt - told < 1_000);
  expect(tally(taken)).toEqual({ 200: taken.length });
  expect(countOf(server.folder, key.id)).toBe(taken.length + 1);
});

/** In the thread of a worker the text of its file is carried out, once for each time that it is written. */
function faultHook(): { env: Record<string, string>; cause: (code: string, worker?: number) => void } {
  const folder = temporaryFolder(cleanup);
  const [hook, fault] = [join(folder, 'hook.mjs'), join(folder, 'fault')];
  writeFileSync(
    hook,
    `import { existsSync, readFileSync, rmSync } from 'node:fs';
    import { workerData } from 'node:worker_threads';
    const file = '${fault}' + workerData?.worker;
    const look = () => {
      if (!existsSync(file)) return;
      const code = readFileSync(file, 'utf8');
      if (!code.startsWith('/* always */')) rmSync(file);
      new Function(code)();
    };
    if (workerData?.worker !== undefined) setInterval(look, 20).unref();\n`,
  );
  return {
    env: { NODE_OPTIONS: `--import ${hook}`, WORKERS },
    // Whole at once: one that is looked for every 20 ms would be taken while it is empty.
    cause(code, worker = 1) {
      writeFileSync(`${fault}.partial`, code);
      renameSync(`${fault}.partial`, `${fault}${worker}`);
    },
  };
}

/** Calls that a store was late for, which it may be where others have the processors. */
function late(seen: readonly Seen[], { pid }: Running): number {
  return isStarved(pid) ? seen.filter(({ status }) => status === 500).length : 0;
}

const THROW = "throw new Error('a fault on purpose')";

/** Of the only key that there is. */
function counted(folder: string): number {
  const path = join(folder, 'domain-risk.db');
  return countOf(folder, String(read(path, 'SELECT id FROM key')[0]?.id));
}

describe('one server whose worker has one fault after the other', () => {
  let faulty: Running;
  let cause: ReturnType<typeof faultHook>['cause'];
  let ownSettings: string;
  beforeAll(async () => {
    const hook = faultHook();
    cause = hook.cause;
    ownSettings = join(temporaryFolder(cleanup), 'settings.env');
    writeFileSync(ownSettings, '');
    faulty = await startServer({ env: { ...hook.env, DOMAIN_RISK_ENV_FILE: ownSettings }, cleanup });
  });

  /** Callers who go on all the time, over connections that they keep and some over new ones. */
  function goOnCalling(keeping: number, opening: number) {
    let isOver = false;
    const load = { bases: [faulty.base], secret: faulty.firstKey!, calls: 1e9, goOn: () => !isOver };
    const kept = callMany({ ...load, callers: keeping, restMs: CALM });
    const opened = callMany({ ...load, callers: opening, restMs: CALM, keepAlive: false });
    return async () => {
      isOver = true;
      return [...(await kept), ...(await opened)];
    };
  }
  const replaced = () => faulty.stdout().split('a worker was replaced').length - 1;

  test('a worker with a fault that nobody caught is replaced while the others answer, and no count is lost', async () => {
    const end = goOnCalling(12, 4);
    await pause(200);
    cause(THROW);
    await eventually('it is replaced', () => replaced() === 1);
    await eventually(
      'all are there',
      async () => (await metric(faulty.base, 'domain_risk_workers')) === Number(WORKERS),
    );
    expect(await metric(faulty.base, 'domain_risk_workers_replaced_total')).toBe(1);
    const seen = await end();
    const answered = seen.filter(({ status }) => status === 200).length;
    // Others keep the port busy, so some may be on their way to its listener when that closes: a few, once.
    const lost = seen.filter(({ status }) => status === 0 || status === 408).length;
    expect(answered + lost + late(seen, faulty), JSON.stringify(tally(seen))).toBe(seen.length);
    expect(lost).toBeLessThanOrEqual(16);
    const count = counted(faulty.folder);
    expect([count >= answered, count <= seen.length]).toEqual([true, true]);
    const load = { bases: [faulty.base], secret: faulty.firstKey!, callers: 16, calls: 60 };
    const after = await callMany(load);
    expect(after.filter(({ status }) => status === 200).length + late(after, faulty)).toBe(60);
    const told = faulty
      .stdout()
      .split('\n')
      .filter(line => line.includes('worker'));
    expect(told.map(line => [JSON.parse(line).level, JSON.parse(line).msg])).toEqual([
      [30, 'listening'],
      [60, 'something that must never happen: a worker ends'],
      [50, 'a worker died: another one takes its place'],
      [30, 'a worker was replaced'],
    ]);
  });

  test('of a worker that is gone from one moment to the next no count is lost, and the others go on', async () => {
    const [before, already] = [counted(faulty.folder), replaced()];
    const end = goOnCalling(16, 0);
    await pause(200);
    cause('process.exit(7)');
    await eventually('it is replaced', () => replaced() === already + 1);
    const seen = await end();
    const answered = seen.filter(({ status }) => status === 200).length;
    // Those that it had under way.
    const lost = seen.filter(({ status }) => status === 0).length;
    expect(answered + lost + late(seen, faulty), JSON.stringify(tally(seen))).toBe(seen.length);
    expect(lost).toBeLessThanOrEqual(2 * 16);
    const count = counted(faulty.folder) - before;
    expect(count).toBeGreaterThanOrEqual(answered);
    expect(count).toBeLessThanOrEqual(seen.length);
  });

  test('a worker that hangs is ended and replaced', async () => {
    const already = replaced();
    cause('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)');
    await eventually('it is replaced', () => replaced() === already + 1);
    expect(faulty.stdout()).toContain('a worker hangs: it is ended');
  });

  test('a worker that cannot start is tried again while another one serves, and that it cannot is no death', async () => {
    const already = replaced();
    // The one that is up ends, and of the next ones each finds no port.
    const ended = JSON.stringify(join(temporaryFolder(), 'ended'));
    cause(`/* always */ const [fs, net] = ['fs', 'net'].map(process.getBuiltinModule);
      net.Server.prototype.listen = () => { throw new Error('no port on purpose'); };
      if (fs.existsSync(${ended})) return;
      fs.writeFileSync(${ended}, '');
      ${THROW};`);
    const tries = () => faulty.stdout().split('a worker could not start: it is tried again').length - 1;
    await eventually('it was tried twice', () => tries() >= 2);
    expect((await faulty.get('/v1/public/domain/gmail.com', faulty.firstKey)).status).toBe(200);
    cause('');
    await eventually('it is replaced', () => replaced() === already + 1);
  });

  test('several that die now and then end nobody, and a first token of operators waits for the next start in all of them', async () => {
    writeFileSync(ownSettings, `ADMIN_TOKEN=${TOKEN}\n`);
    faulty.signal('SIGHUP');
    await eventually('it is told', () =>
      faulty
        .stdout()
        .includes('"settings":["ADMIN_TOKEN"],"msg":"these settings count from the next start on"'),
    );
    for (let times = 0; times < 3; times++) {
      const already = replaced();
      cause(THROW, 0);
      await eventually('it is replaced', () => replaced() === already + 1);
    }
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => (await faulty.get('/admin/keys', TOKEN)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
  });

  test('where a worker dies again and again, the process says so and ends with 1', async () => {
    cause('/* always */ process.exit(7)');
    expect(await faulty.exited).toEqual({ code: 1, signal: null });
    expect(faulty.stdout()).toContain('a worker died 6 times within a minute');
  });
});

test('a fault in a worker while all of them end is told, and they end with 1', async () => {
  const { env, cause } = faultHook();
  const ending = await startServer({ env });
  // Kept open, so that each worker waits for a second for what they may still bring.
  const idle = Array.from({ length: 24 }, () => connect(ending.port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  await eventually('all are there', async () => (await metric(ending.base, 'domain_risk_connections')) >= 24);
  ending.signal('SIGTERM');
  await eventually('it ends', () => ending.stdout().includes('shutting down'));
  cause(THROW);
  expect(await ending.exited).toEqual({ code: 1, signal: null });
  expect(ending.stdout()).toContain('a fault on purpose');
  expect(ending.stdout()).toContain('a worker had a fault while it ended');
});

// In the short form crash.test.ts has servers of one and of two workers killed in turn.
test.runIf(full)('killed under load, it has counted every call that any worker has answered', async () => {
  const killed = await startServer({ env: { WORKERS } });
  let isOver = false;
  const load = { bases: [killed.base], secret: killed.firstKey!, calls: 1e9, goOn: () => !isOver };
  const calling = callMany({ ...load, callers: CALLERS });
  await pause(500);
  await killed.kill();
  isOver = true;
  const seen = await calling;
  const answered = seen.filter(({ status }) => status === 200).length;
  expect(answered).toBeGreaterThan(0);
  expect(counted(killed.folder)).toBeGreaterThanOrEqual(answered);
  expect(counted(killed.folder) - answered).toBeLessThanOrEqual(CALLERS);
  const again = await startServer({ folder: killed.folder, env: { WORKERS } });
  expect((await again.get('/readyz')).status).toBe(200);
});
