import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waitsForDns } from '../../src/core/corroboration.ts';
import type { Domain } from '../../src/core/domain.ts';
import { FAMILIES, type Family } from '../../src/core/feed.ts';
import type { LearnedBy } from '../../src/core/learned.ts';
import { MAIL_STATES, type Mail, type MailState } from '../../src/core/mail.ts';
import { OVERRIDE_ACTIONS, type Override, type OverrideAction } from '../../src/core/override.ts';
import type { Receiver, ReceiverKind } from '../../src/core/provider.ts';
import { type Reason, SIGNALS } from '../../src/core/signals.ts';
import { PROVIDER_CLASSES } from '../../src/core/tables.ts';
import { type Evidence, judge } from '../../src/core/verdict.ts';

const DOMAIN = 'acme.com' as Domain;

function mail(state: MailState, ...hosts: string[]): Mail {
  return { state, exchanges: hosts.map((host, at) => ({ host, preference: at })), stale: false };
}

function receiver(kind: ReceiverKind, hosts = 2): Receiver {
  return {
    kind,
    label: `label of ${kind}`,
    hosts: Array.from({ length: hosts }, (_, at) => `mx${at}.host.net`),
  };
}

function override(action: OverrideAction): Override {
  return { domain: DOMAIN, action, below: false, note: null, author: null, createdAt: 0, expiresAt: null };
}

function evidence(facts: Partial<Evidence> = {}): Evidence {
  return {
    domain: DOMAIN,
    override: undefined,
    lists: [],
    families: new Set<Family>(['broad']),
    namedDays: 30,
    left: false,
    popular: false,
    byItsSuffix: undefined,
    typoOf: undefined,
    settled: undefined,
    silent: true,
    specialUse: false,
    roleWord: undefined,
    mail: mail('mx', 'mx0.host.net', 'mx1.host.net'),
    receiver: receiver('third_party'),
    wellKnown: false,
    free: false,
    relay: undefined,
    unheard: false,
    learned: undefined,
    ...facts,
  };
}

const learnedBy = (by: LearnedBy) => ({
  learned: {
    by,
    hosts: ['mx0.host.net'],
    neighbours: ['listed.com'],
    listedGuests: 41,
    sum: 12.34,
    enough: 2.1,
  },
});
const twoFamilies = { families: new Set<Family>(['broad', 'telemetry']) };
const by = (...feeds: string[]) => feeds.map(feed => ({ feed, entry: DOMAIN as string, since: null }));
const received = (kind: ReceiverKind, hosts = 2) => ({ receiver: receiver(kind, hosts) });
const none = { receiver: undefined };

describe('score and reason of each fact alone', () => {
  it.each<[string, Partial<Evidence>, Reason, number]>([
    ['operator allows', { override: override('allow') }, 'safe', 0],
    ['operator denies', { override: override('deny') }, 'disposable', 100],
    ['operator marks a role', { override: override('role') }, 'role_account', 60],
    ['a verified feed', { lists: by('a'), families: new Set<Family>(['verified']) }, 'disposable', 100],
    ['two families', { lists: by('a', 'b'), ...twoFamilies }, 'disposable', 100],
    ['two feeds of one family', { lists: by('a', 'b') }, 'disposable', 95],
    ['one broad feed names it', { lists: by('a') }, 'disposable', 95],
    [
      'one broad feed names the host above it',
      {
        domain: 'x.cc.cd' as Domain,
        lists: [{ feed: 'a', entry: 'cc.cd', since: null }],
        byItsSuffix: 'free',
      },
      'disposable',
      90,
    ],
    [
      'one feed names it and its parent',
      {
        domain: 'x.acme.com' as Domain,
        lists: [...by('a'), { feed: 'a', entry: 'x.acme.com', since: null }],
      },
      'disposable',
      95,
    ],
    ['special use', { specialUse: true, mail: mail('not_asked'), ...none }, 'undeliverable', 95],
    ['NXDOMAIN', { mail: mail('nxdomain'), ...none }, 'undeliverable', 90],
    ['null MX', { mail: mail('null_mx'), ...none }, 'undeliverable', 90],
    ['no MX and no public address', { mail: mail('no_mail'), ...none }, 'undeliverable', 85],
    ['parking hosts only', received('parked'), 'undeliverable', 80],
    ['disposable hosts only', received('disposable'), 'disposable', 89],
    ['learned hosts only', learnedBy('name'), 'disposable', 84],
    ['hosts at learned addresses only', learnedBy('address'), 'disposable', 80],
    ['hosts below a listed domain', learnedBy('listed'), 'disposable', 82],
    ['two listed siblings', learnedBy('siblings'), 'disposable', 80],
    ['a role word', { roleWord: 'noreply' }, 'role_account', 60],
    ['a gateway', received('security_gateway'), 'safe', 0],
    ['a business platform', received('business_platform'), 'safe', 3],
    ['consumer webmail', received('consumer_webmail'), 'safe', 5],
    ['mailbox provider', received('mailbox_provider'), 'safe', 5],
    ['a hosting company', received('hosting'), 'safe', 10],
    ['self-hosted, two exchanges', received('self_hosted', 2), 'safe', 10],
    ['self-hosted, one exchange', received('self_hosted', 1), 'safe', 15],
    ['two unrecognised exchanges', received('third_party', 2), 'safe', 15],
    ['one unrecognised exchange', received('third_party', 1), 'safe', 20],
    ['transactional', received('transactional'), 'safe', 25],
    ['a forwarder', received('forwarding'), 'safe', 30],
    ['a privacy relay', { relay: 'Relay', ...received('forwarding') }, 'safe', 30],
    ['implicit MX', { mail: mail('implicit_mx'), ...none }, 'safe', 35],
    ['unknown', { mail: mail('unknown'), ...none }, 'safe', 40],
    ['a relay whose DNS is unknown', { relay: 'Relay', mail: mail('unknown'), ...none }, 'safe', 40],
    ['a platform, but in the free list', { free: true, ...received('business_platform') }, 'safe', 5],
    ['free list, own hosts', { free: true, ...received('self_hosted', 1) }, 'safe', 5],
    ['free list, but now forwarded', { free: true, ...received('forwarding') }, 'safe', 30],
  ])('%s', (_, facts, reason, riskScore) => {
    expect(judge(evidence(facts))).toMatchObject({ reason, riskScore });
  });
});

describe('what explains a verdict', () => {
  const neighbours = {
    learned: {
      by: 'name' as const,
      hosts: ['a.net', 'b.net', 'c.net', 'd.net'],
      neighbours: ['x.com', 'y.com'],
      listedGuests: 41,
      sum: 12.34,
      enough: 2.1,
    },
  };
  it.each<[string, Partial<Evidence>, string[]]>([
    ['an override', { override: override('deny') }, ['override for acme.com']],
    [
      'an override of names below too',
      { override: { ...override('deny'), below: true, note: 'our own business' } },
      ['override for acme.com and names below it'],
    ],
    ['every feed once', { lists: by('a', 'b', 'a'), ...twoFamilies }, ['acme.com is in a, b']],
    [
      'every feed with the name that it has',
      {
        lists: [...by('a', 'b'), ...['b', 'c', 'd'].map(feed => ({ feed, entry: 'com', since: null }))],
        ...twoFamilies,
      },
      ['acme.com is in a, b; com in c, d'],
    ],
    [
      'a listing that nobody confirmed yet',
      { lists: by('a'), namedDays: 29, settled: 'platform' },
      ['acme.com is in a only, for less than 30 days: not confirmed yet'],
    ],
    [
      'a listing that was taken back',
      { lists: by('a'), namedDays: 29, left: true },
      ['acme.com is in a only, was shown there for less than 30 days, and is no longer'],
    ],
    [
      'a new listing of a name for which DNS does not answer',
      { lists: by('a'), namedDays: 29, mail: mail('unknown'), ...none },
      ['acme.com is in a only, for less than 30 days, and DNS does not answer for it'],
    ],
    [
      'a listed name that many people use',
      { lists: by('a'), popular: true, typoOf: 'acne.com', mail: mail('nxdomain'), ...none },
      ['acme.com is in a, but many people use it and no verified list names it itself'],
    ],
    [
      'a listed typing error',
      { lists: by('a'), ...twoFamilies, typoOf: 'acne.com' },
      ['acme.com is in a', 'one slip of the finger away from acne.com'],
    ],
    [
      'a listed name that is gone',
      { lists: by('a'), ...twoFamilies, mail: mail('nxdomain'), ...none },
      ['acme.com is in a', 'the name does not exist'],
    ],
    [
      'a name that a broad feed lists itself',
      { lists: by('a') },
      ['acme.com is in a', 'acme.com is named itself, not only a host above it'],
    ],
    [
      'a registrable name above it that a broad feed lists',
      { domain: 'x.acme.com' as Domain, lists: by('a') },
      ['acme.com is in a', 'acme.com is named itself, not only a host above it'],
    ],
    [
      'a listed host that gives subdomains away, asked for itself',
      { domain: 'cc.cd' as Domain, lists: [{ feed: 'a', entry: 'cc.cd', since: null }] },
      ['cc.cd is in a', 'cc.cd is named itself, not only a host above it'],
    ],
    [
      'a listed host that gives subdomains away, above the name',
      {
        domain: 'x.cc.cd' as Domain,
        lists: [{ feed: 'a', entry: 'cc.cd', since: null }],
        byItsSuffix: 'free',
      },
      ['cc.cd is in a', 'cc.cd gives names below it to anybody'],
    ],
    ['special use', { specialUse: true }, ['reserved name that is not in the public DNS']],
    ['NXDOMAIN', { mail: mail('nxdomain'), ...none }, ['the name does not exist']],
    ['null MX', { mail: mail('null_mx'), ...none }, ['the domain says that it accepts no mail (RFC 7505)']],
    ['no mail host', { mail: mail('no_mail'), ...none }, ['no valid mail exchanger and no public address']],
    ['the receiver', received('hosting', 2), ['label of hosting (mx0.host.net, mx1.host.net)']],
    [
      'three of its hosts',
      received('hosting', 4),
      ['label of hosting (mx0.host.net, mx1.host.net, mx2.host.net)'],
    ],
    [
      'a receiver from the table',
      { wellKnown: true, ...received('hosting', 0) },
      ['label of hosting, a well-known domain'],
    ],
    [
      'a receiver whom nobody knows',
      { receiver: { ...receiver('third_party', 1), label: null } },
      ['unrecognised hosts (mx0.host.net)', 'one exchange only'],
    ],
    [
      'three of the learned hosts, and their neighbours',
      neighbours,
      [
        'a.net, b.net, c.net also receives mail for 41 listed disposable domains (x.com, y.com …; weighed 12.3, enough from 2.1)',
      ],
    ],
    [
      'what a learned address also receives for',
      learnedBy('address'),
      [
        'the address of mx0.host.net also receives mail for 41 listed disposable domains (listed.com …; weighed 12.3, enough from 2.1)',
      ],
    ],
    [
      'that it is all hosts of a domain which receive for them',
      { learned: { ...learnedBy('name').learned, below: 'host.net' } },
      [
        'mx0.host.net (all mail hosts below host.net) also receives mail for 41 listed disposable domains (listed.com …; weighed 12.3, enough from 2.1)',
      ],
    ],
    [
      'so many neighbours that nobody counted further',
      { learned: { ...learnedBy('name').learned, listedGuests: 1_000 } },
      [
        'mx0.host.net also receives mail for 1000 or more listed disposable domains (listed.com …; weighed 12.3, enough from 2.1)',
      ],
    ],
    [
      'the listed domain of an exchange',
      learnedBy('listed'),
      ['mx0.host.net: listed.com is a listed disposable domain'],
    ],
    [
      'the listed domains of several exchanges',
      { learned: { ...neighbours.learned, by: 'listed' } },
      ['a.net, b.net, c.net: x.com, y.com are listed disposable domains'],
    ],
    [
      'listed siblings',
      learnedBy('siblings'),
      ['41 names below mx0.host.net are listed disposable domains (listed.com)'],
    ],
    [
      'some of the listed siblings',
      { learned: { ...neighbours.learned, by: 'siblings' } },
      ['41 names below a.net are listed disposable domains (x.com, y.com)'],
    ],
    [
      'a disposable exchange and that it is not the only one',
      received('partly_disposable', 1),
      ['label of partly_disposable (mx0.host.net), beside others'],
    ],
    ['a role word', { roleWord: 'noreply' }, ['"noreply" is a name for automated mail']],
    ['a relay', { relay: 'Relay', ...received('forwarding') }, ['address of Relay']],
    [
      'an implicit MX',
      { mail: mail('implicit_mx'), ...none },
      ['no mail exchanger, only an address (RFC 5321 5.1)'],
    ],
    ['what is not known', { mail: mail('unknown'), ...none }, ['who receives the mail is not known']],
  ])('names %s', (_, facts, details) => {
    expect(judge(evidence(facts)).signals.map(({ detail }) => detail)).toEqual(details);
  });
});

describe('where DNS has no answer', () => {
  it.each<[string, Partial<Evidence>, string]>([
    [
      'what was learned about hosts says nothing',
      { ...learnedBy('name'), mail: mail('unknown') },
      'mail_unknown',
    ],
    ['parking hosts say nothing', { ...received('parked'), mail: mail('unknown') }, 'mail_unknown'],
    ['disposable hosts say nothing', { ...received('disposable'), mail: mail('not_asked') }, 'mail_unknown'],
    [
      'a receiver from the table still does',
      { ...received('hosting'), mail: mail('not_asked'), wellKnown: true },
      'hosting',
    ],
    [
      'a relay with an address only is one',
      { relay: 'Relay', mail: mail('implicit_mx'), ...none },
      'privacy_relay',
    ],
    ['a relay on parking hosts is none', { relay: 'Relay', ...received('parked') }, 'parked'],
  ])('%s', (_, facts, signal) => {
    expect(judge(evidence(facts)).signals[0]?.signal).toBe(signal);
  });
});

it('a disposable exchange beside others is a warning, whatever word the name has, and no company', () => {
  const suspect = { ...received('partly_disposable'), roleWord: 'bounces' };
  expect(judge(evidence(suspect))).toMatchObject({
    riskScore: 60,
    reason: 'disposable',
    isCorporateEmail: false,
  });
  expect(judge(evidence({ ...suspect, ...learnedBy('name') })).riskScore).toBe(84);
});

it('learned hosts with few listed guests are a warning, and no company', () => {
  for (const by of ['name', 'address'] as const) {
    const { learned } = learnedBy(by);
    expect(judge(evidence({ learned: { ...learned!, isFew: true } }))).toMatchObject({
      ...{ riskScore: 60, reason: 'disposable', isCorporateEmail: false },
      signals: [{ signal: 'few_listed_guests', detail: expect.stringContaining('also receives mail for') }],
    });
  }
});

it('learned hosts where a domain is established are a warning, that says so, and no company', () => {
  for (const by of ['name', 'address'] as const)
    for (const isFew of [undefined, true] as const) {
      const learned = { ...learnedBy(by).learned!, ...(isFew && { isFew }), isResident: true } as const;
      expect(judge(evidence({ learned }))).toMatchObject({
        ...{ riskScore: 60, reason: 'disposable', isCorporateEmail: false },
        signals: [
          {
            signal: 'earlier_guest',
            detail: expect.stringMatching(
              /also receives mail for .*, but this domain has been seen there for a month or more/,
            ),
          },
        ],
      });
    }
});

describe('precedence, highest first', () => {
  const ladder: [string, Partial<Evidence>][] = [
    ['operator_allow', { override: override('allow') }],
    ['two_families', { lists: by('a', 'b'), ...twoFamilies }],
    ['null_mx', { mail: mail('null_mx') }],
    ['disposable_hosts', received('disposable')],
    ['learned_hosts', learnedBy('name')],
    ['role_word', { roleWord: 'bounces' }],
    ['third_party', {}],
  ];
  it.each(ladder.map(([signal], at) => [signal, at] as const))('%s', (signal, at) => {
    const all = Object.assign({}, ...ladder.slice(at).map(([, facts]) => facts));
    // Null MX and exchanges exclude each other, so the lower rungs are judged with exchanges again.
    expect(judge(evidence(all)).signals[0]?.signal).toBe(signal);
  });

  it('special use yields to an operator only', () => {
    const facts = { specialUse: true, mail: mail('not_asked'), ...none };
    expect(judge(evidence({ ...facts, override: override('allow') }))).toMatchObject({
      reason: 'safe',
      riskScore: 0,
    });
    expect(judge(evidence({ ...facts, roleWord: 'noreply' })).reason).toBe('undeliverable');
  });

  it('listed and dead is still disposable', () => {
    expect(judge(evidence({ lists: by('a'), mail: mail('nxdomain'), ...none })).reason).toBe('disposable');
  });
});

describe('free, corporate and the label', () => {
  it.each<[string, Partial<Evidence>, boolean, boolean]>([
    ['business platform', received('business_platform'), false, true],
    ['security gateway', received('security_gateway'), false, true],
    ['own hosts', received('self_hosted'), false, true],
    ['hosting company', received('hosting'), false, false],
    ['transactional', received('transactional'), false, false],
    ['forwarder', received('forwarding'), false, false],
    ['hosts for consumers only', received('consumer_webmail'), true, false],
    ['relay on hosts for consumers only', { relay: 'R', ...received('consumer_webmail') }, false, false],
    ['consumers and customers, own domain', received('mailbox_provider'), false, false],
    ['consumers and customers, free list', { free: true, ...received('mailbox_provider') }, true, false],
    ['unrecognised hosts', received('third_party'), false, false],
    ['free list on a platform', { free: true, ...received('business_platform') }, true, false],
    ['free list, dead', { free: true, mail: mail('nxdomain'), ...none }, false, false],
    ['free list, unknown', { free: true, mail: mail('unknown'), ...none }, false, false],
    ['free list, implicit MX', { free: true, mail: mail('implicit_mx'), ...none }, true, false],
    ['free list, listed', { free: true, lists: by('a'), ...received('consumer_webmail') }, false, false],
    ['relay on a platform', { relay: 'R', ...received('business_platform') }, false, false],
    ['relay in the free list', { relay: 'R', free: true, ...received('forwarding') }, false, false],
    ['role word on a platform', { roleWord: 'noreply', ...received('business_platform') }, false, true],
    [
      'allowed, listed, on a platform',
      { override: override('allow'), lists: by('a'), ...received('business_platform') },
      false,
      true,
    ],
    [
      'a role by the operator, special use',
      { override: override('role'), specialUse: true, free: true },
      false,
      false,
    ],
    ['allowed, parked', { override: override('allow'), free: true, ...received('parked') }, false, false],
    [
      'allowed, dead',
      { override: override('allow'), free: true, mail: mail('nxdomain'), ...none },
      false,
      false,
    ],
    [
      'allowed, own hosts behind an implicit MX',
      { override: override('allow'), mail: mail('implicit_mx'), ...received('self_hosted') },
      false,
      false,
    ],
    ['free relay on a platform', { relay: 'R', free: true, ...received('business_platform') }, false, false],
    ['denied, on a platform', { override: override('deny'), ...received('business_platform') }, false, false],
    [
      'well-known free',
      {
        wellKnown: true,
        free: true,
        mail: mail('not_asked'),
        receiver: { ...receiver('consumer_webmail'), hosts: [] },
      },
      true,
      false,
    ],
  ])('%s', (_, facts, isFreeProvider, isCorporateEmail) => {
    expect(judge(evidence(facts))).toMatchObject({ isFreeProvider, isCorporateEmail });
  });

  it('shows the label of the receiver for flagged domains too', () => {
    expect(judge(evidence({ lists: by('a'), ...received('hosting') })).mxProviderLabel).toBe(
      'label of hosting',
    );
    expect(judge(evidence(received('parked'))).mxProviderLabel).toBe('label of parked');
  });
});

const kinds: ReceiverKind[] = [...PROVIDER_CLASSES, 'self_hosted', 'third_party'];
const host = fc.constantFrom('mx0.host.net', 'mx1.host.net', 'mail.acme.com');
const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  domain: fc.constant(DOMAIN),
  override: fc.option(
    fc.record({
      domain: fc.constant('acme.com'),
      action: fc.constantFrom(...OVERRIDE_ACTIONS),
      below: fc.boolean(),
      note: fc.option(fc.string()),
      author: fc.constant(null),
      createdAt: fc.constant(0),
      expiresAt: fc.constant(null),
    }),
    { nil: undefined, freq: 3 },
  ),
  lists: fc.array(
    fc.record({
      feed: fc.constantFrom('a', 'b', 'c'),
      entry: fc.constantFrom('acme.com', 'cc.cd'),
      since: fc.constantFrom(null, '2026-01-01'),
    }),
    { maxLength: 4 },
  ),
  families: fc.subarray([...FAMILIES], { minLength: 1 }).map(some => new Set(some)),
  namedDays: fc.constantFrom(0, 29, 30, Number.POSITIVE_INFINITY),
  left: fc.boolean(),
  popular: fc.boolean(),
  byItsSuffix: fc.constantFrom(undefined, 'free', 'registry'),
  typoOf: fc.option(fc.constant('acne.com'), { nil: undefined }),
  settled: fc.constantFrom('platform', 'own', undefined),
  silent: fc.boolean(),
  unheard: fc.boolean(),
  specialUse: fc.boolean(),
  roleWord: fc.option(fc.constant('noreply'), { nil: undefined }),
  mail: fc.record({
    state: fc.constantFrom(...MAIL_STATES),
    exchanges: fc.array(fc.record({ host, preference: fc.nat(100) }), { maxLength: 3 }),
    stale: fc.boolean(),
  }),
  receiver: fc.option(
    fc.record({
      kind: fc.constantFrom(...kinds),
      label: fc.option(fc.string()),
      hosts: fc.array(host, { maxLength: 3 }),
    }),
    { nil: undefined },
  ),
  wellKnown: fc.boolean(),
  free: fc.boolean(),
  relay: fc.option(fc.constant('Relay'), { nil: undefined }),
  learned: fc.option(
    fc.record({
      by: fc.constantFrom<LearnedBy>('name', 'listed', 'address', 'siblings'),
      hosts: fc.array(host, { minLength: 1, maxLength: 3 }),
      neighbours: fc.array(fc.constant('listed.com'), { minLength: 1, maxLength: 3 }),
      listedGuests: fc.nat(2_000),
      sum: fc.option(fc.float({ min: 3, max: 1_000, noNaN: true })),
      enough: fc.constantFrom(2.1, 2.5),
    }),
    { nil: undefined, freq: 3 },
  ),
});

describe('whatever the evidence', () => {
  // Made once for all of them: making them takes longer than judging.
  const samples = fc.sample(anyEvidence, 3_000);
  const always = (name: string, holds: (facts: Evidence) => void) =>
    it(name, () => {
      for (const facts of samples) holds(facts);
    });

  always('the points add up to the score, each from the table', facts => {
    const { signals, riskScore } = judge(facts);
    expect(signals.length).toBeGreaterThan(0);
    expect(signals.reduce((sum, { points }) => sum + points, 0)).toBe(riskScore);
    for (const { signal, points } of signals)
      expect(SIGNALS).toHaveProperty(signal, expect.objectContaining({ points }));
  });

  always('all signals of a verdict speak for its reason', facts => {
    const { signals, reason } = judge(facts);
    for (const { signal } of signals) expect(SIGNALS[signal as keyof typeof SIGNALS].reason).toBe(reason);
  });

  always('the bands hold: safe < 50 <= role_account and new listings < 80 <= the rest <= 100', facts => {
    const { riskScore, reason, signals } = judge(facts);
    if (signals[0]?.signal === 'new_listing') return expect([riskScore, reason]).toEqual([60, 'disposable']);
    const [low, high] = {
      safe: [0, 49],
      role_account: [50, 79],
      undeliverable: [80, 99],
      disposable: [80, 100],
    }[reason];
    expect(riskScore).toBeGreaterThanOrEqual(low!);
    expect(riskScore).toBeLessThanOrEqual(high!);
    expect(Number.isInteger(riskScore)).toBe(true);
  });

  always('an operator decides alone', facts => {
    if (!facts.override) return;
    const expected = { allow: ['safe', 0], deny: ['disposable', 100], role: ['role_account', 60] }[
      facts.override.action
    ];
    const { reason, riskScore } = judge(facts);
    expect([reason, riskScore]).toEqual(expected);
  });

  always(
    'a list is never outvoted by DNS, save where one family alone names it and that is new, or a registry above it',
    facts => {
      if (facts.override || facts.lists.length === 0 || facts.popular) return;
      expect(judge(facts).reason).toBe('disposable');
      const isNew = waitsForDns({ ...facts, left: false, byItsSuffix: undefined });
      const isOneLine = facts.byItsSuffix === 'registry' && facts.families.size === 1;
      expect(judge(facts).riskScore).toBeGreaterThanOrEqual(isNew || isOneLine ? 60 : 90);
    },
  );

  always('a name that many people use is not flagged by a list unless a verified one names it', facts => {
    if (facts.override || facts.lists.length === 0 || !facts.popular) return;
    const isNamed = facts.families.has('verified') && !facts.byItsSuffix;
    const expected = isNamed ? ['disposable', 100] : ['safe', 45];
    const { reason, riskScore } = judge(facts);
    expect([reason, riskScore]).toEqual(expected);
  });

  always('free and disposable, free and corporate, undeliverable and either exclude each other', facts => {
    const { reason, isFreeProvider, isCorporateEmail } = judge(facts);
    expect(isFreeProvider && isCorporateEmail).toBe(false);
    if (reason === 'disposable' || reason === 'undeliverable')
      expect([isFreeProvider, isCorporateEmail]).toEqual([false, false]);
  });

  always('there is a label only where exchanges or a table row name the receiver', facts => {
    const { mxProviderLabel } = judge(facts);
    if (facts.specialUse || (facts.mail.state !== 'mx' && !facts.wellKnown))
      expect(mxProviderLabel).toBeNull();
  });

  always('an unknown answer of DNS makes nothing undeliverable, free or corporate', facts => {
    const { reason, isFreeProvider, isCorporateEmail } = judge({
      ...facts,
      specialUse: false,
      wellKnown: false,
      mail: mail('unknown'),
    });
    expect(reason).not.toBe('undeliverable');
    expect([isFreeProvider, isCorporateEmail]).toEqual([false, false]);
  });
});
