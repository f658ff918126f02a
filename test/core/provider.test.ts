import { beforeAll, describe, expect, it } from 'vitest';
import type { Mail } from '../../src/core/mail.ts';
import { isMailService, isRented, Providers } from '../../src/core/provider.ts';
import { HAVE_MEMBERS, takesNoMail } from '../../src/core/provider-names.ts';
import { parseProviders } from '../../src/core/tables.ts';
import { readTables } from '../../src/feeds/tables.ts';

let providers: Providers;
beforeAll(async () => {
  providers = new Providers(parseProviders((await readTables())['providers.csv']));
});

function mx(...hosts: (string | [string, number])[]): Mail {
  const exchanges = hosts.map((host, at) =>
    typeof host === 'string' ? { host, preference: 10 * (at + 1) } : { host: host[0], preference: host[1] },
  );
  return { state: 'mx', exchanges, stale: false };
}

describe('a host is recognised by its longest suffix on label borders', () => {
  it.each([
    ['aspmx.l.google.com', 'Google Workspace'],
    ['alt4.aspmx.l.google.com', 'Google Workspace'],
    [`${'a.'.repeat(100)}aspmx.l.google.com`, 'Google Workspace'],
    ['aspmx3.googlemail.com', 'Google Workspace'],
    ['gmail-smtp-in.l.google.com', 'Gmail'],
    ['alt1.gmail-smtp-in.l.google.com', 'Gmail'],
    ['acme-com.mail.protection.outlook.com', 'Microsoft 365'],
    ['acme-com.j-v1.mx.microsoft', 'Microsoft 365'],
    ['outlook-com.olc.protection.outlook.com', 'Outlook.com'],
    ['msv1.invalid.outlook.com', 'Microsoft 365 placeholder MX'],
    ['mxbiz1.qq.com', 'Tencent Exmail'],
    ['mx3.qq.com', 'QQ Mail'],
    ['mta5.am0.yahoodns.net', 'Yahoo Mail'],
    ['mx-biz.mail.am0.yahoodns.net', 'Yahoo Small Business'],
    ['mx1-us1.ppe-hosted.com', 'Proofpoint Essentials'],
    ['mxa-00123456.gslb.pphosted.com', 'Proofpoint'],
    ['route1.mx.cloudflare.net', 'Cloudflare Email Routing'],
    ['inbound-smtp.eu-west-1.amazonaws.com', 'Amazon SES / WorkMail inbound'],
    ['ec2-1-2-3-4.eu-west-1.compute.amazonaws.com', 'Amazon EC2'],
  ])('%s is %s', (host, label) => {
    expect(providers.match(host)?.label).toBe(label);
  });

  it.each([
    'notgoogle.com',
    'evilzoho.com',
    'mx.notpphosted.com',
    'l.google.com',
    'google.com.evil.net',
    `${'google.com.'.repeat(20)}evil.net`,
    'mimecast.com.evil.net',
  ])('%s is nobody', host => {
    expect(providers.match(host)).toBeUndefined();
  });
});

it('a table of two rows knows their hosts and no others', () => {
  const row = (suffix: string) => ({ suffix, label: suffix, class: 'hosting' }) as const;
  const two = new Providers([row('a.net'), row('mx.a.net')]);
  expect(['mx.a.net', 'x.mx.a.net', 'y.a.net', 'b.net', 'net'].map(host => two.match(host)?.label)).toEqual([
    'mx.a.net',
    'mx.a.net',
    'a.net',
    undefined,
    undefined,
  ]);
});

it('a host is recognised behind any number of labels, below suffixes of any number', () => {
  const rows = ['a.net', 'b.c.d.a.net', 'net.org'].map(suffix => ({
    suffix,
    label: suffix,
    class: 'hosting' as const,
  }));
  const some = new Providers(rows);
  const many = 'x.'.repeat(100);
  for (const { suffix } of rows)
    for (const host of [suffix, `x.${suffix}`, many + suffix]) expect(some.match(host)?.suffix).toBe(suffix);
  for (const host of ['net', 'org', 'xa.net', 'x', '', `${many}b.net`, 'a.net.x'])
    expect(some.match(host)).toBeUndefined();
  expect([some.match('c.d.a.net')?.suffix, new Providers([]).match('a.net')]).toEqual(['a.net', undefined]);
});

describe('who receives the mail', () => {
  it('is not known where more hosts that no table knows receive it than are looked at', () => {
    const own = (count: number) => Array.from({ length: count }, (_, at) => `mx${at}.acme.com`);
    expect(providers.receiver('acme.com', mx(...own(20)))?.kind).toBe('self_hosted');
    expect(providers.receiver('acme.com', mx(...own(21)))).toBeUndefined();
    expect(providers.receiver('acme.com', mx(...own(20), 'aspmx.l.google.com'))?.kind).toBe('self_hosted');
    expect(providers.receiver('acme.com', mx(...own(21), 'mx.mailinator.com'))?.kind).toBe(
      'partly_disposable',
    );
  });

  it.each<[string, Mail, string, string | null]>([
    [
      'nobody at a web site, before own hosts',
      mx('www.barracuda.com', 'mx.acme.com'),
      'self_hosted',
      'Self-hosted',
    ],
    ['nor beside them', mx(['www.zoho.com', 5], ['mx.acme.com', 5]), 'self_hosted', 'Self-hosted'],
    ['nor before a stranger', mx('www.zoho.com', 'mx.unknown-host.net'), 'third_party', 'unknown-host.net'],
    ['nor before a disposable host', mx('www.zoho.com', 'mx.mailinator.com'), 'disposable', 'Mailinator'],
    [
      'nor before a parking host',
      mx('www.zoho.com', 'mail.h-email.net'),
      'parked',
      'Parked (pickelhost cluster)',
    ],
    ['somebody who is not known where there is nothing else', mx('www.zoho.com'), 'third_party', 'zoho.com'],
    [
      'a platform',
      mx('aspmx.l.google.com', 'alt1.aspmx.l.google.com'),
      'business_platform',
      'Google Workspace',
    ],
    [
      'the exchange of lowest preference, in any order',
      mx(['mx.zoho.com', 20], ['aspmx.l.google.com', 1]),
      'business_platform',
      'Google Workspace',
    ],
    [
      'the gateway in front of a platform',
      mx('acme-com.mail.protection.outlook.com', 'eu-smtp-1.mimecast.com'),
      'security_gateway',
      'Mimecast',
    ],
    [
      'no decoy gateway behind an unknown host',
      mx('mx.unknown-host.net', 'eu-smtp-1.mimecast.com'),
      'third_party',
      'unknown-host.net',
    ],
    [
      'a recognised host among equals',
      mx(['mx.hoster.acme.com', 5], ['mx.zoho.com', 5]),
      'business_platform',
      'Zoho Mail',
    ],
    [
      'no decoy below a platform in front of an unknown host',
      mx('no-such-name.mail.protection.outlook.com', 'mx.unknown-host.net'),
      'third_party',
      'Microsoft 365',
    ],
    [
      'no decoy below a gateway in front of a disposable host',
      mx('no-such-name.pphosted.com', 'mx.generator.email'),
      'partly_disposable',
      'generator.email',
    ],
    [
      'no decoy below a platform in front of a forwarder',
      mx('alt9.aspmx.l.google.com', 'route1.mx.cloudflare.net'),
      'forwarding',
      'Google Workspace',
    ],
    [
      'no decoy below a platform in front of a forwarder and an unknown host',
      mx('alt9.aspmx.l.google.com', 'route1.mx.cloudflare.net', 'mx.unknown-host.net'),
      'third_party',
      'Google Workspace',
    ],
    [
      'a hosting company, whatever unknown host stands behind it',
      mx('mx00.ionos.com', 'mx.unknown-host.net'),
      'hosting',
      'IONOS',
    ],
    [
      'no decoy below a webmail in front of an unknown host',
      mx('dead77.qq.com', 'mx.unknown-host.net'),
      'third_party',
      'QQ Mail',
    ],
    [
      'no decoy below a webmail in front of a host of its own',
      mx('dead77.qq.com', 'mail.acme.com'),
      'third_party',
      'QQ Mail',
    ],
    [
      'no decoy below an internet provider in front of an unknown host',
      mx('dead77.onet.pl', 'mx.unknown-host.net'),
      'third_party',
      'Onet Poczta',
    ],
    [
      'an internet provider before a host of its own',
      mx('mx.poczta.onet.pl', 'mail.acme.com'),
      'mailbox_provider',
      'Onet Poczta',
    ],
    [
      'a platform before what the hoster left in place and a host of its own',
      mx('aspmx.l.google.com', 'mx00.ionos.com', 'mx.acme.com'),
      'business_platform',
      'Google Workspace',
    ],
    [
      'not hosts of the same name elsewhere',
      mx('mail.acme.example', 'mail2.acme.example'),
      'third_party',
      'acme.example',
    ],
    ['its own hosts', mx('mail.acme.com', 'mail2.acme.com'), 'self_hosted', 'Self-hosted'],
    ['itself', mx('acme.com'), 'self_hosted', 'Self-hosted'],
    ['not a name that only ends alike', mx('mail.notacme.com'), 'third_party', 'notacme.com'],
    [
      'a third party by the registrable domain',
      mx('mx1.eu.some-host.co.uk'),
      'third_party',
      'some-host.co.uk',
    ],
    [
      'parking hosts only',
      mx('mail.h-email.net', 'park-mx.above.com'),
      'parked',
      'Parked (pickelhost cluster)',
    ],
    [
      'not the parking host beside a real one',
      mx('mail.h-email.net', 'mx.zoho.com'),
      'business_platform',
      'Zoho Mail',
    ],
    ['disposable hosts only', mx('mx.generator.email', 'mail.yopmail.com'), 'disposable', 'generator.email'],
    [
      'a disposable host, whatever platform stands behind it',
      mx('mx.generator.email', 'mx.zoho.com'),
      'disposable',
      'generator.email',
    ],
    [
      'a disposable host, whatever unknown one stands behind it',
      mx('mx.generator.email', 'mx.unknown-host.net'),
      'disposable',
      'generator.email',
    ],
    [
      'no host of its own with a disposable one behind it',
      mx('mx1.acme.com', 'mx.generator.email'),
      'partly_disposable',
      'generator.email',
    ],
    [
      "nor a platform that is a disposable one's equal",
      mx(['mx.zoho.com', 5], ['mx.generator.email', 5]),
      'partly_disposable',
      'generator.email',
    ],
    [
      'a hosting company, whatever gateway stands behind it',
      mx('mx00.ionos.com', 'eu-smtp-1.mimecast.com'),
      'hosting',
      'IONOS',
    ],
    [
      'no platform with a disposable host as backup',
      mx('mx.zoho.com', 'mx.generator.email'),
      'partly_disposable',
      'generator.email',
    ],
    [
      'a disposable host, whatever parking host stands before it',
      mx('park-mx.above.com', 'mx.generator.email'),
      'disposable',
      'generator.email',
    ],
  ])('%s', (_, mail, kind, label) => {
    expect(providers.receiver('acme.com', mail)).toMatchObject({ kind, label });
  });

  it('is nobody without an exchange', () => {
    expect(
      providers.receiver('acme.com', { state: 'implicit_mx', exchanges: [], stale: false }),
    ).toBeUndefined();
  });

  it('counts only its own exchanges as its own', () => {
    const receiver = providers.receiver('acme.com', mx('mail.acme.com', 'backup.elsewhere.net'));
    expect(receiver).toMatchObject({ kind: 'self_hosted', hosts: ['mail.acme.com'] });
  });

  it('counts unknown exchanges only, not the known ones behind them', () => {
    const receiver = providers.receiver(
      'acme.com',
      mx('mx.unknown.net', 'aspmx.l.google.com', 'mx2.unknown.net'),
    );
    expect(receiver).toMatchObject({ kind: 'third_party', hosts: ['mx.unknown.net', 'mx2.unknown.net'] });
  });

  it('names every disposable host', () => {
    const receiver = providers.receiver('acme.com', mx('mx.generator.email', 'mail.yopmail.com'));
    expect(receiver?.hosts).toEqual(['mx.generator.email', 'mail.yopmail.com']);
  });

  it('is judged anew when one answer is used for another domain', () => {
    const mail = mx('mail.acme.com');
    expect(providers.receiver('acme.com', mail)?.kind).toBe('self_hosted');
    expect(providers.receiver('other.com', mail)?.kind).toBe('third_party');
  });

  it.each<[string, string | undefined, Mail, object]>([
    [
      'own hosts among equals speak before unknown ones',
      'acme.com',
      mx(['mx.unknown.net', 5], ['mail.acme.com', 5]),
      { kind: 'self_hosted', hosts: ['mail.acme.com'] },
    ],
    [
      'own hosts further down do not speak',
      'acme.com',
      mx('mx.unknown.net', 'mail.acme.com'),
      { kind: 'third_party', hosts: ['mx.unknown.net'] },
    ],
    [
      'of equals the first unknown one speaks',
      'acme.com',
      mx(['mx.one.net', 5], ['mx.two.net', 5]),
      { kind: 'third_party', label: 'one.net', hosts: ['mx.one.net', 'mx.two.net'] },
    ],
    [
      'the unknown one of lowest preference comes first',
      'acme.com',
      mx(['mx.two.net', 9], ['mx.one.net', 5]),
      { label: 'one.net', hosts: ['mx.one.net', 'mx.two.net'] },
    ],
    [
      'nobody has own hosts who has no registrable domain',
      undefined,
      mx('mail.acme.com'),
      { kind: 'third_party', label: 'acme.com' },
    ],
    [
      'a host that nobody registered has no label',
      'acme.com',
      mx('github.io'),
      { kind: 'third_party', label: null },
    ],
    [
      'hosts of the same provider are counted, others not',
      'acme.com',
      mx('aspmx.l.google.com', 'mx.zoho.com', 'alt1.aspmx.l.google.com'),
      { hosts: ['aspmx.l.google.com', 'alt1.aspmx.l.google.com'] },
    ],
    [
      'hosts of the gateway are counted, those of the platform not',
      'acme.com',
      mx('acme-com.mail.protection.outlook.com', 'eu-smtp-1.mimecast.com', 'eu-smtp-2.mimecast.com'),
      { label: 'Mimecast', hosts: ['eu-smtp-1.mimecast.com', 'eu-smtp-2.mimecast.com'] },
    ],
    [
      'a parking host beside own ones is not counted',
      'acme.com',
      mx('mail.h-email.net', 'mail.acme.com'),
      { kind: 'self_hosted', hosts: ['mail.acme.com'] },
    ],
    [
      'every parking host is named',
      'acme.com',
      mx('mail.h-email.net', 'park-mx.above.com'),
      { hosts: ['mail.h-email.net', 'park-mx.above.com'] },
    ],
    [
      'a provider that has the domain itself as its host is the provider',
      'google.com',
      mx('aspmx.l.google.com'),
      { kind: 'business_platform' },
    ],
  ])('%s', (_, registrable, mail, expected) => {
    expect(providers.receiver(registrable, mail)).toMatchObject(expected);
  });

  it('is found once for the same answer and domain', () => {
    const mail = mx('mail.acme.com');
    expect(providers.receiver('acme.com', mail)).toBe(providers.receiver('acme.com', mail));
  });
});

describe('whether all mail goes to a business platform, a gateway or hosts of its own', () => {
  const PLATFORM = 'aspmx.l.google.com';
  const GATEWAY = 'mxa-00123456.gslb.pphosted.com';
  it.each<[string, string[], 'platform' | 'own' | undefined]>([
    ['a platform', [PLATFORM], 'platform'],
    ['a platform and a gateway', [PLATFORM, GATEWAY], 'platform'],
    ['the web site of a platform', ['www.zoho.com', GATEWAY], undefined],
    ['that and own hosts', ['www.zoho.com', 'mx1.acme.com'], undefined],
    ['own hosts', ['mx1.acme.com', 'acme.com'], 'own'],
    ['own hosts and a gateway', [GATEWAY, 'mx1.acme.com'], 'own'],
    ['hosts of somebody whose name ends alike', ['mx1.notacme.com'], undefined],
    ['a stranger', ['mx.stranger.net'], undefined],
    ['a platform, and a stranger behind it', [PLATFORM, 'mx.stranger.net'], undefined],
    ['own hosts, and a stranger behind them', ['mx1.acme.com', 'mx.stranger.net'], undefined],
    ['consumer webmail', ['gmail-smtp-in.l.google.com'], undefined],
    ['a forwarder behind a platform', [PLATFORM, 'route1.mx.cloudflare.net'], undefined],
    ['nobody', [], undefined],
  ])('%s', (_, hosts, settled) => {
    expect(providers.settled('acme.com', mx(...hosts))).toBe(settled);
    // There are more exchanges than were read.
    expect(providers.settled('acme.com', { ...mx(...hosts), cut: true })).toBeUndefined();
  });

  it('hosts that the table calls a forwarder are that for their own domain too', () => {
    expect(providers.settled('cloudflare.net', mx('route1.mx.cloudflare.net'))).toBeUndefined();
  });

  it('a name that belongs to nobody has no hosts of its own', () => {
    expect(providers.settled(undefined, mx('mx1.cc.cd'))).toBeUndefined();
  });
});

describe('a host below a provider says by its name that it takes no mail', () => {
  it.each([
    ...['www.zoho.com', 'www2.zoho.com', 'zoho.com', 'crm.zoho.com', 'accounts.zoho.eu', 'www.mail.zoho.com'],
    ...['www.barracuda.com', 'login.barracudanetworks.com', 'www.mimecast.com', 'community.mimecast.com'],
    ...['www.trendmicro.com', 'success.trendmicro.com', 'www.hornetsecurity.com', 'www.intermedia.net'],
    ...['shop.awsapps.com', 'my-mail.awsapps.com', 'www.retarus.com', 'www.mxroute.com', 'ns1.mxroute.com'],
    ...['www.sunet.se', 'www.lrz.de', 'www.pphosted.com', 'www.ionos.com', 'www.gmx.net'],
    ...['www.your-server.de', 'www2.gmx.net'],
  ])('%s', host => {
    expect([host, takesNoMail(host, providers.match(host))]).toEqual([host, true]);
  });

  // As they were seen in MX records.
  it.each([
    ...['mx.zoho.com', 'mx2.zoho.eu', 'smtpin.zoho.com', 'd123456a.ess.barracudanetworks.com'],
    ...['us-smtp-inbound-1.mimecast.com', 'eu-smtp-1.mimecast.com', 'za-smtp-inbound-2.mimecast.co.za'],
    ...['acme.in.tmes.trendmicro.com', 'in.hes.trendmicro.com', 'mx01.hornetsecurity.com'],
    ...['mx0a-00176a02.pphosted.com', 'mxa-00176a02.gslb.pphosted.com', 'mx1-us1.ppe-hosted.com'],
    ...['cluster5.us.messagelabs.com', 'in1-smtp.messagingengine.com', 'esa1.acme.iphmx.com'],
    ...['friday.mxrouting.net', 'echo.mxroute.com', 'landrumsupply-com.p30.mxthunder.net'],
    ...['acme.com.1.0001.arsmtp.com', 'cust28976-1.in.mailcontrol.com', 'loninmrp1.db.com'],
    ...['acme-com.mail.protection.outlook.com', 'acme-com.j-v1.mx.microsoft', 'aspmx.l.google.com'],
    ...[
      'west.smtp.mx.exch092.serverdata.net',
      'mail.protonmail.ch',
      'aspmx1.migadu.com',
      'asp.reflexion.net',
    ],
    ...['a1241.mx.srv.dfn.de', 'postrelay1.lrz.de', 'project.rediris.es', 'mxext1.mailbox.org'],
    ...[
      'www.mailinator.com',
      'www.5-6-7-8.clients.your-server.de',
      'www429.your-server.de',
      'www.project.rediris.es',
      'web.uni.lrz.de',
    ],
    ...[
      'mx00.ionos.com',
      'web12.ionos.com',
      'vps.your-server.de',
      'mx00.gmx.net',
      'route1.mx.cloudflare.net',
    ],
  ])('but %s does not', host => {
    expect([host, takesNoMail(host, providers.match(host))]).toEqual([host, false]);
  });

  it('of which no table knows anything says nothing', () => {
    expect(takesNoMail('www.acme.com', undefined)).toBe(false);
  });
});

describe("a provider's own mail service is told from a machine that somebody rents there", () => {
  it.each([
    ['acme-com.mail.protection.outlook.com', true],
    ['mxa-00176a02.gslb.pphosted.com', true],
    ['route1.mx.cloudflare.net', true],
    ['mx1.comcast.net', true],
    ['mx00.ionos.com', true],
    ['mx1.mail.ovh.net', true],
    ['smtp.secureserver.net', true],
    ['mx.sendgrid.net', true],
    ['comcast.net', true],
    ['ionos.com', true],
    ['c-5-6-7-8.hsd1.ma.comcast.net', false],
    ['dsl-cust7.comcast.net', false],
    ['host12.static.comcast.net', false],
    ['mx.lb.comcast.net', false],
    ['home.comcast.net', false],
    ['mailhome.comcast.net', false],
    ['smtp-in.libero.it', true],
    ['mta.inet.fi', true],
    ['eur.olc.protection.outlook.com', true],
    ['mx1.rediris.es', true],
    ['project.rediris.es', false],
    ['mail.project.rediris.es', false],
    ['me.no-ip.com', false],
    ['static.5.6.7.8.clients.your-server.de', false],
    ['mail.8.7.6.5.clients.your-server.de', false],
    ['ec2-5-6-7-8.eu-west-1.compute.amazonaws.com', false],
    ['vps-12345.vps.ovh.net', false],
    ['mail.vps-12345.vps.ovh.net', false],
    ['ip-5-6-7-8.ip.secureserver.net', false],
    ['mx.bucket.amazonaws.com', false],
  ])('%s: %s', (host, isTheirs) => {
    expect(isMailService(host, providers.match(host)!)).toBe(isTheirs);
  });

  it('those that have machines of others below their names stand in the table', () => {
    for (const name of HAVE_MEMBERS) expect(providers.match(`x.${name}`)?.suffix).toBe(name);
  });
});

describe('one machine that somebody rents below its landlord', () => {
  it.each([
    ['static.5.6.7.8.clients.your-server.de', true],
    ['mail.8.7.6.5.clients.your-server.de', true],
    ['ec2-5-6-7-8.eu-west-1.compute.amazonaws.com', true],
    ['vps-1a2b3c4d.vps.ovh.net', true],
    ['vps12345.vps.ovh.net', true],
    ['ip-5-6-7-8.ip.secureserver.net', true],
    ['c-5-6-7-8.hsd1.ma.comcast.net', true],
    ['lb-0123.elb.us-east-1.amazonaws.com', true],
    ['lb-0123.us-east-1.elb.amazonaws.com', true],
    ['mx.eastus.cloudapp.azure.com', true],
    ['8.7.6.5.bc.googleusercontent.com', true],
    ['5.6.7.8.vultrusercontent.com', true],
    ['vmi123456.contaboserver.net', true],
    ['elb.us-east-1.amazonaws.com', false],
    ['eastus.cloudapp.azure.com', false],
    ['mail.contaboserver.net', false],
    ['ns3045678.ovh.net', true],
    ['ns12.ovh.net', false],
    // Customers' names for machines that all of them share.
    ['5f172727907c4ab7c1ceadc6ee8d0c.pamx1.hotmail.com', false],
    ['156121029.pamx1.hotmail.com', false],
    ['5-6-7-8.mail.protection.outlook.com', false],
    ['acme-5-6-7-8.pphosted.com', false],
    ['mx00.ionos.com', false],
    ['mx1.mail.ovh.net', false],
    ['inbound-smtp.eu-west-1.amazonaws.com', false],
    ['comcast.net', false],
    ['amazonaws.com', false],
    ['your-server.de', false],
  ])('%s: %s', (host, isOne) => {
    expect(isRented(host, providers.match(host)!)).toBe(isOne);
  });
});
