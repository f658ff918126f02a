import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { OverrideAction } from '../../src/core/override.ts';
import type { Flag } from '../../src/core/ranking.ts';
import { ACT } from '../support/act.ts';
import { ask } from '../support/answers.ts';
import { mx } from '../support/dns.ts';
import { installedCatalog, sharedService } from '../support/service.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 10, 12);
const time = { now: START };
const shared = sharedService({ clock: () => time.now });

interface Row {
  domain: string;
  risk_score: number;
  reason: string;
}

let secrets: string[];
let ids: string[];
beforeAll(async () => {
  const made = [await shared().key(), await shared().key(), await shared().key()];
  secrets = made.map(({ secret }) => secret);
  ids = made.map(({ key }) => key.id);
});

/** What was flagged is listed within two seconds. */
async function top(query = '?limit=1000'): Promise<Row[]> {
  await pause(1_100);
  return list(query);
}

async function list(query: string): Promise<Row[]> {
  const response = await shared().get(`/v1/public/top-domains${query}`, secrets[0]);
  expect(response.status).toBe(200);
  const body = (await response.json()) as { domains: Row[]; count: number };
  expect(Object.keys(body)).toEqual(['domains', 'count']);
  expect(body.count).toBe(body.domains.length);
  for (const row of body.domains) {
    expect(Object.keys(row)).toEqual(['domain', 'risk_score', 'reason']);
    expect(['disposable', 'undeliverable', 'role_account']).toContain(row.reason);
    expect(Number.isInteger(row.risk_score) && row.risk_score >= 50 && row.risk_score <= 100).toBe(true);
  }
  expect(new Set(body.domains.map(({ domain }) => domain)).size).toBe(body.count);
  return body.domains;
}

async function lookUp(domain: string, ...keys: number[]): Promise<void> {
  for (const at of keys) {
    const response = await shared().get(`/v1/public/domain/${domain}`, secrets[at]);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  }
}

const names = (rows: Row[]) => rows.map(({ domain }) => domain);

async function override(domain: string, action: OverrideAction): Promise<void> {
  await shared().store.setOverride(
    {
      ...{ domain, action, below: false, note: null, author: null },
      ...{ createdAt: time.now, expiresAt: null },
    },
    ACT,
  );
}

test('on day one the list is filled with the names that most feeds agree on, and asks no DNS', async () => {
  const asked = await shared().questions();
  const rows = await list('');
  expect(rows).toHaveLength(100);
  for (const row of rows) expect(row.reason).toBe('disposable');
  // Not by the alphabet: services that people know, then what most feeds agree on.
  expect(names(rows).slice(0, 3)).toEqual(['yopmail.com', 'yopmail.fr', 'yopmail.net']);
  const rest = names(rows).slice(-5);
  expect(rest).not.toEqual(rest.toSorted());
  expect(await list('?source=observed')).toEqual([]);
  expect(await list('?limit=1')).toHaveLength(1);
  expect(await list('?limit=1000')).toHaveLength(1000);
  expect(await list('?limit=50&reason=disposable')).toHaveLength(50);
  expect(await list('?reason=undeliverable')).toEqual([]);
  expect(await list('?reason=role_account&limit=5')).toEqual([]);
  expect(await list('?limit=3&x=1&__proto__=2')).toHaveLength(3);
  const catalog = await installedCatalog();
  for (const name of names(await list('?limit=1000'))) expect(catalog.isProtected(name)).toBe(false);
  expect(asked()).toEqual([]);
});

test('what lookups flagged comes first: by times, then score, then name', async () => {
  const { dns } = shared();
  for (const name of ['noreply.acme-works.com', 'bounces.acme-works.com']) {
    dns.zones.set(name, { records: [mx(name, 1, 'aspmx.l.google.com')] });
    await lookUp(name, 0, 1);
  }
  await lookUp('inbox.mailinator.com', 0);
  await lookUp('mailinator.com', 1, 2);
  await lookUp('yopmail.com', 0, 1);
  await lookUp('dead-two.com', 0, 1);
  await lookUp('dead-one.com', 2);
  await lookUp('foo.invalid', 0, 1);
  for (let i = 0; i < 40; i++) await lookUp('guerrillamail.com', 2);
  await lookUp('gmail.com', 0, 1, 2);

  const rows = await top();
  expect(rows).toHaveLength(1000);
  const explained = await shared().get('/v1/public/top-domains?limit=1000&explain=true', secrets[0]);
  const { domains } = (await explained.json()) as { domains: (Row & { flags: number; source: string })[] };
  expect(domains.map(({ flags, source, ...row }) => row)).toEqual(rows);
  expect(domains.map(({ flags }) => flags).slice(0, 8)).toEqual([3, 2, 2, 2, 2, 2, 1, 0]);
  for (const { flags, source } of domains) expect(source).toBe(flags > 0 ? 'observed' : 'lists');
  expect(await list('?source=observed')).toEqual(rows.slice(0, 7));
  expect(rows.slice(0, 7)).toEqual([
    { domain: 'mailinator.com', risk_score: 100, reason: 'disposable' },
    { domain: 'yopmail.com', risk_score: 100, reason: 'disposable' },
    { domain: 'foo.invalid', risk_score: 95, reason: 'undeliverable' },
    { domain: 'dead-two.com', risk_score: 90, reason: 'undeliverable' },
    { domain: 'bounces.acme-works.com', risk_score: 60, reason: 'role_account' },
    { domain: 'noreply.acme-works.com', risk_score: 60, reason: 'role_account' },
    { domain: 'guerrillamail.com', risk_score: 100, reason: 'disposable' },
  ]);
  // One caller's unlisted name, what is below a listed one, and what is safe: never.
  for (const name of ['dead-one.com', 'inbox.mailinator.com', 'gmail.com']) {
    expect(names(rows)).not.toContain(name);
  }
  expect(names(await list('?reason=undeliverable'))).toEqual(['foo.invalid', 'dead-two.com']);
  expect(names(await list('?reason=role_account&limit=1'))).toEqual(['bounces.acme-works.com']);
  const disposable = names(await list('?reason=disposable&limit=3'));
  expect(disposable).toEqual(['mailinator.com', 'yopmail.com', 'guerrillamail.com']);
  expect(names(await list('?limit=2'))).toEqual(['mailinator.com', 'yopmail.com']);
});

test("each row shows today's verdict: overrides reach the list at once", async () => {
  await override('yopmail.com', 'allow');
  await override('dead-two.com', 'deny');
  await override('foo.invalid', 'role');
  const filler = (await list('?limit=30')).at(-1)!.domain;
  await override(filler, 'allow');
  const rows = await list('?limit=1000');
  expect(names(rows)).not.toContain('yopmail.com');
  expect(names(rows)).not.toContain(filler);
  expect(rows).toContainEqual({ domain: 'dead-two.com', risk_score: 100, reason: 'disposable' });
  expect(rows).toContainEqual({ domain: 'foo.invalid', risk_score: 60, reason: 'role_account' });
  expect(names(await list('?reason=disposable&limit=2'))).toEqual(['mailinator.com', 'dead-two.com']);
  expect(names(await list('?reason=undeliverable'))).toEqual([]);
  expect(names(await list('?reason=role_account'))).toContain('foo.invalid');
  for (const name of ['yopmail.com', 'dead-two.com', 'foo.invalid', filler]) {
    await shared().store.removeOverride(name, ACT);
  }
  expect(names(await list('?reason=undeliverable'))).toEqual(['foo.invalid', 'dead-two.com']);
});

test('a name that DNS has cleared since is gone, and no question is sent to find out', async () => {
  const { dns } = shared();
  dns.zones.set('dead-two.com', { records: [mx('dead-two.com', 1, 'aspmx.l.google.com')] });
  time.now += 2 * 3_600_000;
  const before = dns.asked('dead-two.com');
  expect(names(await list('?reason=undeliverable'))).toContain('dead-two.com');
  expect(dns.asked('dead-two.com')).toBe(before);
  await lookUp('dead-two.com', 2);
  // The list is made once a second at the most.
  expect(names(await top('?reason=undeliverable'))).not.toContain('dead-two.com');
});

test('protected names never appear, whoever flagged them', async () => {
  const { dns, store } = shared();
  const name = 'it.com';
  expect((await installedCatalog()).isProtected(name)).toBe(true);
  await lookUp(`www.${name}`, 0);
  const flags: Flag[] = ids.map(keyId => ({
    ...{ day: '2026-11-10', domain: 'wikipedia.org', keyId, listed: true },
    ...{ reason: 'undeliverable', score: 90 },
  }));
  expect((await installedCatalog()).isProtected('wikipedia.org')).toBe(true);
  await store.flag(flags, '2026-10-11');
  await lookUp('wikipedia.org', 0, 1, 2);
  expect(dns.asked('wikipedia.org', 'MX')).toBe(1);
  const rows = await top();
  expect(names(rows)).not.toContain('wikipedia.org');
  expect(names(await list('?reason=undeliverable'))).not.toContain('wikipedia.org');
});

test('a key counts once per domain and UTC day, and flags are forgotten after 30 days', async () => {
  await lookUp('guerrillamail.com', 2);
  for (let day = 1; day <= 3; day++) {
    time.now = START + day * DAY;
    await lookUp('guerrillamail.com', 2);
    await lookUp('guerrillamail.com', 2);
  }
  // 4 days of one key stand above 3 keys of one day.
  expect(names(await top('?limit=2'))).toEqual(['guerrillamail.com', 'mailinator.com']);
  time.now = START + 29 * DAY;
  expect(names(await top('?limit=2'))).toEqual(['guerrillamail.com', 'mailinator.com']);
  time.now = START + 32 * DAY;
  await lookUp('foo.invalid', 0, 1);
  const rows = await top('?reason=undeliverable');
  expect(names(rows)).toEqual(['foo.invalid']);
  expect(names(await list('?limit=2'))).toEqual(['foo.invalid', 'guerrillamail.com']);
});

test('the list is private and says for how long, and HEAD answers alike', async () => {
  const get = await ask(shared().port, '/v1/public/top-domains', { key: secrets[0] });
  expect(get.headers.get('cache-control')).toBe('private, max-age=60');
  expect(get.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const head = await ask(shared().port, '/v1/public/top-domains', { key: secrets[0], method: 'HEAD' });
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', get.headers.get('etag')]);
});

test('however many names are asked, what is kept of them is bounded', async () => {
  const { store, folder } = shared();
  const day = new Date(time.now).toISOString().slice(0, 10);
  const db = new DatabaseSync(join(folder, 'domain-risk.db'), { timeout: 5_000 });
  // So many came before, which takes twenty times as long by the portion.
  db.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99999)
    INSERT INTO flag (day, domain, key_id, listed, reason, score)
    SELECT '${day}', 'random-' || n || '.com', '${ids[0]}', 0, 'undeliverable', 90 FROM numbers`);
  // A portion that a busy second brings at the most.
  const flags: Flag[] = Array.from({ length: 5_000 }, (_, at) => ({
    ...{ day, domain: `later-${at}.com`, keyId: ids[0]!, listed: false },
    ...{ reason: 'undeliverable', score: 90 },
  }));
  await store.flag(flags, day);
  expect(Number(db.prepare('SELECT count(*) AS n FROM flag').get()?.n)).toBeLessThanOrEqual(100_000);
  db.close();
  expect(names(await top('?limit=1'))).toEqual(['foo.invalid']);
});
