import { hash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseTables } from '../../src/core/tables.ts';
import { packageFeeds } from '../../src/feeds/packages.ts';
import { readTables } from '../../src/feeds/tables.ts';
import { catalogOf } from '../support/catalog.ts';
import { LONG_LISTS } from '../support/environment.ts';
import { hasTool, openBeside, read, run, runJson } from '../support/process.ts';
import { eventually } from '../support/scale.ts';
import { sharedService, temporaryFolder } from '../support/service.ts';

interface Report {
  readonly feeds: { readonly feed: string; readonly outcome: string; readonly problems: string[] }[];
}

const FEED = 'disposable-email-domains';
const shared = sharedService({ catalog: await catalogOf(['other.com']), followMs: 50 });
/** With a second list that updates bring. */
const OFF = LONG_LISTS.filter(feed => feed !== 'fakefilter').join();
const beside = () => ({ folder: shared().folder, env: { FEEDS_OFF: OFF } });
const storedRows = () =>
  read(join(shared().folder, 'domain-risk.db'), 'SELECT * FROM snapshot ORDER BY feed');

const installed = await packageFeeds()
  .find(({ feed }) => feed.id === FEED)!
  .read();
/** Errors of the feed that a table takes back. */
const tables = parseTables(await readTables());
const vetoed = installed.names.filter(name => tables.protected.has(name)).length;

/** A file with the installed names of the feed, and with these. */
function listWith(...names: string[]): string {
  const path = join(temporaryFolder(), 'list.conf');
  writeFileSync(path, `# a list\n${[...installed.names, ...names].join('\n')}\n`);
  return path;
}

async function webPage(): Promise<string> {
  const server = createServer((_, res) => res.end('<html>Log in'));
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`;
}

/** No test may ask the system's resolver: this one knows nothing, at once. */
function noNetwork(): string {
  const hook = join(temporaryFolder(), 'no-network.mjs');
  writeFileSync(
    hook,
    `import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
dns.lookup = (host, options, found) => found(new Error('getaddrinfo ENOTFOUND ' + host));
syncBuiltinESMExports();
`,
  );
  return hook;
}

let secret = '';
async function answered(name: string): Promise<{ reason: string }> {
  if (secret === '') secret = (await shared().key()).secret;
  const response = await shared().get(`/v1/public/domain/${name}`, secret);
  expect(response.status).toBe(200);
  return response.json() as ReturnType<typeof answered>;
}
const withOff = (off: string) => ({ FEEDS_OFF: off });
const metrics = async () => (await shared().get('/metrics')).text();

/** A clock as of a machine without a battery. */
function monthsBehind(): string {
  const hook = join(temporaryFolder(), 'months-behind.mjs');
  writeFileSync(
    hook,
    `const { now } = Date;
Date.now = () => now() - 400 * 86_400_000;
`,
  );
  return hook;
}

describe('feeds update', () => {
  it('brings fresh names to a running server, with no restart, and back again', async () => {
    const name = 'fresh-throwaway-of-today.com';
    expect((await answered(name)).reason).not.toBe('disposable');
    expect(await metrics()).not.toMatch(/domain_risk_feed_age_seconds\{/);

    const path = listWith(name, '__proto__', 'constructor', 'co.uk');
    const ended = await run(['feeds', 'update', '--from', `${FEED}=${path}`], beside());
    expect(ended).toMatchObject({ code: 0, stderr: '1 of 1 feeds have a new version\n' });
    expect(ended.stdout).toMatch(/^FEED +OUTCOME +VERSION +NAMES +DROPPED/);
    const before = installed.names.length;
    const now = before + 1;
    expect(ended.stdout).toMatch(new RegExp(`accepted +\\S+ → 20\\S+Z +${before} → ${now} +3\n`));

    await eventually('the server follows', async () => (await answered(name)).reason === 'disposable');
    const age = new RegExp(`^domain_risk_feed_age_seconds\\{feed="${FEED}"\\} (\\S+)$`, 'm');
    // The metrics are made once a second.
    await eventually('the metrics follow', async () => age.test(await metrics()));
    expect(Number(age.exec(await metrics())?.[1])).toBeLessThan(60);
    expect(await metrics()).toContain(`domain_risk_feed_names{feed="${FEED}"} ${now - vetoed}`);
    const { stdout } = await run(['feeds', 'status'], beside());
    expect(stdout).toMatch(
      /^FEED +KIND +FAMILY +LICENCE +VERSION +CHECKED +CHANGED +CHANGE +NAMES +DROPPED\n/,
    );
    expect(stdout).toMatch(
      new RegExp(
        `^${FEED} +disposable +verified +CC0-1.0 +20\\S+Z +20\\S+Z +20\\S+Z +\\+1 -0 +${now - vetoed} +${3 + vetoed}$`,
        'm',
      ),
    );
    expect(stdout).toMatch(
      /^fakefilter +disposable +verified +BSD-3-Clause +\S+ +never +as installed +\d{4} +0$/m,
    );
    const fresh = new RegExp(`^domain_risk_feed_checked_age_seconds\\{feed="${FEED}"\\} \\d`, 'm');
    expect(await metrics()).toMatch(fresh);
    expect(await metrics()).toContain(`domain_risk_feed_failing{feed="${FEED}"} 0`);
    expect(await (await shared().get('/readyz')).json()).toMatchObject({
      feeds: { status: 'fresh', checked_at: expect.stringMatching(/^20/), failing: [] },
    });
    expect(stdout).toMatch(/"domain-risk feeds update" adds castle, domains-mx, majestic-million/);

    const back = await run(['feeds', 'rollback', FEED], beside());
    expect(back.stdout).toBe(
      `${FEED} is as installed; updates leave it alone until "feeds rollback --undo", or "feeds update ${FEED}", after which what you went back from is not kept\n`,
    );
    await eventually('the server goes back', async () => (await answered(name)).reason !== 'disposable');
    const undone = await runJson(['feeds', 'rollback', FEED, '--undo'], beside());
    expect(undone).toMatchObject({ feed: FEED, names: now, held: false });
    await eventually('the server goes forth', async () => (await answered(name)).reason === 'disposable');
    expect(await runJson(['feeds', 'remove', FEED], beside())).toEqual({ feed: FEED, removed: true });
    await eventually('the server goes back', async () => (await answered(name)).reason !== 'disposable');
    const again = await run(['feeds', 'remove', FEED], beside());
    expect([again.code, again.stdout]).toEqual([1, '']);
    // Every version was deleted with it, and the days of its names, without a word (2026-11-18).
    expect(await runJson(['feeds', 'rollback', FEED, '--undo'], beside())).toEqual(undone);
    expect((await run(['feeds', 'remove', FEED], beside())).stdout).toBe(back.stdout);
    const acts = (await shared().store.audit(10)).filter(({ subject }) => subject === FEED);
    expect(acts.map(({ action, via }) => [action, via])).toEqual([
      ['feed.remove', 'command line'],
      ['feed.return', 'command line'],
      ['feed.remove', 'command line'],
      ['feed.return', 'command line'],
      ['feed.rollback', 'command line'],
      ['feed.update', 'command line'],
    ]);
  });

  it('refuses what is broken, says so and ends with 1, takes the others, and takes all by force', async () => {
    const bad = listWith('taken-by-force.com', 'gmail.com');
    const good = join(temporaryFolder(), 'castle.txt');
    writeFileSync(good, Array.from({ length: 900 }, (_, at) => `castle-${at}.com`).join('\n'));
    const sources = [`${FEED}=${bad}`, `castle=${good}`, `domains-mx=${await webPage()}`];
    const args = ['feeds', 'update', ...sources.flatMap(source => ['--from', source])];
    const dry = await run([...args, '--dry-run', '--json'], beside());
    expect(storedRows()).toEqual([]);

    const ended = await run([...args, '--json'], beside());
    expect(ended.code).toBe(1);
    expect((JSON.parse(ended.stdout) as Report).feeds.map(({ feed, outcome }) => [feed, outcome])).toEqual([
      [FEED, 'refused'],
      ['castle', 'accepted'],
      ['domains-mx', 'failed'],
    ]);
    // A list that tells no version is known by the minute in which it was read.
    const untimed = (text: string) => JSON.parse(text.replaceAll(/20[-\d]+T[:\d]+Z/g, 'then'));
    expect(untimed(dry.stdout)).toMatchObject({ dry_run: true, feeds: untimed(ended.stdout).feeds });
    expect(ended.stderr).toMatch(new RegExp(`^domain-risk: feed ${FEED} refused: it names gmail.com`, 'm'));
    expect(ended.stderr).toMatch(/^domain-risk: feed domains-mx failed: .*: a web page, not a list$/m);
    expect(storedRows().map(row => row.feed)).toEqual(['castle']);
    const { stdout: status } = await run(['feeds', 'status'], beside());
    expect(status).toMatch(new RegExp(`^${FEED}: it names gmail.com`, 'm'));
    expect(status).toMatch(/^domains-mx: http:.* a web page, not a list$/m);
    await eventually('metrics tell of it', async () =>
      (await metrics()).includes(`domain_risk_feed_failing{feed="${FEED}"} 1`),
    );
    expect(await (await shared().get('/readyz')).json()).toMatchObject({
      status: 'ready',
      feeds: { status: 'fresh', failing: [FEED, 'domains-mx'] },
    });
    await eventually('what was accepted is served', async () => {
      return (await answered('castle-1.com')).reason === 'disposable';
    });
    expect((await answered('taken-by-force.com')).reason).not.toBe('disposable');

    const was = storedRows();
    const worse = join(temporaryFolder(), 'castle.txt');
    writeFileSync(worse, readFileSync(good, 'utf8').slice(0, 2_000));
    const places = ['--from', `castle=${worse}`, '--from', 'fakefilter=/no-such-file'];
    const refused = await run(['feeds', 'update', ...places], beside());
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^castle +refused +20\S+Z, kept +900, kept +1$/m);
    expect(refused.stdout).toMatch(/^fakefilter +failed +\S+, kept +\d{4}, kept$/m);
    expect(refused.stderr.split('\n').slice(1)).toEqual([
      'domain-risk: feed fakefilter failed: /no-such-file: there is no such file (ENOENT)',
      expect.stringMatching(/^domain-risk: feed castle refused: /),
      'domain-risk: what was refused was not taken; --force takes it all the same',
      '',
    ]);
    expect(storedRows()).toEqual(was);

    const forced = ['feeds', 'update', '--from', `${FEED}=${bad}`, '--force'];
    expect(await runJson<Report>(forced, beside())).toMatchObject({ feeds: [{ outcome: 'forced' }] });
    expect(await shared().store.audit(1)).toMatchObject([
      { action: 'feed.force', subject: FEED, detail: expect.stringContaining('gmail.com') },
    ]);
    await eventually('what was forced is served', async () => {
      return (await answered('taken-by-force.com')).reason === 'disposable';
    });
    expect((await answered('gmail.com')).reason).toBe('safe');
  });

  it("follows a list of the operator's own, shows it, and forgets it again", async () => {
    const path = join(temporaryFolder(), 'mine.csv');
    writeFileSync(path, 'note,Domain\nfirst,own-throwaway.com\nsecond,own-other.com\n');
    const added = await run(['feeds', 'add', 'mine', path, '--verified'], beside());
    expect([added.code, added.stdout]).toEqual([
      0,
      `mine was added with 2 names: disposable, verified, csv from ${path}\n`,
    ]);
    await eventually('it is served', async () => (await answered('own-other.com')).reason === 'disposable');
    const again = await run(['feeds', 'add', 'mine', path], beside());
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/there is a feed mine already/)]);
    // What is rejected while it is in use stays in use: nobody was told (2026-11-18).
    const { store } = shared();
    const noted = (await store.feedChecks()).find(({ feed }) => feed === 'mine')!;
    const waiting = ['own-later.com', 'own-other.com'];
    await store.noteCheck({ ...noted, waiting, problem: 'it would flag 2', trouble: 'waiting' }, noted);
    const inUse =
      'mine: the version in use has 1 of the names that an operator rejected: "feeds rollback mine" (or with --undo) takes another version, "overrides set <domain> allow" clears one (own-other.com)\n';
    expect(await run(['feeds', 'reject', 'mine'], beside())).toMatchObject({
      ...{ code: 0, stdout: 'mine may not flag own-later.com, own-other.com\n', stderr: inUse },
    });
    // Nor is that undone by who names what waited before, nor without a word by who names none (2026-11-18).
    const named = ['feeds', 'approve', 'mine', ...waiting];
    expect(await run(named, beside())).toMatchObject({
      ...{
        code: 1,
        stderr: expect.stringMatching(/an operator has rejected these domains of mine by now: look/),
      },
    });
    for (const command of [
      ['feeds', 'approve', 'mine'],
      [...named, '--take-back'],
    ]) {
      const { stderr } = await run(command, beside());
      expect(stderr).toMatch(/^mine may flag own-later.com, own-other.com, which an operator had rejected\n/);
      const checked = (await store.feedChecks()).find(({ feed }) => feed === 'mine')!;
      await store.noteCheck({ ...checked, ...{ approved: null, rejected: waiting } }, checked);
    }
    // Nor did who reads JSON, or the API (2026-11-18).
    type Told = { feeds: { feed: string; rejected_in_use: string[] }[] };
    const { feeds } = await runJson<Told>(['feeds', 'status'], beside());
    expect(feeds.flatMap(one => one.rejected_in_use)).toEqual(['own-other.com']);
    writeFileSync(path, 'note,Domain\nfirst,own-throwaway.com\nsecond,gmail.com\n');
    const updated = await run(['feeds', 'update', 'mine'], beside());
    expect([updated.code, updated.stderr]).toEqual([
      1,
      expect.stringMatching(/mine refused: it names gmail/),
    ]);
    const { stdout } = await run(['feeds', 'status'], beside());
    expect(stdout).toMatch(/^mine +disposable +verified +own +20\S+Z /m);
    expect(stdout).toContain(`\n${inUse}mine: added, from ${path}\n`);
    renameSync(path, `${path}.moved`);
    const moved = await run(['feeds', 'status'], beside());
    expect(moved.stdout).toContain(`\nmine: added, from ${path}, where no file is any more\n`);
    renameSync(`${path}.moved`, path);

    // Nothing of it is installed.
    const back = await run(['feeds', 'rollback', 'mine'], beside());
    expect([back.stdout, back.stderr]).toEqual([expect.stringMatching(/^mine is empty; updates leave/), '']);
    expect(await run(['feeds', 'rollback', 'mine', '--undo'], beside())).toMatchObject({ stderr: inUse });
    await run(['feeds', 'rollback', 'mine'], beside());
    // Nor does it promise what an update leaves alone.
    const rolledBack = await run(['feeds', 'status'], beside());
    expect(rolledBack.stdout).toMatch(/mine: rolled back; "feeds rollback mine --undo"/);
    expect(rolledBack.stdout).not.toMatch(/"domain-risk feeds update" adds .*mine/);
    // Nor is what another operator went back for undone by approving what waits (2026-11-18).
    const waits = (await store.feedChecks()).find(({ feed }) => feed === 'mine')!;
    await store.noteCheck({ ...waits, waiting: ['own-later.com'], trouble: 'waiting' }, waits);
    expect(await run(['feeds', 'approve', 'mine'], beside())).toEqual({
      ...{ code: 1, signal: null, stdout: '' },
      stderr: 'domain-risk: mine was rolled back, and updates leave it alone: undo that first\n',
    });
    expect((await run(['feeds', 'remove', 'mine'], beside())).stdout).toBe('mine was removed\n');
    await eventually('it is gone', async () => (await answered('own-other.com')).reason !== 'disposable');
    const acts = (await shared().store.audit(10)).filter(({ subject }) => subject === 'mine');
    expect(acts.map(({ action }) => action)).toEqual([
      ...['feed.remove', 'feed.rollback', 'feed.return', 'feed.rollback'],
      ...['feed.approve', 'feed.approve', 'feed.reject', 'feed.update', 'feed.add'],
    ]);

    const refused = await run(['feeds', 'add', 'worse', path, '--kind', 'disposable'], beside());
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/worse was not added: it names gmail.com.*--force takes it all the same/),
    ]);
    expect(await shared().store.addedFeeds()).toEqual([]);
  });

  it.skipIf(!hasTool('prlimit'))(
    'a list that there is no room for is told of as one that does not count',
    async () => {
      const folder = temporaryFolder();
      await (await openBeside(folder)).close();
      const path = join(temporaryFolder(), 'big.txt');
      writeFileSync(
        path,
        Array.from({ length: 50_000 }, (_, at) => `${hash('sha1', `${at}`)}.com`).join('\n'),
      );
      const through = ['prlimit', '--fsize=1000000'];
      const ended = await run(['feeds', 'add', 'big', path], { folder, through });
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(/big is followed now, but no name of it counts yet: .*feeds update big/);
      const updated = await run(['feeds', 'update', 'big'], { folder });
      expect([updated.code, updated.stdout]).toEqual([0, expect.stringMatching(/big .*50,?000/s)]);
      // Nor is it shown as gone where a later version has no room, nor is the network blamed for that (2026-11-18).
      writeFileSync(path, '\nlater.com', { flag: 'a' });
      const full = await run(['feeds', 'update', 'big'], { folder, through });
      expect(full).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^big +failed +20\S+Z, kept +50000, kept/m),
      });
      expect(full.stderr).toMatch(/feed big failed: it could not be compared or stored: [^\n]+\n$/);
    },
  );

  it('without a network says how to go on', async () => {
    const env = { NODE_OPTIONS: `--import ${noNetwork()}` };
    const args = ['feeds', 'update', 'castle', 'domains-mx', '--dry-run'];
    const { code, stderr } = await run(args, { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^domain-risk: feed domains-mx failed: https:\S+: getaddrinfo ENOTFOUND/m);
    expect(stderr.match(/^domain-risk: check the network, .* --from castle=<file>$/gm)).toHaveLength(1);
  });

  it('leaves out what FEEDS_OFF names, as installed and as updated, and says so', async () => {
    const folder = temporaryFolder();
    const list = join(temporaryFolder(), 'castle.txt');
    writeFileSync(list, Array.from({ length: 900 }, (_, at) => `castle-${at}.com`).join('\n'));
    const from = ['feeds', 'update', '--from', `castle=${list}`];
    await (await openBeside(folder)).close();
    // Nor does the first update of all go by a clock from before this program.
    const behind = { NODE_OPTIONS: `--import ${monthsBehind()}` };
    expect((await run(from, { folder, env: behind })).stderr).toMatch(/castle refused: the clock .* says 20/);
    await runJson(from, { folder });
    const shown = async (off: string) =>
      (await run(['feeds', 'status'], { folder, env: withOff(off) })).stdout;
    expect((await shown('emailalias,is-burner-email')).match(/^(?:castle|fakefilter) /gm)).toHaveLength(2);
    const without = await shown(' castle, fakefilter,emailalias,is-burner-email,');
    expect(without).not.toMatch(/^(?:castle|fakefilter|emailalias|is-burner-email) /m);
    expect(without).toMatch(
      /update" adds domains-mx, majestic-million; off by FEEDS_OFF: castle, fakefilter, emailalias, is-burner-email\n/,
    );
    const refused = await run(from, { folder, env: withOff('castle') });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('castle is off: take it out of FEEDS_OFF first'),
    ]);
  });

  it.each([
    [['feeds', 'update', 'no-such-feed'], /there is no feed "no-such-feed"; there are disposable-email/],
    [['feeds', 'approve', 'no-such-feed'], /there is no feed "no-such-feed"; there are disposable-email/],
    [['feeds', 'update', '--from', 'castle'], /--from must be like/],
    [['feeds', 'add', 'Mine', 'x'], /the name "Mine" must be 1 to 40 lower-case/],
    [['feeds', 'add', 'castle', 'x'], /castle is followed already/],
    [['feeds', 'add', 'mine', 'ftp://lists.example/x'], /use https/],
    [
      ['feeds', 'add', 'mine', 'https://a b/?t=SECRET'],
      /^(?!.*SECRET).*what begins with https: is no address/,
    ],
    [['feeds', 'add', 'mine', 'x', '--kind', 'free', '--verified'], /--verified is for disposable lists/],
    [['feeds', 'update', '--from', 'castle=http://10.0.0.1/'], /--from castle: plain http/],
  ])('%j ends with 2 and makes no store', async (args, why) => {
    const ended = await run(args, { folder: join(temporaryFolder(), 'none') });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(why) });
  });
});
