/**
 * Measures the service against bare `node:http` answering the same bytes, both in one run and in turn, so that
 * a noisy machine disturbs both alike. What counts is the ratio.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { globalAgent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/print.ts';
import { mx, startDns } from '../test/support/dns.ts';
import { type Figures, hasWrk, put } from './load.ts';
import { pinned } from './pinned.ts';
import { sample } from './sample.ts';
import { makeKeys, middle, startService } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 3);
/** One who asks again when the answer is there, a few, the usual measure, and many. */
const CONNECTIONS = [1, 16, 64, 256];
const USUAL = [64];
const UNLISTED = Number(process.env.UNLISTED ?? 10_000);

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-bench-'));
const dns = await startDns();
const unlisted = Array.from({ length: UNLISTED }, (_, i) => `company-${i}.example.com`);
for (const name of unlisted) dns.zones.set(name, { records: [mx(name, 10, 'aspmx.l.google.com', 86_400)] });
/** `LANE=off npm run bench`: through `node:http` alone. By its own name no setting comes as far as this. */
const FAST_LANE = process.env.LANE ?? 'on';
const env = { DATA_DIR: folder, DNS_SERVERS: dns.address, DNS_SENTINELS: '', PORT: '0', FAST_LANE };

function startBare(): Promise<{ child: ChildProcess; url: string }> {
  const [program, ...args] = [...pinned(0), process.execPath, ...process.execArgv];
  const child = fork(new URL('./bare.ts', import.meta.url).pathname, {
    execPath: program!,
    execArgv: args,
  });
  return new Promise(resolve => {
    child.once('message', ({ port }: { port: number }) =>
      resolve({ child, url: `http://127.0.0.1:${port}` }),
    );
  });
}

/** Caps on questions in flight would degrade a burst: the cache is filled a few names at a time. */
async function warm(url: string, authorization: string): Promise<void> {
  for (let i = 0; i < unlisted.length; i += 4) {
    await Promise.all(
      unlisted.slice(i, i + 4).map(name => sample(url, `/v1/public/domain/${name}`, authorization)),
    );
  }
}

/** Both in turn; the bare one has been told what to answer. */
async function compare(
  paths: readonly string[],
  authorization: string,
  connections: number,
): Promise<string[]> {
  const ours: Figures[] = [];
  const theirs: Figures[] = [];
  const load = { paths, authorizations: [authorization], seconds: SECONDS, connections };
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await put({ ...load, url: bare.url }));
    ours.push(await put({ ...load, url: service.url }));
  }
  const [us, them] = [middle(ours), middle(theirs)];
  return [
    us.perSecond.toFixed(0),
    them.perSecond.toFixed(0),
    (us.perSecond / them.perSecond).toFixed(2),
    us.p50.toFixed(2),
    us.p99.toFixed(2),
    them.p50.toFixed(2),
    them.p99.toFixed(2),
  ];
}

const made = await makeKeys(env, [2_000_000_000, 0]);
const [open, spent] = made.map(key => key.authorization) as [string, string];
const service = await startService(env);
const bare = await startBare();
try {
  await warm(service.url, open);
  const cases = [
    {
      name: 'listed domain',
      status: 200,
      paths: ['/v1/public/domain/mailinator.com'],
      authorization: open,
      connections: CONNECTIONS,
    },
    {
      name: `${UNLISTED} cached unlisted domains`,
      status: 200,
      paths: unlisted.map(name => `/v1/public/domain/${name}`),
      authorization: open,
      connections: CONNECTIONS.slice(2),
    },
    {
      name: '401 no such key',
      status: 401,
      paths: ['/v1/public/domain/gmail.com'],
      authorization: 'Bearer nonsense',
      connections: USUAL,
    },
    {
      name: '422 not a domain',
      status: 422,
      paths: ['/v1/public/domain/a_b.com'],
      authorization: open,
      connections: USUAL,
    },
    {
      name: '429 quota used up',
      status: 429,
      paths: ['/v1/public/domain/gmail.com'],
      authorization: spent,
      connections: USUAL,
    },
  ];
  const rows: string[][] = [];
  for (const { name, status, paths, authorization, connections } of cases) {
    // Connections that were kept may have been closed while a load held this process.
    globalAgent.destroy();
    const answer = await sample(service.url, paths[0]!, authorization);
    if (answer.status !== status)
      throw new Error(`${name}: expected ${status}, got ${answer.status} ${answer.body}`);
    await new Promise(resolve => {
      bare.child.once('message', resolve);
      bare.child.send(answer);
    });
    for (const count of connections)
      rows.push([name, `${count}`, ...(await compare(paths, authorization, count))]);
  }
  process.stdout.write(
    `${hasWrk ? 'wrk' : 'autocannon'}, ${ROUNDS} rounds of ${SECONDS} s each in turn, medians; every 200, 422 is counted with fsync\n\n`,
  );
  const columns = ['PER SECOND', 'BARE', 'RATIO', 'P50 MS', 'P99 MS', 'BARE P50', 'BARE P99'];
  printTable(['CASE', 'CONNECTIONS', ...columns], rows);
} finally {
  service.end();
  bare.child.disconnect();
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
}
