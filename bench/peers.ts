/**
 * `npm run bench:peers`: the service beside what a developer would use instead, all in one run and in turn, each on one
 * core with the load on the other. A listed name, and names that nobody has asked for before with DNS 20 ms away.
 */

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/print.ts';
import { mx, startDns } from '../test/support/dns.ts';
import { type Chart, chart } from './chart.ts';
import { type Figures, put } from './load.ts';
import { pinned } from './pinned.ts';
import { makeKeys, middle, startService } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 3);
const CONNECTIONS = [64, 256];
const DNS_MS = 20;
/** More than are asked for in one round. */
const NAMES = Number(process.env.NAMES ?? 30_000);
const PACKAGES = ['deep-email-validator', 'mailchecker', 'disposable-email-domains'];

interface Contestant {
  readonly name: string;
  readonly url: string;
  /** It asks DNS for names that it does not know. */
  readonly asksDns: boolean;
  end(): void;
}

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-peers-'));
const dns = await startDns();
const env = { DATA_DIR: folder, DNS_SERVERS: dns.address, DNS_SENTINELS: '', PORT: '0' };
const { authorization } = (await makeKeys(env, [2_000_000_000]))[0]!;

/** In a folder of their own: the project needs none of them. */
function install(): string {
  const into = join(folder, 'packages');
  mkdirSync(into);
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', into];
  const { status, stderr } = spawnSync('npm', [...args, ...PACKAGES], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm could not install ${PACKAGES.join(', ')}: ${stderr}`);
  return into;
}

async function startPeer(name: string, which: string, packages: string): Promise<Contestant> {
  const [program, ...args] = [...pinned(0), process.execPath, ...process.execArgv];
  const file = new URL('./peer.ts', import.meta.url).pathname;
  const child: ChildProcess = fork(file, [which, packages, dns.address], {
    execPath: program!,
    execArgv: args,
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message: { port: number }) => resolve(message.port));
    child.once('exit', code => reject(new Error(`${name} ended with ${code}`)));
  });
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    asksDns: which !== 'mailchecker',
    end: () => child.disconnect(),
  };
}

async function startOurs(): Promise<Contestant> {
  return { name: 'domain-risk', asksDns: true, ...(await startService(env)) };
}

/** Names that were never asked for, each with its mail at a business platform. */
let made = 0;
function freshNames(): string[] {
  dns.zones.clear();
  return Array.from({ length: NAMES }, () => {
    const name = `company-${made++}.com`;
    const records = [mx(name, 10, 'aspmx.l.google.com', 3_600)];
    dns.zones.set(name, { records, fault: { slow: DNS_MS } });
    return name;
  });
}

async function degraded(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^domain_risk_degraded_total (\d+)/m.exec(text)?.[1] ?? 0);
}

const pathOf = (name: string) => `/v1/public/domain/${name}`;

/** Medians of some rounds, in which they come one after the other. */
async function compare(those: readonly Contestant[], names: () => string[], connections: number) {
  const figures = new Map<Contestant, Figures[]>(those.map(one => [one, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const one of those) {
      const paths = names().map(pathOf);
      dns.questions.length = 0;
      figures
        .get(one)!
        .push(
          await put({ url: one.url, paths, authorizations: [authorization], seconds: SECONDS, connections }),
        );
    }
  return those.map(one => ({ name: one.name, ...middle(figures.get(one)!) }));
}

const contestants: Contestant[] = [];
try {
  const packages = install();
  const ours = await startOurs();
  contestants.push(ours);
  contestants.push(await startPeer('a Set and dns.resolveMx', 'set', packages));
  contestants.push(await startPeer('deep-email-validator', 'deep-email-validator', packages));
  contestants.push(await startPeer('mailchecker', 'mailchecker', packages));
  const charts: Chart[] = [];
  const rows: string[][] = [];
  const note = (what: string, connections: number, results: Awaited<ReturnType<typeof compare>>) => {
    const [first] = results;
    for (const { name, perSecond, p50, p99 } of results)
      rows.push([
        ...[what, `${connections}`, name, perSecond.toFixed(0)],
        ...[(perSecond / first!.perSecond).toFixed(2), p50.toFixed(1), p99.toFixed(1)],
      ]);
    charts.push({ title: `${what}, ${connections} connections`, bars: results });
  };
  note('a listed name', 64, await compare(contestants, () => ['mailinator.com'], 64));
  const asking = contestants.filter(({ asksDns }) => asksDns);
  for (const connections of CONNECTIONS) {
    const before = await degraded(ours.url);
    note(`new names, DNS ${DNS_MS} ms away`, connections, await compare(asking, freshNames, connections));
    const count = (await degraded(ours.url)) - before;
    process.stdout.write(`${connections} connections: ${count} answers of ours were degraded\n`);
    if (count > 0) process.exitCode = 1;
  }
  process.stdout.write(
    `\n${ROUNDS} rounds of ${SECONDS} s each in turn, medians; ours counts every call durably, for a key with a quota\n\n`,
  );
  printTable(['CASE', 'CONNECTIONS', 'WHO', 'PER SECOND', 'TO OURS', 'P50 MS', 'P99 MS'], rows);
  if (process.env.CHART) writeFileSync(process.env.CHART, chart(charts));
} finally {
  for (const one of contestants) one.end();
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
}
