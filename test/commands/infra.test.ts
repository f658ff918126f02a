import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadCatalog } from '../../src/compose.ts';
import { lineage } from '../../src/core/domain.ts';
import { isByTwoFamilies } from '../../src/core/guest.ts';
import { dayOf } from '../../src/core/quota.ts';
import { packageFeeds } from '../../src/feeds/packages.ts';
import { a, mx, startDns } from '../support/dns.ts';
import { LONG_LISTS } from '../support/environment.ts';
import { guestOf } from '../support/guests.ts';
import { CLI, output, type ProcessOptions, run, runJson, startChild } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { storeAt } from '../support/store.ts';

interface Swept {
  readonly asked: number;
  readonly received: number;
  readonly left: number;
  readonly learned: number;
}
interface Shown {
  readonly host: string;
  readonly state: string;
  readonly flagged: number;
  readonly sum: number;
}

/** Listed names come after all innocent ones. */
const INNOCENT_ONES_DONE = '1 ';

/** Has the same guests, and nobody is judged by it. */
const SHARED = 'mx.shared.net';

/** One list, and one of the operator's own beside it, are two families: enough, and each program reads them again. */
const OFF = LONG_LISTS.join();

const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
});

/** Where a sweep has come to names that two families list and that were seen on one host; made once, for all to copy. */
async function sweptOnce() {
  const folder = temporaryFolder(end => void ends.push(end as () => void));
  const installed = await packageFeeds()
    .find(({ feed }) => feed.id === 'disposable-email-domains')!
    .read();
  const listed = installed.names.toSorted().slice(0, 15);
  const path = join(folder, 'ours.txt');
  writeFileSync(path, listed.join('\n'));
  const store = await storeAt(join(folder, 'domain-risk.db'));
  await run(['feeds', 'add', 'ours', path], { folder, env: { FEEDS_OFF: OFF } });
  const catalog = await loadCatalog({ feedsOff: OFF.split(',') }, () => {}, store);
  for (const name of listed) expect(isByTwoFamilies(catalog.listed(lineage(name)).families)).toBe(true);
  await store.markSweep({
    generation: catalog.generation,
    last: INNOCENT_ONES_DONE,
    endedAt: null,
    firstEndedAt: null,
    dead: null,
  });
  // Names that were seen here a month before they were listed.
  const guests = listed.map(domain =>
    guestOf({ host: 'mx.box.net', domain, entry: domain, day: dayOf(Date.now()) }),
  );
  const groups = ['mx.box.net', '*.box.net', '5.61.1.1', SHARED];
  const everywhere = groups.flatMap(host => guests.map(guest => ({ ...guest, host })));
  await store.learn(everywhere, [SHARED], dayOf(Date.now()), '2026-01-01');
  await store.close();
  return { folder, listed, all: catalog.size };
}
let made: ReturnType<typeof sweptOnce> | undefined;

/** Such a store, and a loopback DNS where these names have one host. */
async function swept() {
  made ??= sweptOnce();
  const { folder: original, listed, all } = await made;
  const folder = temporaryFolder();
  cpSync(original, folder, { recursive: true });
  const dns = await startDns([['mx.box.net', { records: [a('mx.box.net', '5.61.1.1')] }]]);
  onTestFinished(() => dns.close());
  for (const name of [...listed, 'fresh-name.com'])
    dns.zones.set(name, { records: [mx(name, 10, 'mx.box.net')] });
  return { options: { folder, env: { FEEDS_OFF: OFF, DNS_SERVERS: dns.address } }, dns, all };
}

const sweep = (args: readonly string[], options: ProcessOptions) =>
  runJson<Swept>(['feeds', 'sweep', ...args], options);

describe('feeds sweep, infra list and infra forget', () => {
  it('learn hosts, show them, and take one out for good', async () => {
    const { options, all } = await swept();
    const done = await sweep(['--limit', '200', '--rate', '1000'], options);
    expect(done).toMatchObject({ asked: 200, left: all - 200, learned: 3 });
    expect(done.received).toBeGreaterThanOrEqual(10);

    const shown = await runJson<Shown[]>(['infra', 'list'], options);
    expect(shown.map(({ host, state }) => [host, state])).toEqual([
      ['*.box.net', 'disposable'],
      ['5.61.1.1', 'disposable'],
      ['mx.box.net', 'disposable'],
      [SHARED, 'shared'],
    ]);
    expect(shown.slice(0, 3).every(({ sum, flagged }) => sum > 2.1 && sum <= flagged)).toBe(true);
    expect(await runJson(['lookup', 'fresh-name.com'], options)).toMatchObject({
      risk_score: 84,
      reason: 'disposable',
    });
    expect(await runJson(['infra', 'forget', 'MX.box.net.'], options)).toEqual({
      host: 'mx.box.net',
      forgotten: true,
      also: ['*.box.net', '5.61.1.1'],
    });
    const { stdout } = await run(['infra', 'list'], options);
    expect(stdout).toMatch(/^HOST +STATE +SUM +LISTED DOMAINS/);
    expect(stdout).toMatch(/^mx\.box\.net +forgotten/m);
  });

  it('Ctrl-C keeps what was done, and the next sweep goes on from there', async () => {
    const { options, dns, all } = await swept();
    const env = { PATH: process.env.PATH, DATA_DIR: options.folder, ...options.env };
    const child = startChild([process.execPath, CLI, 'feeds', 'sweep', '--rate', '200', '--json'], env);
    onTestFinished(() => void child.child.kill('SIGKILL'));
    while (dns.questions.length < 50) await new Promise(done => setTimeout(done, 10));
    child.child.kill('SIGINT');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await output(child, /run it again to continue/);
    const { asked, left } = JSON.parse(child.stdout()) as Swept;
    expect(asked).toBeGreaterThanOrEqual(15);
    expect(left).toBe(all - asked);
    const next = await sweep(['--limit', '1'], options);
    expect(next).toMatchObject({ asked: 1, left: left - 1 });
  });

  it.each([
    [['infra', 'forget', 'no host'], 2, /must be a name/],
    [['infra', 'forget', 'mx.never-seen.net'], 1, /infra list/],
    [['feeds', 'sweep', '--rate', '0'], 2, /whole number from 1 to 1000/],
    [['feeds', 'sweep', '--limit', '-1'], 2, /limit/],
    [['feeds', 'sweep', '--limit', '60', '--rate', '1000'], 1, /DNS_SERVERS/],
  ])('%j ends with %i and says why', async (args, code, why) => {
    made ??= sweptOnce();
    const { folder } = await made;
    const ended = await run(args, { folder, env: { FEEDS_OFF: OFF } });
    expect(ended.stderr).toMatch(why);
    expect(ended).toMatchObject({ code, stdout: '' });
  });
});
