import type { Answer } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import {
  type Found,
  find,
  isReceiving,
  mailFromAddresses,
  mailFromMx,
  publicAddresses,
  type TtlLimits,
} from '../../src/dns/finding.ts';
import { packMail, unpackMail } from '../../src/dns/pack.ts';
import type { QuestionType, Reply } from '../../src/dns/wire.ts';

const LIMITS: TtlLimits = { positive: { least: 60, most: 3_600 }, negative: { least: 30, most: 900 } };
const NAME = 'acme.com';

const mx = (exchange: string, preference = 10, facts: object = {}) =>
  ({ type: 'MX', name: NAME, class: 'IN', ttl: 300, data: { exchange, preference }, ...facts }) as Answer;
const a = (data: string, facts: object = {}) =>
  ({ type: 'A', name: NAME, class: 'IN', ttl: 300, data, ...facts }) as Answer;
const cname = (name: string, data: string, ttl = 300) =>
  ({ type: 'CNAME', name, class: 'IN', ttl, data }) as Answer;

const reply = (answers: Answer[], facts: Partial<Reply> = {}): Reply => ({
  nxdomain: false,
  answers,
  complete: true,
  negativeTtl: undefined,
  ...facts,
});

/** What the answer to the MX question says, for how long; `open` where it says nothing, `ask` where addresses decide. */
function said(answer: Reply) {
  const found = find(answer, NAME, 'MX');
  if (!found) return 'open';
  const finding = mailFromMx(found, LIMITS);
  if (!finding) return 'ask';
  const { mail, ttl } = finding;
  return `${[mail.state, ...mail.exchanges.map(({ host }) => host)].join(' ')} ${ttl}`;
}

describe('exchanges', () => {
  test.each<[string, Answer[], string]>([
    [
      'come in the order of their preference, then of their names',
      [mx('c.net', 20), mx('b.net', 5), mx('a.net', 20)],
      'mx b.net a.net c.net 300',
    ],
    [
      'come in the same order however the server turns them',
      [mx('a.net', 20), mx('c.net', 20), mx('b.net', 5)],
      'mx b.net a.net c.net 300',
    ],
    ['are lower case', [mx('MX.Host.NET')], 'mx mx.host.net 300'],
    [
      'count once, with the lowest preference',
      [mx('a.net', 30), mx('b.net', 20), mx('A.net', 10), mx('b.net', 25)],
      'mx a.net b.net 300',
    ],
    [
      'that come again with a higher preference keep their place',
      [mx('b.net', 20), mx('c.net', 22), mx('b.net', 25)],
      'mx b.net c.net 300',
    ],
    [
      'are kept as long as the shortest of them',
      [mx('a.net', 1, { ttl: 3_000 }), mx('b.net', 2, { ttl: 200 })],
      'mx a.net b.net 200',
    ],
    ['are kept a minute at least', [mx('a.net', 1, { ttl: 1 })], 'mx a.net 60'],
    ['are kept an hour at most', [mx('a.net', 1, { ttl: 86_400 })], 'mx a.net 3600'],
    [
      'with a time to live that is none are kept as for 0 seconds',
      [mx('a.net', 1, { ttl: 0x8000_0000 })],
      'mx a.net 60',
    ],
    [
      'that are no host names are left out',
      [mx('a.net'), mx('192.0.2.1'), mx('localhost'), mx('a b.com')],
      'mx a.net 300',
    ],
    [
      'that are special-use names are left out',
      [mx('a.net'), mx('mx.invalid'), mx('x.localhost')],
      'mx a.net 300',
    ],
    ['of another class do not count', [mx('a.net'), mx('b.net', 1, { class: 'CH' })], 'mx a.net 300'],
    ['of another name do not count', [mx('a.net'), mx('b.net', 1, { name: 'other.com' })], 'mx a.net 300'],
    ['of the name in any case do', [mx('a.net', 1, { name: 'ACME.com' })], 'mx a.net 300'],
    ['that are all unusable are no mail', [mx('localhost'), mx('192.0.2.1')], 'no_mail 300'],
    ['of one dot alone say that no mail is accepted', [mx('.', 0)], 'null_mx 300'],
    ['of one dot among unusable ones do not', [mx('.', 0), mx('localhost')], 'no_mail 300'],
    ['of one dot among others are one more that is no host name', [mx('.', 0), mx('a.net')], 'mx a.net 300'],
  ])('%s', (_, answers, expected) => {
    expect(said(reply(answers))).toBe(expected);
  });

  test('are as fresh as the answer', () => {
    expect(mailFromMx(find(reply([mx('a.net')]), NAME, 'MX')!, LIMITS)!.mail.stale).toBe(false);
  });

  test.each([true, false])('are all that were read, and say whether these are all: %s', complete => {
    const many = Array.from({ length: 64 }, (_, at) => mx(`mx${at}.net`, 64 - at));
    const { mail } = mailFromMx(find(reply(many, { complete }), NAME, 'MX')!, LIMITS)!;
    expect(mail.exchanges).toHaveLength(64);
    expect(mail.exchanges[0]).toEqual({ host: 'mx63.net', preference: 1 });
    expect(mail.cut).toBe(complete ? undefined : true);
    // As the cache keeps it.
    expect(unpackMail(packMail(mail))).toEqual(mail);
  });

  test('without a preference come first', () => {
    const bare = mx('a.net', 1, { data: { exchange: 'a.net' } });
    expect(mailFromMx(find(reply([mx('b.net', 1), bare]), NAME, 'MX')!, LIMITS)!.mail.exchanges).toEqual([
      { host: 'a.net', preference: 0 },
      { host: 'b.net', preference: 1 },
    ]);
  });
});

describe('a name receives mail', () => {
  const asked = (answers: Answer[], type: QuestionType = 'MX') => find(reply(answers), NAME, type)!;
  test.each<[string, Found, boolean]>([
    ['by one exchange', asked([mx('a.net')]), true],
    ['by one usable exchange among others', asked([mx('.', 0), mx('localhost'), mx('A.net')]), true],
    ['not by exchanges that are no host names', asked([mx('.', 0), mx('192.0.2.1')]), false],
    ['not by a special-use name', asked([mx('mx.invalid')]), false],
    ['not by an address: who asks for exchanges hears of none', asked([a('5.6.7.8')], 'A'), false],
    ['not where there are no exchanges', asked([]), false],
    ['not where it does not exist', find(reply([], { nxdomain: true }), NAME, 'MX')!, false],
  ])('%s', (_, found, receiving) => {
    expect(isReceiving(found)).toBe(receiving);
  });
});

describe('an answer that was not read to its end', () => {
  test.each<[string, Answer[], string]>([
    ['says who receives mail', [mx('a.net')], 'mx a.net 300'],
    // One that is usable may stand in what was not read.
    ['never says that there is no mail', [mx('localhost')], 'unknown 0'],
    ['never says that no mail is accepted', [mx('.', 0)], 'unknown 0'],
  ])('%s', (_, answers, expected) => {
    expect(said(reply(answers, { complete: false }))).toBe(expected);
  });
});

describe('aliases', () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, at) => cname(at === 0 ? NAME : `a${at}.net`, `a${at + 1}.net`));
  const end = (length: number) => mx('mx.net', 10, { name: `a${length}.net` });

  test.each<[string, Reply, string]>([
    [
      'are followed to the exchanges',
      reply([cname(NAME, 'b.net'), mx('a.net', 1, { name: 'b.net' })]),
      'mx a.net 300',
    ],
    [
      'are followed whatever their case',
      reply([cname('Acme.COM', 'B.net'), mx('a.net', 1, { name: 'b.NET' })]),
      'mx a.net 300',
    ],
    [
      'are kept as long as the shortest of them',
      reply([cname(NAME, 'b.net', 100), mx('a.net', 1, { name: 'b.net' })]),
      'mx a.net 100',
    ],
    [
      'are kept as long as what they lead to',
      reply([cname(NAME, 'b.net', 900), mx('a.net', 1, { name: 'b.net', ttl: 70 })]),
      'mx a.net 70',
    ],
    ['are followed sixteen times', reply([...chain(16), end(16)]), 'mx mx.net 300'],
    ['are not followed a seventeenth time', reply([...chain(17), end(17)]), 'open'],
    ['that lead in a circle leave it open', reply([cname(NAME, 'b.net'), cname('b.net', NAME)]), 'open'],
    [
      'of a whole zone to nothing say so with an SOA',
      reply(
        [
          { type: 'DNAME', name: NAME, class: 'IN', ttl: 300, data: 'b.net' } as unknown as Answer,
          cname(NAME, 'b.net'),
        ],
        { negativeTtl: 300 },
      ),
      'ask',
    ],
    [
      'are no other records of the name',
      reply([a('192.0.2.9'), cname(NAME, 'b.net'), mx('a.net', 1, { name: 'b.net' })]),
      'mx a.net 300',
    ],
    ['to nothing leave it open', reply([cname(NAME, 'b.net')]), 'open'],
    ['to nothing say so with an SOA', reply([cname(NAME, 'b.net')], { negativeTtl: 300 }), 'ask'],
    [
      'to a name that does not exist say so',
      reply([cname(NAME, 'b.net')], { nxdomain: true, negativeTtl: 300 }),
      'nxdomain 300',
    ],
    [
      'beside records of others leave it open',
      reply([cname(NAME, 'b.net'), a('5.6.7.8', { name: 'x.net' })], { negativeTtl: 300 }),
      'open',
    ],
  ])('%s', (_, answer, expected) => {
    expect(said(answer)).toBe(expected);
  });
});

describe('no such thing', () => {
  test.each<[string, Reply, string]>([
    ['is what an empty answer says', reply([]), 'ask'],
    ['is not what records of other names say', reply([mx('a.net', 1, { name: 'other.com' })]), 'open'],
    [
      'is not what records of other names say, with an SOA',
      reply([mx('a.net', 1, { name: 'other.com' })], { negativeTtl: 60 }),
      'open',
    ],
    ['is kept as long as the SOA says', reply([], { nxdomain: true, negativeTtl: 120 }), 'nxdomain 120'],
    ['is kept for half a minute at least', reply([], { nxdomain: true, negativeTtl: 1 }), 'nxdomain 30'],
    [
      'is kept for a quarter of an hour at most',
      reply([], { nxdomain: true, negativeTtl: 86_400 }),
      'nxdomain 900',
    ],
    ['is kept shortly without an SOA', reply([], { nxdomain: true }), 'nxdomain 30'],
    ['is not believed beside exchanges', reply([mx('a.net')], { nxdomain: true }), 'open'],
  ])('%s', (_, answer, expected) => {
    expect(said(answer)).toBe(expected);
  });
});

describe('a domain without exchanges', () => {
  const asked = (type: QuestionType, answer: Reply) => find(answer, NAME, type);
  const nothing = (ttl: number) => asked('A', reply([], { negativeTtl: ttl }));
  const aaaa = (data: string, facts: object = {}) => ({ ...a(data, facts), type: 'AAAA' }) as Answer;

  test.each<[string, number, ReturnType<typeof find>[], string]>([
    [
      'receives mail at a public address',
      300,
      [asked('A', reply([a('5.6.7.8')])), nothing(300)],
      'implicit_mx 300',
    ],
    [
      'receives mail at a public address of version 6',
      300,
      [nothing(300), asked('AAAA', reply([aaaa('2606:4700::1')]))],
      'implicit_mx 300',
    ],
    [
      'receives mail at one that is public among others',
      300,
      [asked('A', reply([a('10.0.0.1'), a('5.6.7.8')]))],
      'implicit_mx 300',
    ],
    [
      'receives mail at an address though the other question is open',
      300,
      [undefined, asked('AAAA', reply([aaaa('2606:4700::1')]))],
      'implicit_mx 300',
    ],
    [
      'is kept as long as its address',
      300,
      [asked('A', reply([a('5.6.7.8', { ttl: 90 })]))],
      'implicit_mx 90',
    ],
    ['receives none without an address', 300, [nothing(300), nothing(300)], 'no_mail 300'],
    [
      'receives none at private addresses',
      300,
      [asked('A', reply([a('10.0.0.1')])), nothing(300)],
      'no_mail 300',
    ],
    [
      'is kept as long as the shortest of the three answers: the one of exchanges',
      100,
      [nothing(200), nothing(300)],
      'no_mail 100',
    ],
    [
      'is kept as long as the shortest of the three answers: the first of addresses',
      300,
      [nothing(100), nothing(200)],
      'no_mail 100',
    ],
    [
      'is kept as long as the shortest of the three answers: the second of addresses',
      300,
      [nothing(200), nothing(100)],
      'no_mail 100',
    ],
    ['is not known while one question is open', 300, [nothing(300), undefined], 'unknown 0'],
    ['is not known while the other question is open', 300, [undefined, nothing(300)], 'unknown 0'],
    [
      'is not known where private addresses are only the beginning',
      300,
      [asked('A', reply([a('10.0.0.1')], { complete: false })), nothing(300)],
      'unknown 0',
    ],
  ])('%s', (_, mxTtl, addresses, expected) => {
    const { mail, ttl } = mailFromAddresses(mxTtl, addresses, LIMITS);
    expect(`${mail.state} ${ttl}`).toBe(expected);
  });

  test('is told with the public ones of its addresses, twenty at most', () => {
    const many = Array.from({ length: 30 }, (_, at) => a(`5.6.7.${at}`));
    const found = asked('A', reply([a('10.0.0.1'), ...many]))!;
    expect(publicAddresses(found)).toHaveLength(20);
    expect(publicAddresses(found)[0]).toBe('5.6.7.0');
    expect(publicAddresses(undefined)).toEqual([]);
    expect(publicAddresses(nothing(1))).toEqual([]);
    expect(publicAddresses(find(reply([mx('a.net')]), NAME, 'MX'))).toEqual([]);
  });
});

test('what an option record says is no answer', () => {
  const option = { type: 'OPT', name: NAME, class: 'IN' } as unknown as Answer;
  expect(find(reply([option, mx('a.net')]), NAME, 'MX')).toMatchObject({ records: [mx('a.net')], ttl: 300 });
});
