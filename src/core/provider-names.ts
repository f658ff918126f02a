/** What a host below a provider's name says of itself by its own: whether it takes mail, and whose it is. */

import { registrableDomain } from './domain.ts';
import type { ProviderClass, ProviderRow } from './tables.ts';

/** Members of research networks and computing centres, and customers of dynamic DNS, have machines below their names too. */
export const HAVE_MEMBERS: ReadonlySet<string> = new Set([
  ...['dfn.de', 'sunet.se', 'rediris.es', 'renater.fr', 'belnet.be', 'heanet.ie', 'cesnet.cz'],
  ...['lrz.de', 'gwdg.de', 'belwue.de', 'arnes.si', 'carnet.hr', 'dataport.de', 'no-ip.com', 'dynu.com'],
]);
/** Called what nobody gives to a customer, right below the name of whoever rents machines or lines out. */
const A_MAIL_HOST =
  /^(?:mx|mta|mail|smtp|inbound)(?:[a-z]|-?in|ext|gw|host|relay|store|backup|srv)?-?\d{0,3}\.(?:(?:mx|mail|smtp)\.)?$/;

/** Whether a host is a mail host of whoever has a domain, by its name. */
export function isMailHostOf(host: string, domain: string): boolean {
  const below = host.slice(0, -domain.length);
  return below === '' || A_MAIL_HOST.test(below);
}

/** Web sites of customers, who choose their names: mail for them goes elsewhere (inbound-smtp, below amazonaws.com). */
const ONLY_SITES: ReadonlySet<string> = new Set(['awsapps.com']);
/**
 * Whoever it is, nobody has mail sent to his web site. Below that of a landlord, or of a network with members, may be
 * anybody's.
 */
const A_WEB_SITE = /^www\d*\.$/;
/** Of a company that hosts others it is one of the machines that they are on (www429.your-server.de, 2026-11-18). */
const A_MACHINE = /^www\d+\.$/;
/** What companies call the other hosts that they have, whatever number stands behind it. */
const NO_MAIL: ReadonlySet<string> = new Set(
  [
    'www web website webmail app apps api portal login sso auth account accounts admin my shop store blog news info',
    'support help doc docs kb wiki forum forums community status cdn static assets image images img media files ftp vpn',
    'download downloads ns dns imap pop calendar autodiscover autoconfig events jobs careers partner partners training',
    'academy demo test dev go get track click link links pages',
  ].flatMap(words => words.split(' ')),
);
/**
 * What those are called that take it, of 600 that were seen (2026-11-17): us-smtp-inbound-1, cluster5, a part of it or a
 * whole word.
 */
const TAKES_MAIL = /mx|mail|smtp|mta|mrp|inbound|relay|filter|spam|post|gate|cluster|hub|protect|secur/;
const FOR_MAIL: ReadonlySet<string> = new Set([
  ...['in', 'esa', 'ess', 'hes', 'tmes', 'gw', 'srv', 'exch', 'seg', 'asp'],
]);
/** Called after what it is for: all that it has is for mail. */
const A_MAIL_DOMAIN = /mx|mail|smtp|mta|spam|messag|box|hosted|filter/;

const PLATFORMS: ReadonlySet<ProviderClass> = new Set<ProviderClass>([
  ...(['business_platform', 'security_gateway'] as const),
]);

/**
 * Which of a provider's names may take mail: all, where they are others' or below the name of its mail service, all but a
 * few where everything is for mail, or those that say so.
 */
type Names = 'all' | 'most' | 'some';
const kept = new WeakMap<ProviderRow, Names>();

function namesOf(row: ProviderRow): Names {
  const before = kept.get(row);
  if (before) return before;
  const { suffix } = row;
  const isWhole = registrableDomain(suffix) === suffix;
  const areAll = !PLATFORMS.has(row.class) || HAVE_MEMBERS.has(suffix) || !isWhole;
  const names = areAll ? 'all' : A_MAIL_DOMAIN.test(suffix) ? 'most' : 'some';
  kept.set(row, names);
  return names;
}

/**
 * Whether senders go on to the next exchange for all that its name says. A row of a whole company (`zoho.com`) has its web
 * site below it, which exists and takes no connections: before his own host it made anybody a customer of the
 * company (2026-11-17).
 */
export function takesNoMail(host: string, row: ProviderRow | undefined): boolean {
  // Whatever a disposable service calls it, it is what takes its mail.
  if (!row || row.class === 'disposable') return false;
  const below = host.slice(0, -row.suffix.length);
  const isMachine = row.class === 'hosting' && A_MACHINE.test(below);
  if ((A_WEB_SITE.test(below) && !isMachine) || ONLY_SITES.has(row.suffix)) return true;
  const names = namesOf(row);
  if (names === 'all') return false;
  const labels = below.replaceAll(/\d/g, '').split('.');
  if (below === '' || NO_MAIL.has(labels[0]!)) return true;
  const words = labels.flatMap(label => label.split('-'));
  return names === 'some' && !TAKES_MAIL.test(below) && !words.some(word => FOR_MAIL.has(word));
}
