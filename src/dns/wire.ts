/** One question and the answer to it as bytes; whatever answers another one (RFC 5452) is a stranger. */

import { randomBytes, randomInt } from 'node:crypto';
import dnsPacket, { type Answer } from 'dns-packet';
import { bestRecords } from './long.ts';

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
}

/** Why an answer of a server is none: the rcodes, and `lame` for a server that does not resolve for us. */
export type Refused = 'servfail' | 'refused' | 'formerr' | 'notimp' | 'rcode' | 'lame';

export type Read =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'refused'; readonly why: Refused }
  | { readonly kind: 'stranger' };

const HEADER = 12;
/** What EDNS (RFC 6891) offers: the largest that is not cut into fragments on the way (DNS flag day 2020). */
const UDP_PAYLOAD = 1232;

/**
 * More records than these are not decoded; of more answers the best are (long.ts). dns-packet alone spends 404 ms on
 * 64 KiB of chained compression pointers; with these limits 12 ms (measured 2026-11).
 */
const MOST = { answers: 64, authorities: 16, additionals: 16 };

const STRANGER: Read = { kind: 'stranger' };

/** Random case in the name (DNS 0x20, against cache poisoning): a forged answer has to guess one more bit a letter. */
function mixCase(name: string): string {
  const coins = randomBytes(name.length);
  return Array.from(name, (char, at) => ((coins[at] ?? 0) & 1 ? char.toUpperCase() : char)).join('');
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

/** The codec knows no error of its own: of bytes that are no packet it throws whatever it stumbles over. */
function decoded(bytes: Buffer, end: number): dnsPacket.DecodedPacket | undefined {
  const count = bytes.readUInt16BE(6);
  limitCounts(bytes);
  try {
    const packet = dnsPacket.decode(bytes);
    if (count > MOST.answers) packet.answers = bestRecords(bytes, end, count, MOST.answers);
    return packet;
  } catch {
    return undefined;
  }
}

function readRecords(bytes: Buffer, end: number, nxdomain: boolean): Read {
  const complete = bytes.readUInt16BE(6) <= MOST.answers;
  const packet = decoded(bytes, end);
  if (!packet) return STRANGER;
  const { answers = [], authorities = [], additionals = [] } = packet;
  // An extended rcode (RFC 6891) hides above the four bits that said NOERROR.
  if (additionals.some(record => record.type === 'OPT' && record.extendedRcode !== 0)) {
    return { kind: 'refused', why: 'rcode' };
  }
  const soa = authorities.find(record => record.type === 'SOA');
  if (!nxdomain && answers.length === 0 && !soa) {
    // RFC 2308, 2.2: name servers and no SOA is a referral, which says nothing about the name.
    const referral = authorities.some(record => record.type === 'NS');
    if (referral || !(packet.flag_aa || packet.flag_ra)) return { kind: 'refused', why: 'lame' };
  }
  const negativeTtl = soa && Math.min(seconds(soa.ttl), seconds(soa.data.minimum));
  return { kind: 'reply', reply: { nxdomain, answers, complete, negativeTtl } };
}

/** Lowers the header's counts to what is read at most; of answers that are too many the best are read apart. */
function limitCounts(bytes: Buffer): void {
  let reachable = bytes.readUInt16BE(6) <= MOST.answers;
  for (const [section, most] of Object.values(MOST).entries()) {
    const at = 6 + 2 * section;
    const count = bytes.readUInt16BE(at);
    // What stands behind a section that is not read to its end cannot be found.
    bytes.writeUInt16BE(reachable ? Math.min(count, most) : 0, at);
    reachable &&= count <= most;
  }
}

/** RFC 2181, 8: a time to live with the top bit set counts as zero. */
export function seconds(ttl: number | undefined): number {
  return ttl === undefined || ttl > 0x7fff_ffff ? 0 : ttl;
}
