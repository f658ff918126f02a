/** A service that looks as if it had been used for a month: keys, calls, overrides, flags, learned hosts, an audit. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { actOf } from '../src/core/audit.ts';
import { type Limits, secretFrom } from '../src/core/key.ts';
import { dayOf, lastDays } from '../src/core/quota.ts';
import { createOperate, type MadeKey, newKey } from '../src/operate.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { a, mx, startDns, type Zone } from '../test/support/dns.ts';
import { guestOf } from '../test/support/guests.ts';
import { randomFrom } from '../test/support/scale.ts';
import {
  allListsCatalog,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../test/support/service.ts';
import { spendOne } from '../test/support/spend.ts';

/** Pictures of the same pages are alike, whenever they are made. */
export const NOW = Date.UTC(2026, 10, 16, 10, 30);
export const TOKEN = 'a-token-for-pictures-0123456789abcdef';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ANN = { who: 'Ann', via: '192.0.2.10' };
const BEN = { who: 'Ben', via: 'command line' };

/** With about so many calls on a working day. */
const KEYS: readonly (Partial<Limits> & { name: string; daily: number })[] = [
  { name: 'web-signup', quota: 20_000, daily: 420 },
  { name: 'mobile-app', quota: 10_000, rate: 20, daily: 180 },
  { name: 'newsletter-form', quota: 2_000, origins: ['https://www.example.com'], daily: 75 },
  { name: 'crm-import', networks: ['192.0.2.0/24'], daily: 40 },
  { name: 'partner-trial', quota: 500, daily: 12 },
];

/** Listed ones that are asked for most, and endings that nobody has. */
const DISPOSABLE = [
  ...['mailinator.com', 'yopmail.com', 'guerrillamail.com', 'sharklasers.com', '10minutemail.com'],
  ...['trashmail.com', 'temp-mail.org', 'throwawaymail.com', 'getnada.com', 'maildrop.cc', 'dispostable.com'],
];
const UNDELIVERABLE = ['gmail.con', 'hotmail.cmo', 'yahoo.comm', 'outlook.vom'];

export const UNLISTED = 'quick-box-mail.net';

const ZONES: Readonly<Record<string, Zone>> = {
  'example.com': { records: [mx('example.com', 10, 'aspmx.l.google.com')], fault: { slow: 12 } },
  'example.org': {
    records: [mx('example.org', 10, 'example-org.mail.protection.outlook.com')],
    fault: { slow: 25 },
  },
  'example.net': {
    records: [mx('example.net', 10, 'mx1.example.net'), mx('example.net', 20, 'mx2.example.net')],
    fault: { slow: 18 },
  },
  'noreply.example.com': { records: [mx('noreply.example.com', 10, 'aspmx.l.google.com')] },
  'mailinator.com': { records: [mx('mailinator.com', 10, 'mail.mailinator.com')] },
  'yopmail.com': { records: [mx('yopmail.com', 10, 'smtp.yopmail.com')] },
  // No list names it.
  [UNLISTED]: { records: [mx(UNLISTED, 10, 'mx.burner-mail.net')] },
  'mx.burner-mail.net': { records: [a('mx.burner-mail.net', '93.184.215.20')] },
  'mx1.example.net': { records: [a('mx1.example.net', '93.184.215.14')] },
};

export interface Showcase {
  readonly service: TestService;
  /** Of the key that is used most. */
  readonly secret: string;
  /** A moment of traffic, for charts. */
  traffic(): Promise<void>;
}

export async function openShowcase(cleanup: (end: () => void | Promise<void>) => void): Promise<Showcase> {
  const folder = temporaryFolder(cleanup);
  const dns = await startDns();
  cleanup(() => dns.close());
  for (const [name, zone] of Object.entries(ZONES)) dns.zones.set(name, zone);
  await learn(folder);
  const service = await startTestService(
    { env: { ADMIN_TOKEN: TOKEN }, catalog: await allListsCatalog(), clock: () => NOW, folder, dns },
    cleanup,
  );
  const random = randomFrom(7);
  const time = { now: NOW - 40 * DAY_MS };
  const operate = createOperate({ store: service.store, clock: () => time.now });
  const secrets: string[] = [];
  for (const { daily, ...limits } of KEYS) {
    const made = await createKey(service, limits, time.now);
    secrets.push(made.secret);
    await use(service, made.key.id, daily, random);
    time.now += 2 * DAY_MS + Math.round(3 * HOUR_MS * random());
  }
  await decide(service, operate, time);
  await flag(service, [secrets[0]!, secrets[4]!], random);
  const names = ['example.com', 'example.org', 'example.net', 'gmail.com', ...DISPOSABLE, ...UNDELIVERABLE];

  async function traffic(): Promise<void> {
    const calls = 6 + Math.floor(30 * random());
    await Promise.all(
      Array.from({ length: calls }, async () => {
        const name = names[Math.floor(names.length * random())];
        const isWrong = random() < 0.05;
        await (await service.get(`/v1/public/domain/${isWrong ? 'a_b' : name}`, secrets[0])).text();
      }),
    );
  }
  return { service, secret: secrets[0]!, traffic };
}

/** With a secret that is the same each time, made of its name. */
async function createKey(
  { store }: TestService,
  limits: Partial<Limits> & { name: string },
  now: number,
): Promise<MadeKey> {
  const made = newKey(limits, now, secretFrom(createHash('sha256').update(limits.name).digest()));
  await store.createKey(made.key, actOf(now, 'key.create', made.key.id, BEN));
  return made;
}

/** Calls of the last 30 days: fewer at weekends. */
async function use(
  { store }: TestService,
  keyId: string,
  daily: number,
  random: () => number,
): Promise<void> {
  const revision = await store.revision();
  for (const day of lastDays(NOW, 30)) {
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    const calls = Math.round(daily * (isWeekend ? 0.35 : 1) * (0.75 + 0.5 * random()));
    await Promise.all(
      Array.from({ length: calls }, () => spendOne(store, { keyId, day, quota: null }, revision)),
    );
  }
}

async function decide(
  service: TestService,
  operate: ReturnType<typeof createOperate>,
  time: { now: number },
): Promise<void> {
  const none = { below: false, note: null, expiresAt: null };
  const set = async (wanted: Parameters<typeof operate.setOverride>[0], actor = ANN) => {
    await operate.setOverride(wanted, actor);
    time.now += 5 * DAY_MS + 2 * HOUR_MS;
  };
  const old = await createKey(service, { name: 'old-website' }, time.now);
  time.now += DAY_MS;
  await operate.revokeKey(old.key.id, ANN);
  time.now += 7 * HOUR_MS;
  await set({
    ...none,
    domain: 'partner.example',
    action: 'allow',
    author: 'Ann',
    note: 'Customer since 2019',
  });
  await set({
    ...none,
    domain: 'spam-wave.example',
    action: 'deny',
    below: true,
    author: 'Ann',
    note: 'Wave of sign-ups in October',
  });
  await set(
    { ...none, domain: 'alerts.example.org', action: 'role', author: 'Ben', note: 'Monitoring only' },
    BEN,
  );
  const until = NOW + 20 * DAY_MS;
  await set({
    ...none,
    domain: 'fair.example',
    action: 'allow',
    author: 'Ann',
    note: 'Until the fair is over',
    expiresAt: until,
  });
  const trial = await operate.findKey('partner-trial');
  if ('problem' in trial) throw new Error(trial.detail);
  await operate.updateKey(trial.id, { expiresAt: NOW + 45 * DAY_MS }, ANN);
}

/** Which domains were flagged how often: several keys, several days. */
async function flag(
  { store, get }: TestService,
  secrets: readonly string[],
  random: () => number,
): Promise<void> {
  const keys = (await store.listKeys()).map(({ id }) => id);
  const days = lastDays(NOW, 30);
  const flags = DISPOSABLE.flatMap((domain, at) =>
    days.flatMap(day =>
      keys
        .filter(() => random() < 0.9 - 0.07 * at)
        .map(keyId => ({ domain, day, keyId, listed: true, reason: 'disposable' as const, score: 100 })),
    ),
  );
  await store.flag(flags, days[0]!);
  // What no list names is shown after two keys have met it.
  for (const name of [...UNDELIVERABLE, 'alerts.example.org'])
    for (const secret of secrets) await (await get(`/v1/public/domain/${name}`, secret)).text();
}

/** Before it starts: a running service reads what others learned once a minute. */
async function learn(folder: string): Promise<void> {
  const store = await openSqliteStore(join(folder, 'domain-risk.db'), error => {
    throw error;
  });
  const day = dayOf(NOW);
  const listed = (await allListsCatalog()).mostAgreed(200).values();
  const guests = (host: string, count: number) =>
    Array.from(listed.take(count), domain => guestOf({ host, domain, entry: domain, day }));
  const customers = Array.from({ length: 23 }, (_, at) => `customer-${at}.example`);
  await store.learn(
    [
      ...guests('mx.burner-mail.net', 41),
      ...guests('in.throwaway.example', 17),
      ...guests('198.51.100.25', 12),
      ...guests('mail.small-hoster.example', 4),
      ...customers.map(domain => guestOf({ host: 'mail.small-hoster.example', domain, entry: null, day })),
    ],
    [],
    day,
    day,
  );
  await store.close();
}
