/** Which records of an answer are read that holds more than that: aliases, then the exchanges that senders try first. */

import dnsPacket, { type Answer } from 'dns-packet';

const CNAME = 5;
const MX = 15;
/** Type, class, time to live and length, behind the name of a record (RFC 1035 4.1.3). */
const FIXED = 10;

/**
 * Of so many records from there on; throws where the bytes are none. Whoever hides his host behind others in the answer
 * must be found, so each is looked at, but only those that are read are decoded: that is what costs (see wire.ts).
 */
export function bestRecords(bytes: Buffer, start: number, count: number, most: number): Answer[] {
  const records: { readonly at: number; readonly rank: number }[] = [];
  for (let at = start, left = count; left > 0; left--) {
    const fixed = behindName(bytes, at);
    const data = fixed + FIXED;
    records.push({ at, rank: rankOf(bytes, bytes.readUInt16BE(fixed), data) });
    at = data + bytes.readUInt16BE(data - 2);
  }
  const best = records.sort((one, other) => one.rank - other.rank).slice(0, most);
  return best.map(({ at }) => dnsPacket.answer.decode(bytes, at));
}

/** The lowest first. */
function rankOf(bytes: Buffer, type: number, data: number): number {
  if (type === CNAME) return -1;
  return type === MX ? bytes.readUInt16BE(data) : 0x1_0000;
}

/** A name ends with an empty label or a pointer (RFC 1035 4.1.4), which is not followed. */
function behindName(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = bytes.readUInt8(at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
  }
}
