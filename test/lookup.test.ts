import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCatalog } from '../src/assemble.ts';
import type { Catalog } from '../src/core/catalog.ts';
import { type Domain, parseDomain } from '../src/core/domain.ts';
import { Infra } from '../src/core/infra.ts';
import { MAIL_UNKNOWN, type Mail, type MailState } from '../src/core/mail.ts';
import type { Override, OverrideAction } from '../src/core/override.ts';
import type { Resolver } from '../src/core/ports.ts';
import { parseTables } from '../src/core/tables.ts';
import { OFFLINE } from '../src/dns/offline.ts';
import { SOURCES } from '../src/feeds/sources.ts';
import { readTables } from '../src/feeds/tables.ts';
import { type Answer, createLookup } from '../src/lookup.ts';
import { overrideOf } from './support/records.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await buildCatalog(SOURCES, () => {});
});

function domain(name: string): Domain {
  const parsed = parseDomain(name);
  if (!parsed.ok) throw new Error(`${name}: ${parsed.rule}`);
  return parsed.domain;
}

function mail(state: MailState, ...hosts: string[]): Mail {
  return { state, exchanges: hosts.map((host, at) => ({ host, preference: at })), stale: false };
}

/** An internet of these names; every other one does not exist. What is asked is written down. */
function world(
  zone: Record<string, Mail> = {},
  facts: { cached?: Record<string, Mail>; overrides?: Override[]; due?: number; infra?: () => Infra } = {},
) {
  const asked: string[] = [];
  const met: string[] = [];
  const kept = new Map(Object.entries(facts.cached ?? {}));
  const resolver: Resolver = {
    ...OFFLINE,
    peek: name => kept.get(name),
    last: name => kept.get(name),
    resolve: async name => {
      asked.push(`wait ${name}`);
      return zone[name] ?? mail('nxdomain');
    },
    prefetch: name => asked.push(`later ${name}`),
  };
  const infra = new Infra(new Map(), new Map(), () => undefined);
  const overrides = new Map((facts.overrides ?? []).map(override => [override.domain, override]));
  const { lookup, last } = createLookup({
    catalog: () => catalog,
    overrides: () => overrides,
    resolver,
    clock: () => Date.parse('2026-11-15'),
    infra: facts.infra ?? (() => infra),
    note: () => {},
    meet: exchanges => {
      met.push(exchanges.map(({ host }) => host).join(' '));
      return met.length > (facts.due ?? 0);
    },
  });
  return {
    asked,
    met,
    kept,
    look: (name: string) => lookup(domain(name), 'key'),
    last: (name: string) => last(domain(name)),
  };
}

function override(name: string, action: OverrideAction, facts: Partial<Override> = {}): Override {
  return overrideOf(name, { action, ...facts });
}

const six = ({ verdict: v }: Answer) => [
  v.riskScore,
  v.reason,
  v.isFreeProvider,
  v.isCorporateEmail,
  v.mxProviderLabel,
];

describe('what names that nobody asks for again keep', () => {
  it('is not what was learned long ago', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const newInfra = () => new Infra(new Map(), new Map(), () => undefined);
    let infra = newInfra();
    const { look } = world({}, { cached: { 'a.com': mail('mx', 'mx.a.com') }, infra: () => infra });
    const before = Array.from({ length: 5 }, (_, minute) => {
      for (let times = 0; times < 2; times++)
        look(minute === 0 ? 'a.com' : `listed-${minute}.mailinator.com`);
      const seen = new WeakRef(infra);
      infra = newInfra();
      return seen;
    });
    look('gmail.com');
    await new Promise(done => setImmediate(done));
    collect();
    expect(before.map(one => one.deref())).toEqual(Array(5).fill(undefined));
  });
});

describe('a name that is known from before', () => {
  const self = mail('mx', 'mx.firm.com');
  it.each<[string, Record<string, Mail>, number, string[]]>([
    [
      'has its hosts looked at until all their addresses are known',
      { 'firm.com': self },
      2,
      Array(3).fill('mx.firm.com'),
    ],
    [
      'on hosts that no lookup can learn has none looked at',
      { 'firm.com': mail('mx', 'aspmx.l.google.com') },
      0,
      [],
    ],
  ])('%s', (_, cached, due, expected) => {
    const { look, met } = world({}, { cached, due });
    for (let times = 0; times < 6; times++) look('firm.com');
    expect(met).toEqual(expected);
  });

  it('has the hosts of another answer looked at anew', () => {
    const { look, met, kept } = world({}, { cached: { 'firm.com': self } });
    look('firm.com');
    kept.set('firm.com', mail('mx', 'mx.other.net'));
    look('firm.com');
    look('firm.com');
    expect(met).toEqual(['mx.firm.com', 'mx.other.net']);
  });
});

describe('with no DNS at all, at once and with no question', () => {
  it.each<[string, unknown[]]>([
    ['gmail.com', [5, 'safe', true, false, 'Gmail']],
    ['outlook.com', [5, 'safe', true, false, 'Outlook.com']],
    ['proton.me', [5, 'safe', true, false, 'Proton Mail']],
    ['icloud.com', [5, 'safe', true, false, 'iCloud Mail']],
    ['zoho.com', [5, 'safe', true, false, 'Zoho Mail']],
    ['fastmail.com', [5, 'safe', true, false, 'Fastmail']],
    ['tuta.com', [5, 'safe', true, false, 'Tuta Mail']],
    ['yopmail.com', [100, 'disposable', false, false, 'YOPmail']],
    ['mailinator.com', [100, 'disposable', false, false, 'Mailinator']],
    ['duck.com', [30, 'safe', false, false, 'DuckDuckGo Email Protection']],
    ['privaterelay.appleid.com', [30, 'safe', false, false, 'Apple Hide My Email']],
    ['mail.local', [95, 'undeliverable', false, false, null]],
    ['gmail.com.invalid', [95, 'undeliverable', false, false, null]],
  ])('%s', (name, expected) => {
    const { look, asked } = world();
    const answer = look(name);
    if (answer instanceof Promise) throw new Error('waited');
    expect(six(answer)).toEqual(expected);
    expect(answer).toMatchObject({ degraded: false, evidence: { mail: { state: 'not_asked' } } });
    expect(answer.snapshot).toBe(catalog.generation);
    expect(asked).toEqual([]);
  });

  it('every mailbox row answers as its class says, every relay row as a relay', async () => {
    const { mailboxes, relays } = parseTables(await readTables());
    const { look, asked } = world();
    for (const [name, row] of mailboxes) {
      const expected = row.class === 'disposable' ? ['disposable', false] : ['safe', true];
      expect(six(look(name) as Answer).slice(1, 3), name).toEqual(expected);
    }
    for (const [name, label] of relays)
      expect(six(look(name) as Answer), name).toEqual([30, 'safe', false, false, label]);
    expect(asked).toEqual([]);
  });
});

describe('a listed name never waits for DNS', () => {
  it('is answered without label when nothing is cached, and asked in the background', () => {
    const { look, asked } = world();
    expect(six(look('inbox.mailinator.com') as Answer)).toEqual([100, 'disposable', false, false, null]);
    expect(asked).toEqual(['later inbox.mailinator.com']);
  });

  it('takes its label from the cache', () => {
    const cached = {
      'sharklasers.example.com': mail('mx'),
      'inbox.mailinator.com': mail('mx', 'mail2.mailinator.com'),
    };
    const { look, asked } = world({}, { cached });
    expect((look('inbox.mailinator.com') as Answer).verdict.mxProviderLabel).toBe('Mailinator');
    expect(asked).toEqual([]);
  });

  it('is disposable even when the cache says that it is dead', () => {
    const { look } = world({}, { cached: { 'guerrillamail.info': mail('nxdomain') } });
    expect(six(look('guerrillamail.info') as Answer)).toEqual([100, 'disposable', false, false, null]);
  });
});

describe('names that the lists get wrong', () => {
  const innocent = mail('mx', 'mx1.unrecognised-host.net', 'mx2.unrecognised-host.net');

  it.each(
    `google.com microsoft.com yandex.net craigslist.org com.com sdf.org seomoz.org afternic.com test.com example.com
    crazydomains.com mamba.ru duck.com mozmail.com relay.firefox.com privaterelay.appleid.com simplelogin.com
    simplelogin.co passmail.net addy.io anonaddy.com anonaddy.me 33mail.com erine.email improvmx.com forwardemail.net
    protonmail.com gmx.com mail.ru hush.com facebookmail.com it.com za.com eu.org msk.ru
    shop.it.com firm.za.com club.eu.org firm.msk.ru someone.anonaddy.com someone.33mail.com`.split(/\s+/),
  )('%s is not flagged', async name => {
    const { look } = world({ [name]: innocent });
    expect((await look(name)).verdict.reason).toBe('safe');
  });

  it.each(['x.cc.cd', 'x.eu.cc', 'x.de5.net', 'x.qzz.io', 'x.dpdns.org', 'x.us.ci', 'cc.cd'])(
    '%s is flagged by its listed private suffix',
    name => {
      const { verdict, evidence } = world().look(name) as Answer;
      expect(verdict.reason).toBe('disposable');
      expect(verdict.riskScore).toBeGreaterThanOrEqual(90);
      expect(evidence.lists[0]?.entry).toBe(name.replace('x.', ''));
    },
  );

  it.each(['school.edu.pl', 'firm.my.id', 'firm.web.id', 'firm.id.vn', 'school.edu.kg', 'firm.zp.ua'])(
    '%s is not flagged by its ICANN suffix',
    async name => {
      expect((await world({ [name]: innocent }).look(name)).verdict).toMatchObject({
        reason: 'safe',
        riskScore: 15,
      });
    },
  );

  it.each(['gmаil.com', 'xn--gmal-nza.com', 'gmall.com', 'gmail.com.evil.net'])(
    '%s only looks like a free provider',
    async name => {
      const { look } = world({ [domain(name)]: innocent });
      expect((await look(name)).verdict.isFreeProvider).toBe(false);
    },
  );

  it.each(['facebook.com', 'alibaba.com', 'go.com', 'google.com', 'nus.edu.sg'])(
    '%s is no free provider',
    async name => {
      const { look } = world({ [name]: mail('mx', `mx.${name}`) });
      expect((await look(name)).verdict.isFreeProvider).toBe(false);
    },
  );

  it.each(['riseup.net', 'mailo.com', 'docomo.ne.jp', 'o2.pl', 'earthlink.net', 'vfemail.net'])(
    '%s is a free provider',
    async name => {
      const { look } = world({ [name]: mail('mx', `mx.${name}`) });
      expect(six(await look(name)).slice(0, 4)).toEqual([5, 'safe', true, false]);
    },
  );
});

describe('an unlisted name is judged by its mail', () => {
  it.each<[string, Mail, unknown[]]>([
    [
      'acme-workspace.com',
      mail('mx', 'aspmx.l.google.com', 'alt1.aspmx.l.google.com'),
      [3, 'safe', false, true, 'Google Workspace'],
    ],
    [
      'acme-365.com',
      mail('mx', 'acme-365-com.mail.protection.outlook.com'),
      [3, 'safe', false, true, 'Microsoft 365'],
    ],
    ['acme-gateway.com', mail('mx', 'mxa-0001.gslb.pphosted.com'), [0, 'safe', false, true, 'Proofpoint']],
    ['acme-zoho.com', mail('mx', 'mx.zoho.com', 'mx2.zoho.com'), [3, 'safe', false, true, 'Zoho Mail']],
    [
      'acme-own.com',
      mail('mx', 'mx1.acme-own.com', 'mx2.acme-own.com'),
      [10, 'safe', false, true, 'Self-hosted'],
    ],
    ['acme-hosted.com', mail('mx', 'mx00.ionos.com', 'mx01.ionos.com'), [10, 'safe', false, false, 'IONOS']],
    [
      'acme-routed.com',
      mail('mx', 'route1.mx.cloudflare.net'),
      [30, 'safe', false, false, 'Cloudflare Email Routing'],
    ],
    ['acme-parsed.com', mail('mx', 'mx.sendgrid.net'), [25, 'safe', false, false, 'SendGrid']],
    ['acme-other.com', mail('mx', 'mx.other-host.co.uk'), [20, 'safe', false, false, 'other-host.co.uk']],
    [
      'acme-parked.com',
      mail('mx', 'mail.h-email.net'),
      [80, 'undeliverable', false, false, 'Parked (pickelhost cluster)'],
    ],
    [
      'fresh-temp-mail-42.com',
      mail('mx', 'mx.generator.email'),
      [89, 'disposable', false, false, 'generator.email'],
    ],
    [
      'acme-many.com',
      { ...mail('mx', 'aspmx.l.google.com', 'mx.acme-many.com'), cut: true },
      [40, 'safe', false, false, null],
    ],
    [
      'acme-many-parked.com',
      { ...mail('mx', 'mail.h-email.net'), cut: true },
      [40, 'safe', false, false, null],
    ],
    [
      'acme-beside.com',
      { ...mail('mx', 'nope.mail.protection.outlook.com'), cut: 'beside' },
      [20, 'safe', false, false, 'Microsoft 365'],
    ],
    [
      'acme-own-beside.com',
      { ...mail('mx', 'mx.acme-own-beside.com'), cut: 'beside' },
      [15, 'safe', false, true, 'Self-hosted'],
    ],
    [
      'fresh-temp-mail-many.com',
      { ...mail('mx', 'aspmx.l.google.com', 'mx.generator.email'), cut: true },
      [60, 'disposable', false, false, 'generator.email'],
    ],
    ['acme-implicit.com', mail('implicit_mx'), [35, 'safe', false, false, null]],
    ['acme-null.com', mail('null_mx'), [90, 'undeliverable', false, false, null]],
    ['acme-none.com', mail('no_mail'), [85, 'undeliverable', false, false, null]],
    ['acme-gone.com', mail('nxdomain'), [90, 'undeliverable', false, false, null]],
    ['x.gmail.com', mail('nxdomain'), [90, 'undeliverable', false, false, null]],
    ['user.anonaddy.com', mail('mx', 'mail.anonaddy.me'), [30, 'safe', false, false, 'addy.io (AnonAddy)']],
    [
      'noreply.acme.com',
      mail('mx', 'aspmx.l.google.com'),
      [60, 'role_account', false, true, 'Google Workspace'],
    ],
    ['noreply.com', mail('mx', 'mx1.noreply.com'), [15, 'safe', false, true, 'Self-hosted']],
    ['noreply.github.io', mail('mx', 'mx.other-host.net'), [20, 'safe', false, false, 'other-host.net']],
    ['bounces.mail.acme.co.uk', mail('nxdomain'), [90, 'undeliverable', false, false, null]],
  ])('%s', async (name, answer, expected) => {
    const { look, asked } = world({ [name]: answer });
    expect(six(await look(name))).toEqual(expected);
    expect(asked).toEqual([`wait ${name}`]);
  });

  it('answers at once from the cache', () => {
    const { look, asked } = world({}, { cached: { 'acme.com': mail('mx', 'aspmx.l.google.com') } });
    expect((look('acme.com') as Answer).verdict.mxProviderLabel).toBe('Google Workspace');
    expect(asked).toEqual([]);
  });

  it('names disposable hosts in the evidence', async () => {
    const { verdict } = await world({ 'fresh.com': mail('mx', 'mx.generator.email') }).look('fresh.com');
    expect(verdict.signals).toEqual([
      { signal: 'disposable_hosts', points: 89, detail: 'generator.email (mx.generator.email)' },
    ]);
  });
});

describe('what is remembered', () => {
  it('is the answer about a name that needed no wait, until its mail changes', async () => {
    const zone = { 'plain.org': mail('mx', 'aspmx.l.google.com') };
    const { look, kept } = world(zone);
    const waited = await look('plain.org');
    kept.set('plain.org', zone['plain.org']);
    const again = await look('plain.org');
    // A name that nobody asks for again takes no room.
    expect(again).not.toBe(waited);
    const whole = (one: typeof again) => ({ ...one, graph: one.graph(), didYouMean: one.didYouMean() });
    expect(whole(again)).toEqual(whole(waited));
    expect(await look('plain.org')).toBe(again);
    kept.set('plain.org', mail('null_mx'));
    expect((await look('plain.org')).verdict.reason).toBe('undeliverable');
  });

  it('is not an answer with many long hosts, which would keep them when the cache of DNS lets them go', async () => {
    const hosts = Array.from({ length: 20 }, (_, at) => `${'long'.repeat(12)}${at}.plain.org`);
    const { look, kept } = world({});
    kept.set('plain.org', mail('mx', ...hosts));
    const once = await look('plain.org');
    const again = await look('plain.org');
    expect(again).not.toBe(once);
    expect(again.verdict).toEqual(once.verdict);
  });
});

describe('when DNS does not answer', () => {
  it('an unlisted name is neutral and degraded', async () => {
    const answer = await world({ 'acme.com': MAIL_UNKNOWN }).look('acme.com');
    expect(six(answer)).toEqual([40, 'safe', false, false, null]);
    expect(answer).toMatchObject({ degraded: true, flag: undefined });
  });

  it('a listed name keeps its verdict and is not degraded', () => {
    const { look } = world({}, { cached: { 'x.cc.cd': MAIL_UNKNOWN } });
    expect(look('x.cc.cd')).toMatchObject({
      degraded: false,
      verdict: { riskScore: 90, reason: 'disposable' },
    });
  });

  it('an older answer counts as an answer', async () => {
    const stale = { ...mail('mx', 'aspmx.l.google.com'), stale: true };
    expect(await world({ 'acme.com': stale }).look('acme.com')).toMatchObject({
      degraded: false,
      verdict: { riskScore: 3 },
    });
  });
});

describe('operator overrides win over everything and wait for nothing', () => {
  it.each<[string, Override, unknown[]]>([
    ['mailinator.com', override('mailinator.com', 'allow'), [0, 'safe', false, false, 'Mailinator']],
    ['gmail.com', override('gmail.com', 'deny'), [100, 'disposable', false, false, 'Gmail']],
    ['acme.com', override('acme.com', 'role'), [60, 'role_account', false, false, null]],
    ['acme.com', override('acme.com', 'allow'), [0, 'safe', false, false, null]],
    ['intranet.local', override('intranet.local', 'allow'), [0, 'safe', false, false, null]],
    ['home.arpa', override('home.arpa', 'deny'), [100, 'disposable', false, false, null]],
    ['a.b.acme.com', override('acme.com', 'deny', { below: true }), [100, 'disposable', false, false, null]],
    ['x.cc.cd', override('cc.cd', 'allow', { below: true }), [0, 'safe', false, false, null]],
  ])('%s', (name, decided, expected) => {
    const { look, asked } = world({}, { overrides: [decided] });
    expect(six(look(name) as Answer)).toEqual(expected);
    expect(asked.filter(question => question.startsWith('wait'))).toEqual([]);
  });

  it('sends no question for a special-use name, overridden or not', () => {
    const { look, asked } = world({}, { overrides: [override('intranet.local', 'allow')] });
    look('intranet.local');
    look('other.local');
    expect(asked).toEqual([]);
  });

  it('does not count any more once it has expired', async () => {
    const { look } = world({}, { overrides: [override('acme.com', 'deny', { expiresAt: 1_000 })] });
    expect((await look('acme.com')).verdict.signals[0]?.signal).toBe('nxdomain');
  });

  it('shows in the evidence, without the note', () => {
    const { look } = world(
      {},
      { overrides: [override('acme.com', 'deny', { below: true, note: 'ticket 7' })] },
    );
    expect((look('www.acme.com') as Answer).verdict.signals).toEqual([
      { signal: 'operator_deny', points: 100, detail: 'override for acme.com and names below it' },
    ]);
  });
});

describe('what the ranking counts', () => {
  it.each<[string, Mail, Answer['flag']]>([
    ['inbox.mailinator.com', mail('mx', 'mail.mailinator.com'), { domain: 'mailinator.com', listed: true }],
    ['x.cc.cd', mail('nxdomain'), { domain: 'cc.cd', listed: true }],
    ['acme-gone.com', mail('nxdomain'), { domain: 'acme-gone.com', listed: false }],
    ['noreply.acme.com', mail('mx', 'mx.acme.com'), { domain: 'noreply.acme.com', listed: false }],
    ['acme.com', mail('mx', 'mx.acme.com'), undefined],
    ['gmail.com', mail('nxdomain'), undefined],
    ['example.com', mail('null_mx'), undefined],
  ])('%s', async (name, answer, flag) => {
    expect((await world({ [name]: answer }).look(name)).flag).toEqual(flag);
  });

  it('an operator can put a protected name there', () => {
    const { look } = world({}, { overrides: [override('example.com', 'deny')] });
    expect((look('example.com') as Answer).flag).toEqual({ domain: 'example.com', listed: false });
  });

  it("today's verdict asks nothing: from the lists, from what is kept, else unknown", () => {
    const { last, asked } = world({}, { cached: { 'acme-gone.com': mail('nxdomain') } });
    expect(last('yopmail.com').verdict.reason).toBe('disposable');
    expect(last('acme-gone.com').verdict.reason).toBe('undeliverable');
    expect(last('never-asked.com')).toMatchObject({
      verdict: { reason: 'safe' },
      evidence: { mail: { state: 'unknown' } },
    });
    expect(asked).toEqual([]);
  });

  it('places are filled with names that are disposable for certain', () => {
    const { last } = world();
    const names = catalog.mostAgreed(1_000);
    expect(new Set(names).size).toBe(1_000);
    for (const name of names) {
      // What people know as a service is one, also where a single family of lists names it.
      const isKnown = catalog.mailbox(name)?.class === 'disposable';
      const { reason, riskScore } = last(name).verdict;
      expect([reason, riskScore >= (isKnown ? 95 : 100)], name).toEqual(['disposable', true]);
    }
  });
});
