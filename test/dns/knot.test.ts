import { expect, onTestFinished, test } from 'vitest';
import type { MailState } from '../../src/core/mail.ts';
import { haveKnot, startKnot } from '../support/knot.ts';
import { domain, resolverFor } from '../support/resolving.ts';

const ZONE = 'knot-zone.com';
const BIG = Array.from({ length: 60 }, (_, at) => `big 3600 IN MX ${at} exchange-number-${at}.mail.${ZONE}.`);
const ZONE_FILE = `$ORIGIN ${ZONE}.
@        3600 IN SOA ns hostmaster 1 3600 600 86400 1200
@        3600 IN NS ns
ns       3600 IN A 192.0.2.53
mail     3600 IN A 192.0.2.25
@        7200 IN MX 10 mail
@        7200 IN MX 5 Mail.Example.NET.
null     3600 IN MX 0 .
implicit  900 IN A 93.184.215.14
six       900 IN AAAA 2606:2800:21f:cb07::1
private   900 IN A 10.0.0.1
text     3600 IN TXT "no mail here"
address  3600 IN MX 10 192.0.2.1.
alias    3600 IN CNAME null
${BIG.join('\n')}
`;

const ROWS: readonly (readonly [
  name: string,
  state: MailState,
  exchanges: readonly string[],
  kept: number,
])[] = [
  [ZONE, 'mx', ['5 mail.example.net', `10 mail.${ZONE}`], 7_200],
  [`null.${ZONE}`, 'null_mx', [], 3_600],
  [`alias.${ZONE}`, 'null_mx', [], 3_600],
  [`implicit.${ZONE}`, 'implicit_mx', [], 900],
  [`six.${ZONE}`, 'implicit_mx', [], 900],
  [`private.${ZONE}`, 'no_mail', [], 1_200],
  [`text.${ZONE}`, 'no_mail', [], 1_200],
  [`address.${ZONE}`, 'no_mail', [], 3_600],
  [`missing.${ZONE}`, 'nxdomain', [], 1_200],
  [
    `big.${ZONE}`,
    'mx',
    Array.from({ length: 60 }, (_, at) => `${at} exchange-number-${at}.mail.${ZONE}`),
    3_600,
  ],
  ['not-served-here.com', 'unknown', [], 0],
];

const knotd = haveKnot();
if (!knotd) {
  const missing =
    'NOT RUN: the lookups against a real DNS server, because knotd is missing (Debian package: knot)';
  console.warn(missing);
  if (process.env.CI) throw new Error(missing);
}

test.skipIf(!knotd)(
  'a real DNS server (Knot DNS) gives the same findings, TCP on truncation included',
  async () => {
    const knot = await startKnot(knotd!, ZONE, ZONE_FILE);
    onTestFinished(() => knot.close());
    const { resolver, time } = resolverFor([knot.address]);
    const startedAt = time.now;
    for (const [name, state, exchanges, kept] of ROWS) {
      time.now = startedAt;
      const mail = await resolver.resolve(domain(name), 'key');
      expect([name, mail.state]).toEqual([name, state]);
      expect(mail.exchanges.map(one => `${one.preference} ${one.host}`)).toEqual(exchanges);
      if (state === 'unknown') continue;
      time.now = startedAt + kept * 1_000 - 1;
      expect([name, resolver.last(domain(name))?.stale]).toEqual([name, false]);
      time.now += 1;
      expect([name, resolver.last(domain(name))?.stale]).toEqual([name, true]);
    }
  },
);
