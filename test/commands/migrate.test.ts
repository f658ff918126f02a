import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openServedStore } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { DOCTOR } from '../../src/core/lease.ts';
import type { Store } from '../../src/core/ports.ts';
import { ALIVE_MS } from '../../src/core/server.ts';
import { newKey } from '../../src/operate.ts';
import { isPostgresStore, openPostgresStore } from '../../src/store/postgres/store.ts';
import { StoreRefused } from '../../src/store/refused.ts';
import { markMoved } from '../../src/store/sqlite/moved.ts';
import { flagOf, someKey } from '../store/contract.ts';
import { ACT } from '../support/act.ts';
import { guestOf } from '../support/guests.ts';
import { anyPostgres, hasPostgres, type Postgres } from '../support/postgres.ts';
import { read, run, runJson, startServer } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { spendOne } from '../support/spend.ts';
import { storeAt } from '../support/store.ts';

const DAY = '2026-11-15';
const SINCE = '2026-08-17';

async function fill(store: Store) {
  const { key, secret } = newKey(
    { name: 'Müller "\u{1f511}"', note: 'ask "Ann"', quota: 2_000_000_000 },
    Date.now(),
  );
  const full = someKey({
    previousDigest: someKey().digest,
    previousUntil: 5,
    quota: 0,
    rate: 3,
    origins: ['https://a.example', 'https://*.b.example'],
    networks: ['192.0.2.0/24'],
    expiresAt: 9,
    revokedAt: 7,
  });
  for (const one of [key, full]) await store.createKey(one, ACT);
  const revision = await store.revision();
  const now = new Date().toISOString().slice(0, 10);
  for (const day of ['2019-12-31', '2020-01-01', now, '2019-12-31', now])
    await spendOne(store, { keyId: key.id, day, quota: null }, revision);
  await store.setOverride(
    {
      domain: 'a.example',
      action: 'deny',
      below: true,
      note: "it's",
      author: null,
      createdAt: 1,
      expiresAt: null,
    },
    ACT,
  );
  const flags = Array.from({ length: 2_500 }, (_, i) =>
    flagOf({ domain: `x${i}.example`, listed: i % 2 === 0 }),
  );
  await store.flag(flags, '2026-10-17');
  const guests = Array.from({ length: 1_200 }, (_, i) => {
    const domain = `d${i}.com`;
    return guestOf({ host: `mx${i % 7}.box.net`, domain, entry: i % 3 === 0 ? null : domain, day: DAY });
  });
  await store.learn(guests, ['5.61.1.1', 'mx1.box.net'], DAY, SINCE);
  await store.forgetHost('mx2.box.net', 4, ACT);
  const body = 'x'.repeat(100_000);
  const list = { feed: 'castle', version: '2', digest: 'b', names: 1, acceptedAt: 9, body };
  await store.acceptSnapshot(list, null, { ...ACT, action: 'feed.update', detail: '<b>' });
  await store.keepWhereabouts([{ host: 'mx.a.net', below: 'a.net', addresses: '5.61.1.1', day: DAY }], SINCE);
  await store.signingKey('the first');
  const decision = { keyId: key.id, domain: 'a.com', score: 5, reason: 'safe', snapshot: 'abc' } as const;
  await store.writeDecisions([{ ...decision, at: 7, degraded: true }], 10, 10);
  await store.markSweep({
    generation: 'abc',
    last: '1 x.com',
    endedAt: null,
    firstEndedAt: 5,
    dead: 'AQIDBA==',
  });
  return { key, secret };
}

async function contents(store: Store) {
  const keys = await store.listKeys();
  return {
    keys,
    used: await Promise.all(
      keys.flatMap(key => ['2019-12', '2020-01'].map(month => store.used(key.id, month))),
    ),
    days: await Promise.all(keys.map(({ id }) => store.usageDays('2019-01-01', id))),
    list: await store.snapshot('castle'),
    overrides: [...(await store.listOverrides()).overrides],
    ranking: [...(await store.ranking('2026-10-17', 5_000, undefined))],
    hosts: await store.listHosts(0, 100),
    mark: await store.sweepMark(),
    whereabouts: [...(await store.whereabouts(SINCE))],
    signing: await store.signingKey('another'),
    decisions: await store.decisions({ since: 0, most: 9 }),
  };
}

describe.runIf(hasPostgres())('domain-risk migrate', () => {
  let postgres: Postgres;
  let url: string;
  let folder: string;
  beforeAll(async () => {
    postgres = await anyPostgres();
  });
  afterAll(() => postgres?.close());
  beforeEach(async () => {
    url = await postgres.newDatabase();
    folder = temporaryFolder();
  });

  const file = () => join(folder, 'domain-risk.db');
  async function closing(opening: Promise<Store>): Promise<Store> {
    const store = await opening;
    onTestFinished(() => store.close());
    return store;
  }
  const source = () => storeAt(file());
  const migrate = (...args: string[]) =>
    run(['migrate', '--from', `sqlite:${file()}`, ...args], { folder, env: { DATABASE_URL: url } });

  test('moves everything, counts included, once, and a server goes on counting there', async () => {
    // A look at the target makes nothing there, nor does the doctor's proof of a store that is there count as one.
    const looked = await run(['keys', 'list'], { folder, env: { DATABASE_URL: url } });
    expect([looked.code, looked.stderr]).toEqual([
      1,
      expect.stringMatching(/^domain-risk: there is no store: postgres:.*: set DATABASE_URL to .*\n$/),
    ]);
    expect(await isPostgresStore(url)).toBe(false);
    const empty = await openPostgresStore(url);
    await empty.swapLease({ name: DOCTOR, holder: null, until: 0, dueAt: 5 }, undefined);
    await empty.close();
    expect(await isPostgresStore(url)).toBe(true);
    const sqlite = await source();
    const { key, secret } = await fill(sqlite);
    const before = await contents(sqlite);
    const acts = await sqlite.audit(100);
    await sqlite.close();
    const { moved } = await runJson<{ moved: Record<string, number> }>(
      ['migrate', '--from', `sqlite:${file()}`],
      { folder, env: { DATABASE_URL: url } },
    );
    expect(moved).toMatchObject({ key: 2, usage: 3, override: 1, flag: 2_500, sweep: 1 });
    const target = await closing(openPostgresStore(url));
    expect(await contents(target)).toEqual(before);
    const left = await source();
    expect(await contents(left)).toEqual(before);
    await left.close();
    expect(await target.audit(100)).toEqual([expect.objectContaining({ action: 'store.move' }), ...acts]);

    // The file can still be read, but nobody serves it without a word.
    const listed = await run(['keys', 'list', '--json'], { folder });
    const { host, pathname } = new URL(url);
    const told = `${file()} was moved to postgres://${host}${pathname} on `;
    expect([listed.code, JSON.parse(listed.stdout).length, listed.stderr]).toEqual([
      0,
      1,
      expect.stringMatching(/^domain-risk: .*: servers there know nothing of what changes here\n$/),
    ]);
    expect(listed.stderr).toContain(told);
    const config = readConfig({ DATA_DIR: folder });
    const log = { warn: () => {} };
    const served = openServedStore(
      config,
      log,
      () => {},
      () => {},
    );
    const refusal: StoreRefused = await served.then(
      store => store.close(),
      error => error,
    );
    expect(refusal).toBeInstanceOf(StoreRefused);
    expect(refusal.problem).toContain(told);
    expect(refusal.fix).toMatch(/^set DATABASE_URL to that one; to go on without it, .*domain-risk restore/);
    const elsewhere = { folder: temporaryFolder() };
    expect((await run(['restore', file(), '--yes'], elsewhere)).code).toBe(0);
    expect((await run(['keys', 'list'], elsewhere)).stderr).toBe('');

    const server = await startServer({ env: { DATABASE_URL: url } });
    const response = await server.get('/v1/usage', secret);
    expect(await response.json()).toMatchObject({ monthly_limit: 2_000_000_000, month_count: 2 });
    expect((await server.get('/v1/public/domain/gmail.com', secret)).status).toBe(200);
    expect(await target.used(key.id, new Date().toISOString().slice(0, 7))).toBe(3);

    const beside = await migrate();
    expect([beside.code, beside.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^domain-risk: the target is served \(version \S+ on \S+\): stop the servers on it first/m,
      ),
    ]);
    await server.stop();
    const again = await migrate();
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/^domain-risk: the target is not empty .*key.*: name an empty database/m);
    expect(await target.used(key.id, '2019-12')).toBe(2);
  });

  test('keeps nothing when what arrived is not what was sent', async () => {
    const sqlite = await source();
    await fill(sqlite);
    await sqlite.close();
    await (await openPostgresStore(url)).close();
    await postgres.query(
      `CREATE FUNCTION domain_risk.err() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.used := NEW.used + 1; RETURN NEW; END';
      CREATE TRIGGER err BEFORE INSERT ON domain_risk.usage FOR EACH ROW EXECUTE FUNCTION domain_risk.err()`,
      [],
      url,
    );
    const { code, stderr } = await migrate();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^domain-risk: what arrived in "usage" differs.*nothing was kept/m);
    const target = await closing(openPostgresStore(url));
    expect(await target.listKeys()).toEqual([]);
    expect([...(await target.listOverrides()).overrides]).toEqual([]);
  });

  test('moves no file that a server is alive on, and says which one; one that ended or is silent is in nobody’s way', async () => {
    const sqlite = await source();
    await sqlite.showSign({ id: 'a', version: '0.0.9', host: 'a.example', startedAt: 1 });
    const { code, stderr } = await migrate();
    expect([code, stderr]).toEqual([
      1,
      `domain-risk: ${file()} is served (version 0.0.9 on a.example): stop the servers on it first; one that was killed counts as gone after 20 s\n`,
    ]);
    await sqlite.close();
    const db = new DatabaseSync(file());
    db.prepare('UPDATE server SET seen_at = ?').run(Date.now() - ALIVE_MS - 1);
    const inFile = join(folder, 'url');
    writeFileSync(inFile, `${url}\n`);
    const from = ['migrate', '--from', `sqlite:${file()}`];
    const both = await run(from, { folder, env: { DATABASE_URL: url, DATABASE_URL_FILE: inFile } });
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringMatching(/must not be set beside DATABASE_URL/),
    ]);
    const none = await run(from, { folder, env: { DATABASE_URL_FILE: `${inFile}-not` } });
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringMatching(/^domain-risk: DATABASE_URL_FILE: must name a file/),
    ]);
    // A command that waits for its list meanwhile, and has looked before.
    const asked = Promise.withResolvers<ServerResponse>();
    const lists = createServer((_, response) => asked.resolve(response));
    onTestFinished(() => void lists.close());
    await new Promise<void>(resolve => void lists.listen(0, '127.0.0.1', resolve));
    const place = `http://127.0.0.1:${(lists.address() as AddressInfo).port}/names`;
    const adding = run(['feeds', 'add', 'mine', place], { folder });
    const response = await asked.promise;
    const beside = await run(from, { folder, env: { DATABASE_URL_FILE: inFile } });
    expect([beside.code, beside.stderr]).toEqual([
      1,
      expect.stringMatching(/is open in another process: a command, .*: end it first\n$/),
    ]);
    // Of a version that did not ask for that.
    markMoved(db, { target: 'postgres://elsewhere', at: 1 });
    response.end('a-disposable.com\n');
    expect(await adding).toMatchObject({
      stdout: expect.stringContaining('was added with 1 names'),
      stderr: expect.stringMatching(
        /^domain-risk: .* was moved to .*: servers there know nothing of what changes here\n$/,
      ),
    });
    db.exec('DROP TABLE moved');
    db.close();
    expect((await run(from, { folder, env: { DATABASE_URL_FILE: inFile } })).code).toBe(0);
  });

  test('moves no file under a server that stands still, which would go on counting in it', async () => {
    const server = await startServer({ env: { DATA_DIR: folder } });
    server.signal('SIGSTOP');
    onTestFinished(() => void server.signal('SIGCONT'));
    const db = new DatabaseSync(file());
    db.prepare('UPDATE server SET seen_at = ?').run(Date.now() - ALIVE_MS - 1);
    db.close();
    const { code, stderr } = await migrate();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is open in another process: .* a server that stands still: end it first\n$/),
    ]);
    server.signal('SIGCONT');
    await server.stop();
    expect((await migrate()).code).toBe(0);
  });

  test('says what is missing or wrong, without the password', async () => {
    const absent = await migrate();
    expect(absent).toMatchObject({ code: 1, stdout: '' });
    expect(absent.stderr).toMatch(/domain-risk\.db does not exist/);
    writeFileSync(file(), '');
    const empty = await migrate();
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringMatching(/is no store of this program/)]);
    rmSync(file());
    await (await source()).close();
    const newer = new DatabaseSync(file());
    newer.exec('ALTER TABLE key ADD COLUMN later TEXT');
    const unknown = await migrate();
    newer.exec('ALTER TABLE key DROP COLUMN later');
    newer.close();
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/does not know \(key\.later\): update/),
    ]);
    const other = new DatabaseSync(file());
    other.exec('BEGIN IMMEDIATE');
    const locked = await migrate();
    other.close();
    expect([locked.code, locked.stderr]).toEqual([1, expect.stringMatching(/is in use .*stop the servers/)]);
    const wrong = new URL(url);
    wrong.password = 'pw-canary';
    wrong.pathname = '/nowhere';
    const refused = await migrate('--to', wrong.href);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^domain-risk: .*(DATABASE_URL|--to)/m);
    expect(refused.stderr + refused.stdout).not.toContain('pw-canary');
    const backwards = await migrate('--to', `sqlite:${file()}2`);
    expect([backwards.code, backwards.stderr]).toEqual([
      2,
      expect.stringMatching(/--to must be like postgres:/),
    ]);
    expect((await run(['migrate'], { folder })).code).toBe(2);
    expect(read(file(), 'SELECT count(*) AS n FROM key')).toEqual([{ n: 0 }]);
  });
});
