import type { Answer } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import type { MailState } from '../../src/core/mail.ts';
import { a, aaaa, cname, mx, type Zone } from '../support/dns.ts';
import { domain, resolving } from '../support/resolving.ts';

const NAME = 'example.com';
const MINUTE = 60;
const HOUR = 3_600;
const PUBLIC_4 = '93.184.215.14';
const PUBLIC_6 = '2606:2800:21f:cb07::1';

interface Row {
  readonly what: string;
  readonly zone?: Zone;
  readonly state: MailState;
  readonly exchanges?: readonly string[];
  /** Questions sent, in order of type. */
  readonly asked: string;
  /** For how many seconds the answer is kept. */
  readonly kept: number;
}

const zone = (records: Answer[], negativeTtl?: number | null): Zone =>
  negativeTtl === undefined ? { records } : { records, negativeTtl };

const ROWS: readonly Row[] = [
  {
    what: 'MX, in order of preference, lower case, twice the same host once',
    zone: zone([mx(NAME, 20, 'b.Mail.net'), mx(NAME, 10, 'A.mail.net'), mx(NAME, 30, 'a.mail.NET')]),
    state: 'mx',
    exchanges: ['10 a.mail.net', '20 b.mail.net'],
    asked: 'MX',
    kept: HOUR,
  },
  {
    what: 'the smallest TTL of the records counts',
    zone: zone([mx(NAME, 10, 'a.mail.net', 7_200), mx(NAME, 20, 'b.mail.net', 1_800)]),
    state: 'mx',
    exchanges: ['10 a.mail.net', '20 b.mail.net'],
    asked: 'MX',
    kept: 1_800,
  },
  {
    what: 'a TTL of zero is five minutes',
    zone: zone([mx(NAME, 10, 'a.mail.net', 0)]),
    state: 'mx',
    exchanges: ['10 a.mail.net'],
    asked: 'MX',
    kept: 5 * MINUTE,
  },
  {
    what: 'a TTL of a month is a day',
    zone: zone([mx(NAME, 10, 'a.mail.net', 30 * 24 * HOUR)]),
    state: 'mx',
    exchanges: ['10 a.mail.net'],
    asked: 'MX',
    kept: 24 * HOUR,
  },
  {
    what: 'a TTL with its top bit set counts as zero',
    zone: zone([mx(NAME, 10, 'a.mail.net', 0xffff_ffff)]),
    state: 'mx',
    exchanges: ['10 a.mail.net'],
    asked: 'MX',
    kept: 5 * MINUTE,
  },
  {
    what: 'MX behind an alias, which shortens the TTL',
    zone: zone([cname(NAME, 'Real.example.net', 600), mx('real.example.net', 5, 'mx.example.net')]),
    state: 'mx',
    exchanges: ['5 mx.example.net'],
    asked: 'MX',
    kept: 600,
  },
  {
    what: 'one valid exchange among invalid ones',
    zone: zone([
      mx(NAME, 1, 'localhost'),
      mx(NAME, 2, '1.2.3.4'),
      mx(NAME, 3, 'ok.mail.net'),
      mx(NAME, 4, '.'),
    ]),
    state: 'mx',
    exchanges: ['3 ok.mail.net'],
    asked: 'MX',
    kept: HOUR,
  },
  { what: 'null MX', zone: zone([mx(NAME, 0, '.')]), state: 'null_mx', asked: 'MX', kept: HOUR },
  ...[
    'localhost',
    '127.0.0.1',
    'mail.local',
    'a.test',
    'x.home.arpa',
    'mail',
    'mx.a_b.net',
    '-a.example.net',
  ].map(
    (exchange): Row => ({
      what: `${exchange} as the only exchange, and no fall-back to the public address`,
      zone: zone([mx(NAME, 10, exchange), a(NAME, PUBLIC_4)]),
      state: 'no_mail',
      asked: 'MX',
      kept: HOUR,
    }),
  ),
  {
    what: 'no MX and a public A',
    zone: zone([a(NAME, '10.0.0.1', 700), a(NAME, PUBLIC_4, 700)]),
    state: 'implicit_mx',
    asked: 'A AAAA MX',
    kept: 700,
  },
  {
    what: 'no MX and a public AAAA beside a private A',
    zone: zone([a(NAME, '10.0.0.1'), aaaa(NAME, PUBLIC_6)]),
    state: 'implicit_mx',
    asked: 'A AAAA MX',
    kept: HOUR,
  },
  {
    what: 'no MX and private addresses only',
    zone: zone([a(NAME, '192.168.1.1'), aaaa(NAME, 'fd00::1'), aaaa(NAME, '::ffff:93.184.215.14')], 1_200),
    state: 'no_mail',
    asked: 'A AAAA MX',
    kept: 1_200,
  },
  { what: 'no MX and no address', zone: zone([], 1_200), state: 'no_mail', asked: 'A AAAA MX', kept: 1_200 },
  {
    what: 'no records and no SOA',
    zone: zone([], null),
    state: 'no_mail',
    asked: 'A AAAA MX',
    kept: 5 * MINUTE,
  },
  { what: 'an SOA of one second', zone: zone([], 1), state: 'no_mail', asked: 'A AAAA MX', kept: 5 * MINUTE },
  { what: 'an SOA of a week', zone: zone([], 604_800), state: 'no_mail', asked: 'A AAAA MX', kept: HOUR },
  { what: 'no such name', state: 'nxdomain', asked: 'MX', kept: 15 * MINUTE },
  {
    what: 'no such name and no SOA',
    zone: { rcode: 'NXDOMAIN', negativeTtl: null },
    state: 'nxdomain',
    asked: 'MX',
    kept: 5 * MINUTE,
  },
  {
    what: 'no such name behind an alias',
    zone: { rcode: 'NXDOMAIN', records: [cname(NAME, 'gone.example.net')] },
    state: 'nxdomain',
    asked: 'MX',
    kept: 15 * MINUTE,
  },
  {
    what: 'an alias to a name without records',
    zone: zone([cname(NAME, 'empty.example.net')]),
    state: 'no_mail',
    asked: 'A AAAA MX',
    kept: 15 * MINUTE,
  },
];

describe('what DNS says, what is concluded, asked and kept', () => {
  test.each(ROWS)('$what', async row => {
    const { dns, resolver, time } = await resolving(row.zone ? { [NAME]: row.zone } : {});
    const mail = await resolver.resolve(domain(NAME), 'key');
    expect(mail.state).toBe(row.state);
    expect(mail.stale).toBe(false);
    expect(mail.exchanges.map(one => `${one.preference} ${one.host}`)).toEqual(row.exchanges ?? []);
    const types = dns.questions.map(question => question.type);
    expect(types.toSorted().join(' ')).toBe(row.asked);
    time.now += row.kept * 1_000 - 1;
    expect(resolver.last(domain(NAME))?.stale).toBe(false);
    time.now += 1;
    expect(resolver.last(domain(NAME))?.stale).toBe(true);
    expect(resolver.peek(domain(NAME))).toBeUndefined();
  });

  test('names for special use are refused without a question', async () => {
    const { dns, resolver } = await resolving();
    for (const name of [
      'a.test',
      'mail.localhost',
      'router.home.arpa',
      'x.onion',
      '1.0.0.127.in-addr.arpa',
    ]) {
      expect((await resolver.resolve(domain(name), 'key')).state).toBe('not_asked');
      resolver.prefetch(domain(name), 'key');
    }
    expect(dns.questions).toEqual([]);
  });
});

describe('addresses, when one of the two questions fails', () => {
  const asks = (query: Buffer, type: 'A' | 'AAAA') =>
    query.includes(Buffer.from([0, type === 'A' ? 1 : 28, 0, 1]), 12 + NAME.length + 2);

  const failing = (type: 'A' | 'AAAA', records: Answer[]): Zone => ({
    records,
    fault: {
      bytes: (answer, query) => {
        if (asks(query, type)) answer.writeUInt16BE(0x8182, 2);
        return answer;
      },
    },
  });

  test.each([
    ['A', [aaaa(NAME, PUBLIC_6)], 'implicit_mx'],
    ['AAAA', [a(NAME, PUBLIC_4)], 'implicit_mx'],
    ['A', [], 'unknown'],
    ['AAAA', [], 'unknown'],
    ['AAAA', [a(NAME, '10.0.0.1')], 'unknown'],
  ] as const)('%s fails, the other has %j: %s', async (type, records, state) => {
    const { resolver } = await resolving({ [NAME]: failing(type, [...records]) });
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe(state);
  });

  test('one public address is enough: the other question is not waited for', async () => {
    const silent: Zone = {
      records: [a(NAME, PUBLIC_4)],
      fault: { bytes: (answer, query) => (asks(query, 'AAAA') ? undefined : answer) },
    };
    const { resolver } = await resolving({ [NAME]: silent }, { budgetMs: 600_000 });
    expect((await resolver.resolve(domain(NAME), 'key')).state).toBe('implicit_mx');
  });
});

describe('addresses of a mail host, for learning', () => {
  test('public ones only, and undefined where asking fails or must not be done', async () => {
    const { dns, resolver } = await resolving(
      {
        'mx.example.net': { records: [a('mx.example.net', PUBLIC_4), aaaa('mx.example.net', PUBLIC_6, 600)] },
        'private.example.net': { records: [a('private.example.net', '10.0.0.1')] },
        'broken.example.net': { fault: 'servfail' },
        'half.example.net': {
          records: [a('half.example.net', PUBLIC_4), aaaa('half.example.net', PUBLIC_6)],
          fault: {
            bytes(answer, query) {
              const isVersion4 = query.includes(
                Buffer.from([0, 1, 0, 1]),
                12 + 'half.example.net'.length + 2,
              );
              if (isVersion4) answer.writeUInt16BE(0x8182, 2);
              return answer;
            },
          },
        },
      },
      { addressesInFlight: 2 },
    );
    const isWhole = true;
    expect(await resolver.addressesOf('mx.example.net')).toEqual({
      addresses: [PUBLIC_4, PUBLIC_6],
      isWhole,
      ttl: 600,
    });
    expect(await resolver.addressesOf('private.example.net')).toEqual({ addresses: [], isWhole, ttl: 0 });
    expect(await resolver.addressesOf('broken.example.net')).toBeUndefined();
    // Those of IPv6 alone are not all.
    expect(await resolver.addressesOf('half.example.net')).toEqual({
      addresses: [PUBLIC_6],
      isWhole: false,
      ttl: 3_600,
    });
    const seen = dns.questions.length;
    expect(await resolver.addressesOf('mail.local')).toBeUndefined();
    expect(await resolver.addressesOf('not a host')).toBeUndefined();
    expect(dns.questions.length).toBe(seen);
    const three = ['a.example.net', 'b.example.net', 'c.example.net'].map(host => resolver.addressesOf(host));
    expect(await Promise.all(three)).toEqual([
      { addresses: [], isWhole, ttl: 0 },
      { addresses: [], isWhole, ttl: 0 },
      'given_up',
    ]);
  });
});
