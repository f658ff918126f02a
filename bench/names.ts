/** `npm run bench:names`: names per second, one in each call against many in one, in turn on the same service. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/print.ts';
import { mx, startDns } from '../test/support/dns.ts';
import { type Figures, put } from './load.ts';
import { sample } from './sample.ts';
import { makeKeys, middle, startService } from './serving.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const SECONDS = Number(process.env.SECONDS ?? 3);
const CONNECTIONS = 64;
const NAMES = 2_000;
/** In one call. */
const SIZES = [1, 10, 100, 1_000];

const folder = mkdtempSync(join(tmpdir(), 'domain-risk-bench-'));
const dns = await startDns();
const names = Array.from({ length: NAMES }, (_, i) => `company-${i}.example.com`);
for (const name of names) dns.zones.set(name, { records: [mx(name, 10, 'aspmx.l.google.com', 86_400)] });
const env = { DATA_DIR: folder, DNS_SERVERS: dns.address, DNS_SENTINELS: '', PORT: '0' };
const [key] = await makeKeys(env, [2_000_000_000]);
const { authorization } = key!;
const service = await startService(env);

/** Different names in calls that follow each other. */
function bodiesOf(size: number): string[] {
  const count = Math.min(20, NAMES / size);
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({ domains: names.slice(i * size, (i + 1) * size) }),
  );
}

function loadOf(size: number) {
  const load = {
    url: service.url,
    authorizations: [authorization],
    seconds: SECONDS,
    connections: CONNECTIONS,
  };
  return size === 1
    ? { ...load, paths: names.map(name => `/v1/public/domain/${name}`) }
    : { ...load, paths: ['/v1/public/domains'], bodies: bodiesOf(size) };
}

try {
  for (let i = 0; i < NAMES; i += 4) {
    const some = names.slice(i, i + 4);
    await Promise.all(some.map(name => sample(service.url, `/v1/public/domain/${name}`, authorization)));
  }
  const figures = new Map<number, Figures[]>(SIZES.map(size => [size, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const size of SIZES) figures.get(size)!.push(await put(loadOf(size)));
  const [alone] = SIZES.map(size => middle(figures.get(size)!).perSecond);
  const rows = SIZES.map(size => {
    const { perSecond, p50, p99 } = middle(figures.get(size)!);
    const perName = perSecond * size;
    return [
      `${size}`,
      perSecond.toFixed(0),
      perName.toFixed(0),
      (perName / alone!).toFixed(1),
      p50.toFixed(1),
      p99.toFixed(1),
    ];
  });
  process.stdout.write(
    `${CONNECTIONS} connections, ${NAMES} cached unlisted names, every one counted with fsync\n\n`,
  );
  printTable(['NAMES IN A CALL', 'CALLS/S', 'NAMES/S', 'TIMES ONE', 'P50 MS', 'P99 MS'], rows);
} finally {
  await service.end();
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
}
