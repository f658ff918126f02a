/** One question and the answer to it as bytes; whatever answers another one (RFC 5452) is a stranger. */

import { randomBytes, randomInt } from 'node:crypto';
import dnsPacket, { type Answer } from 'dns-packet';
import { bestOf, CNAME, DNAME, type Place, placesOf, readOf } from './long.ts';

export type QuestionType = 'MX' | 'A' | 'AAAA';

export interface Query {
  readonly id: number;
  readonly bytes: Buffer;
  /** Where the question section ends; it begins after the 12 bytes of the header. */
  readonly end: number;
}

export interface Reply {
  readonly nxdomain: boolean;
  readonly answers: readonly Answer[];
  /** False when there were more answer records than are read. */
  readonly complete: boolean;
  /** Seconds that a "no such thing" may be kept (RFC 2308), where the answer brought an SOA. */
  readonly negativeTtl: number | undefined;
  /** The zone that this SOA is of, in lower case. */
  readonly zone?: string | undefined;
}

/**
 * Why an answer of a server is none: the rcodes, `lame` for a server that does not resolve for us, and `filtered` for
 * one that says itself that the answer is not the domain's.
 */
export type Refused = 'servfail' | 'refused' | 'formerr' | 'notimp' | 'rcode' | 'lame' | 'filtered';

export type Read =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'refused'; readonly why: Refused }
  | { readonly kind: 'stranger' };

const HEADER = 12;
/** What EDNS (RFC 6891) offers: the largest that is not cut into fragments on the way (DNS flag day 2020). */
const UDP_PAYLOAD = 1232;

/**
 * Of more the best are read (long.ts). dns-packet alone spends 404 ms on 64 KiB of chained compression pointers; with
 * this limit 12 ms (measured 2026-11).
 */
const MOST_ANSWERS = 64;
const NS = 2;
const SOA = 6;
const OPT = 41;

/** The option that holds an extended error (RFC 8914 2). */
const EXTENDED_ERROR = 15;
/**
 * Forged, blocked, censored, filtered, prohibited (RFC 8914 4.5, 4.16 to 4.19): what such an answer says, a denial or
 * another's address, is the rule of whoever was asked. The domain's own servers gain nothing by it: they can fail as well.
 */
const FILTERED: ReadonlySet<number> = new Set([4, 15, 16, 17, 18]);

const STRANGER: Read = { kind: 'stranger' };

const [LARGE_A, SMALL_A, SMALL_Z] = [0x41, 0x61, 0x7a];

/** Random case in the name (DNS 0x20, against cache poisoning): a forged answer has to guess one more bit a letter. */
function mixCase(name: string): string {
  const letters = Buffer.from(name, 'latin1');
  const coins = randomBytes(letters.length);
  for (const [at, coin] of coins.entries()) {
    const isSmall = letters[at]! >= SMALL_A && letters[at]! <= SMALL_Z;
    if (isSmall && coin & 1) letters[at]! -= SMALL_A - LARGE_A;
  }
  return letters.toString('latin1');
}

export function writeQuery(name: string, type: QuestionType): Query {
  const id = randomInt(0x1_0000);
  const bytes = dnsPacket.encode({
    type: 'query',
    id,
    flags: dnsPacket.RECURSION_DESIRED,
    questions: [{ type, name: mixCase(name) }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: UDP_PAYLOAD,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });
  return { id, bytes, end: HEADER + name.length + 2 + 4 };
}

const RCODES: Partial<Record<number, Refused>> = { 1: 'formerr', 2: 'servfail', 4: 'notimp', 5: 'refused' };

/**
 * Over UDP the question must come back byte for byte. Over TCP, where forging needs the connection, a server
 * may have changed the case.
 */
function sameQuestion(bytes: Buffer, query: Query, overTcp: boolean): boolean {
  const theirs = bytes.subarray(HEADER, query.end);
  const ours = query.bytes.subarray(HEADER, query.end);
  if (theirs.equals(ours)) return true;
  return overTcp && theirs.toString('latin1').toLowerCase() === ours.toString('latin1').toLowerCase();
}

/**
 * Never throws for what others have sent: it runs in a socket's event, where nothing would catch what a domain's owner
 * provoked. Once the header is there only the codec can stumble over bytes.
 */
export function readReply(bytes: Buffer, query: Query, overTcp: boolean): Read {
  if (bytes.length < HEADER || bytes.readUInt16BE(0) !== query.id) return STRANGER;
  const flags = bytes.readUInt16BE(2);
  const isQueryResponse = flags >> 11 === 0b1_0000;
  if (!isQueryResponse) return STRANGER;
  const rcode = flags & 0xf;
  const refused: Read = { kind: 'refused', why: RCODES[rcode] ?? 'rcode' };
  const definite = rcode === 0 || rcode === 3;
  const questions = bytes.readUInt16BE(4);
  // A server that could not read the question may leave it out of its refusal.
  if (questions === 0 && !definite) return refused;
  if (questions !== 1 || !sameQuestion(bytes, query, overTcp)) return STRANGER;
  if (flags & dnsPacket.TRUNCATED_RESPONSE) return { kind: 'truncated' };
  return definite ? readRecords(bytes, query.end, rcode === 3) : refused;
}

/** What of an answer counts: its records of the type that was asked for, and what the other sections say of it. */
interface Sections {
  readonly answers: Answer[];
  readonly complete: boolean;
  readonly soa: Answer | undefined;
  readonly isReferral: boolean;
  /** An extended rcode (RFC 6891) hides above the four bits that said NOERROR. */
  readonly isExtended: boolean;
  readonly isFiltered: boolean;
}

/** The codec knows no error of its own: of bytes that are no packet it throws whatever it stumbles over. */
function sectionsOf(bytes: Buffer, end: number): Sections | undefined {
  const count = bytes.readUInt16BE(6);
  const complete = count <= MOST_ANSWERS;
  const types = [CNAME, DNAME, bytes.readUInt16BE(end - 4)];
  try {
    const first = placesOf(bytes, end, count);
    const answers = readOf(bytes, bestOf(bytes, first.places, MOST_ANSWERS), types);
    // Of one that is not read to its end nothing else is either.
    if (!complete)
      return { answers, complete, soa: undefined, isReferral: false, isExtended: false, isFiltered: false };
    const second = placesOf(bytes, first.end, bytes.readUInt16BE(8));
    const third = placesOf(bytes, second.end, bytes.readUInt16BE(10));
    const soa = second.places.filter(({ type }) => type === SOA).slice(0, 1);
    const isReferral = second.places.some(({ type }) => type === NS);
    const options = third.places.filter(({ type }) => type === OPT);
    const isExtended = options.some(({ ttl }) => ttl > 0xff_ffff);
    const isFiltered = options.some(place => errorsIn(bytes, place).some(code => FILTERED.has(code)));
    return { answers, complete, soa: readOf(bytes, soa, [SOA])[0], isReferral, isExtended, isFiltered };
  } catch {
    return undefined;
  }
}

/** What an OPT record says went wrong, each option with its code and length before it (RFC 6891 6.1.2). */
function errorsIn(bytes: Buffer, { data }: Place): number[] {
  const end = data + bytes.readUInt16BE(data - 2);
  const codes: number[] = [];
  for (let at = data; at + 6 <= end; at += 4 + bytes.readUInt16BE(at + 2))
    if (bytes.readUInt16BE(at) === EXTENDED_ERROR && bytes.readUInt16BE(at + 2) >= 2)
      codes.push(bytes.readUInt16BE(at + 4));
  return codes;
}

function readRecords(bytes: Buffer, end: number, nxdomain: boolean): Read {
  const sections = sectionsOf(bytes, end);
  if (!sections) return STRANGER;
  const { answers, complete, soa, isReferral, isExtended, isFiltered } = sections;
  if (isExtended) return { kind: 'refused', why: 'rcode' };
  if (isFiltered) return { kind: 'refused', why: 'filtered' };
  if (!nxdomain && answers.length === 0 && !soa) {
    // RFC 2308, 2.2: name servers and no SOA is a referral, which says nothing about the name.
    const isTheirs = bytes.readUInt16BE(2) & (dnsPacket.AUTHORITATIVE_ANSWER | dnsPacket.RECURSION_AVAILABLE);
    if (isReferral || !isTheirs) return { kind: 'refused', why: 'lame' };
  }
  const negativeTtl = soa?.type === 'SOA' ? Math.min(seconds(soa.ttl), seconds(soa.data.minimum)) : undefined;
  const zone = soa?.name.toLowerCase();
  return { kind: 'reply', reply: { nxdomain, answers, complete, negativeTtl, zone } };
}

/** RFC 2181, 8: a time to live with the top bit set counts as zero. */
export function seconds(ttl: number | undefined): number {
  return ttl === undefined || ttl > 0x7fff_ffff ? 0 : ttl;
}
