/** What the bytes of an answer are: an answer, or a refusal by whoever was asked. */

import dnsPacket, { type Answer } from 'dns-packet';
import { describe, expect, it } from 'vitest';
import { type QuestionType, readReply, writeQuery } from '../../src/dns/wire.ts';
import { a, aaaa, mx } from '../support/dns.ts';

const NAME = 'firm.com';

interface Said {
  readonly nxdomain?: boolean;
  readonly answers?: Answer[];
  /** Options of the OPT record, code and bytes. */
  readonly options: readonly (readonly [code: number, data: readonly number[]])[];
}

function read(type: QuestionType, { nxdomain = false, answers = [], options }: Said) {
  const query = writeQuery(NAME, type);
  const { questions = [] } = dnsPacket.decode(query.bytes);
  const flags = dnsPacket.RECURSION_AVAILABLE | (nxdomain ? 3 : 0);
  const data = Buffer.concat(options.map(([code, some]) => Buffer.from([0, code, 0, some.length, ...some])));
  const opt = Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, data.length]);
  const packet = dnsPacket.encode({ type: 'response', id: query.id, flags, questions, answers });
  packet.writeUInt16BE(1, 10);
  const bytes = Buffer.concat([packet, opt, data]);
  const told = readReply(bytes, query, false);
  return told.kind === 'refused' ? told.why : told.kind;
}

const error = (code: number, text = '') => [15, [code >> 8, code & 0xff, ...Buffer.from(text)]] as const;

describe('a resolver that says that an answer is its own (RFC 8914) is not believed', () => {
  it.each([
    [4, 'forged'],
    [15, 'blocked'],
    [16, 'censored'],
    [17, 'filtered'],
    [18, 'prohibited'],
  ])('by code %i (%s), whatever it answers', code => {
    const options = [error(code, 'by the rules of this network')];
    expect(read('MX', { nxdomain: true, options })).toBe('filtered');
    expect(read('MX', { options })).toBe('filtered');
    expect(read('MX', { answers: [mx(NAME, 10, 'mx.wall.net')], options })).toBe('filtered');
    expect(read('A', { answers: [a(NAME, '0.0.0.0')], options })).toBe('filtered');
    expect(read('A', { answers: [a(NAME, '23.1.1.1')], options })).toBe('filtered');
    expect(read('AAAA', { answers: [aaaa(NAME, '::')], options })).toBe('filtered');
  });

  it.each<[string, Said['options']]>([
    ['behind another option', [[10, [1, 2, 3, 4, 5, 6, 7, 8]], error(17)]],
    ['behind another error', [error(0), error(17)]],
    ['behind an empty option', [[12, []], error(17)]],
  ])('%s too', (_, options) => {
    expect(read('MX', { nxdomain: true, options })).toBe('filtered');
  });

  it.each<[string, Said['options']]>([
    ['without an error', []],
    ...[0, 3, 9, 19, 22, 23, 29, 0x0f00, 0x1100].map(
      code => [`with error ${code}`, [error(code)]] as [string, Said['options']],
    ),
    ['with such a number in another option', [[10, [0, 17]]]],
    ['with half a number', [[15, [17]]]],
    ['with none', [[15, []]]],
  ])('but a denial is one %s', (_, options) => {
    expect(read('MX', { nxdomain: true, options })).toBe('reply');
  });
});
