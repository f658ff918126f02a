/** What the replies to one name's questions say about its mail: only a definite answer is evidence. */

import type { Answer, MxAnswer, StringAnswer } from 'dns-packet';
import { isPublicAddress } from '../core/address.ts';
import { isHostName } from '../core/domain.ts';
import { type Exchange, MAIL_UNKNOWN, type Mail } from '../core/mail.ts';
import { isSpecialUse } from '../core/special-use.ts';
import { type QuestionType, type Reply, seconds } from './wire.ts';

/** A mail answer and for how many seconds it may be kept. */
export interface Finding {
  readonly mail: Mail;
  readonly ttl: number;
}

/** Limits for how long an answer is kept, in seconds. */
export interface TtlLimits {
  readonly positive: { readonly least: number; readonly most: number };
  /** Of the answer that there is nothing (negative caching, RFC 2308 5). */
  readonly negative: { readonly least: number; readonly most: number };
}

/** The records of one type that a reply holds for a name, or that there are none. */
export type Found =
  | {
      readonly kind: 'records';
      readonly records: readonly Answer[];
      readonly ttl: number;
      readonly all: boolean;
    }
  | {
      readonly kind: 'none';
      readonly nxdomain: boolean;
      readonly ttl: number;
      /** Whose word it is, where the answer says so and is about the name itself and not what its aliases lead to. */
      readonly zone?: string | undefined;
    };

/** Asking failed, and would fail again in the next moment. */
export const UNKNOWN: Finding = { mail: MAIL_UNKNOWN, ttl: 0 };
/** Nobody who is believed was heard: the next lookup must ask again. */
export const UNHEARD: Finding = { mail: MAIL_UNKNOWN, ttl: 0 };

/** More than resolvers follow for us: BIND 16 at most, Unbound 11. */
const MOST_ALIASES = 16;
const MOST_ADDRESSES = 20;

/**
 * Undefined when the reply leaves the question open. Follows aliases (CNAME chains, RFC 1034 3.6.2) inside the answer
 * section only; nothing more is asked for them.
 */
export function find(reply: Reply, name: string, type: QuestionType): Found | undefined {
  let owner = name;
  let ttl = Number.POSITIVE_INFINITY;
  for (let aliases = 0; aliases <= MOST_ALIASES; aliases++) {
    const own = reply.answers.filter(record => record.name.toLowerCase() === owner && isInternet(record));
    const records = own.filter(record => record.type === type);
    ttl = Math.min(ttl, ...records.map(ttlOf));
    if (records.length > 0) {
      return reply.nxdomain ? undefined : { kind: 'records', records, ttl, all: reply.complete };
    }
    const alias = own.find((record): record is StringAnswer => record.type === 'CNAME');
    if (!alias) return nothing(reply);
    ttl = Math.min(ttl, ttlOf(alias));
    owner = alias.data.toLowerCase();
  }
  return undefined;
}

/**
 * No records is only said by an empty answer, or by one with an SOA where aliases lead to nothing (RFC 2308, 2.2).
 * Records of other names leave the question open; so does an answer not read to its end, since its SOA is not read.
 */
function nothing(reply: Reply): Found | undefined {
  const ttl = reply.negativeTtl ?? 0;
  const zone = reply.answers.length === 0 ? reply.zone : undefined;
  if (reply.nxdomain) return { kind: 'none', nxdomain: true, ttl, zone };
  const onlyAliases = reply.answers.every(record => record.type === 'CNAME' || record.type === 'DNAME');
  const closed = reply.answers.length === 0 || reply.negativeTtl !== undefined;
  return onlyAliases && closed ? { kind: 'none', nxdomain: false, ttl, zone } : undefined;
}

function isInternet(record: Answer): boolean {
  return record.type !== 'OPT' && record.class === 'IN';
}

function ttlOf(record: Answer): number {
  return record.type === 'OPT' ? 0 : seconds(record.ttl);
}

/** What the answer to the MX question settles; undefined when the addresses must be asked for. */
export function mailFromMx(mx: Found, limits: TtlLimits): Finding | undefined {
  if (mx.kind === 'none') {
    return mx.nxdomain ? negative('nxdomain', mx.ttl, limits) : undefined;
  }
  const ttl = clamp(mx.ttl, limits.positive);
  const exchanges = exchangesOf(mx.records);
  if (exchanges.length > 0)
    return { mail: mailOf(exchanges, mx.all ? cutOf(mx.records, exchanges) : true), ttl };
  if (!mx.all) return UNKNOWN;
  // RFC 7505: a null MX stands alone; among others it is one more exchange that is no host name.
  const isNull = mx.records.every(record => record.type === 'MX' && record.data.exchange === '.');
  return { mail: isNull ? MAILS.null_mx : MAILS.no_mail, ttl };
}

/** No MX: one public address makes an implicit MX (RFC 5321, 5.1); one question left open leaves it unknown. */
export function mailFromAddresses(
  mxTtl: number,
  addresses: readonly (Found | undefined)[],
  limits: TtlLimits,
): Finding {
  let ttl = mxTtl;
  let open = false;
  for (const found of addresses) {
    if (publicAddresses(found).length > 0) {
      return { mail: MAILS.implicit_mx, ttl: clamp(found?.ttl ?? 0, limits.positive) };
    }
    if (found?.kind === 'none') ttl = Math.min(ttl, found.ttl);
    else open ||= !found?.all;
  }
  return open ? UNKNOWN : negative('no_mail', ttl, limits);
}

/** The first public ones, as text: 60 of each host took as long to check as all else that is done with them (2026-11-19). */
export function publicAddresses(found: Found | undefined, most = MOST_ADDRESSES): string[] {
  const addresses: string[] = [];
  for (const record of found?.kind === 'records' ? found.records : []) {
    if (addresses.length === most) break;
    const isAddress = record.type === 'A' || record.type === 'AAAA';
    if (isAddress && isPublicAddress(record.data)) addresses.push(record.data);
  }
  return addresses;
}

/** Whether an answer to an MX question names a host that can receive mail. */
export function isReceiving(found: Found): boolean {
  return (
    found.kind === 'records' &&
    found.records.some(record => record.type === 'MX' && isExchange(hostOf(record)))
  );
}

/** Of two denials the one that leaves most open: where a name exists, its addresses are to be asked for. */
export function lesserOf(first: Found, second: Found): Found {
  return [first, second].find(found => found.kind === 'none' && !found.nxdomain) ?? first;
}

function hostOf({ data }: MxAnswer): string {
  return data.exchange.toLowerCase();
}

function isExchange(host: string): boolean {
  return isHostName(host) && !isSpecialUse(host);
}

/**
 * Checked host names only: everything else in a record is the domain owner's free text. All that were read: whoever puts
 * names that do not exist before his own host must not have that left out.
 */
function exchangesOf(records: readonly Answer[]): readonly Exchange[] {
  const byHost = new Map<string, Exchange>();
  for (const record of records) {
    if (record.type !== 'MX') continue;
    const host = hostOf(record);
    const preference = record.data.preference ?? 0;
    const known = byHost.get(host);
    if (!isExchange(host) || (known && known.preference <= preference)) continue;
    byHost.set(host, Object.freeze({ host, preference }));
  }
  const sorted = [...byHost.values()].sort(
    (a, b) => a.preference - b.preference || (a.host < b.host ? -1 : 1),
  );
  return Object.freeze(sorted);
}

/**
 * Some senders take for a host what is none by the rules (Postfix an address, and many a hyphen at a label's end): a name
 * of Google's behind one made a company of whoever receives there (2026-11-18). At the root (RFC 7505, among others) and
 * at special-use names nobody does.
 */
function cutOf(records: readonly Answer[], exchanges: readonly Exchange[]): Mail['cut'] {
  const left = records.filter((record): record is MxAnswer => {
    const host = record.type === 'MX' ? hostOf(record) : '.';
    return host !== '.' && !isHostName(host) && !isSpecialUse(host);
  });
  if (left.length === 0) return undefined;
  return left.some(({ data }) => (data.preference ?? 0) < exchanges[0]!.preference) || 'beside';
}

export function mailOf(exchanges: readonly Exchange[], cut: Mail['cut']): Mail {
  const mail = { state: 'mx', exchanges, stale: false } as const;
  return Object.freeze(cut ? { ...mail, cut } : mail);
}

type Bare = 'null_mx' | 'implicit_mx' | 'no_mail' | 'nxdomain';

const bare = (state: Bare): Mail => Object.freeze({ state, exchanges: Object.freeze([]), stale: false });

const MAILS: Readonly<Record<Bare, Mail>> = {
  null_mx: bare('null_mx'),
  implicit_mx: bare('implicit_mx'),
  no_mail: bare('no_mail'),
  nxdomain: bare('nxdomain'),
};

function negative(state: 'no_mail' | 'nxdomain', ttl: number, limits: TtlLimits): Finding {
  return { mail: MAILS[state], ttl: clamp(ttl, limits.negative) };
}

function clamp(value: number, limits: { readonly least: number; readonly most: number }): number {
  return Math.min(Math.max(value, limits.least), limits.most);
}
