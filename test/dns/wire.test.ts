/** What the bytes of an answer are: an answer, or a refusal by whoever was asked. */

import dnsPacket, { type Answer } from 'dns-packet';
import fc from 'fast-check';
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

/** As a server sends it: what a name goes on with is a pointer to where that has been before (RFC 1035 4.1.4). */
function compressed(query: Buffer, answers: readonly { owner: string; type: number; exchange: string }[]) {
  const places = new Map<string, number>();
  const parts = [query];
  let length = query.length;
  const put = (bytes: Buffer) => {
    parts.push(bytes);
    length += bytes.length;
  };
  const encoded = (name: string, from: number) => {
    const bytes: Buffer[] = [];
    let at = from;
    for (let rest = name; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1 || rest.length)) {
      const before = places.get(rest);
      if (before !== undefined)
        return Buffer.concat([...bytes, Buffer.from([0xc0 | (before >> 8), before & 0xff])]);
      places.set(rest, at);
      const [label = ''] = rest.split('.', 1);
      bytes.push(Buffer.from([label.length]), Buffer.from(label));
      at += label.length + 1;
    }
    return Buffer.concat([...bytes, Buffer.from([0])]);
  };
  for (const { owner, type, exchange } of answers) {
    put(encoded(owner, length));
    const head = Buffer.from([0, type, 0, 1, 0, 0, 1, 44, 0, 0]);
    const before = type === MX ? Buffer.from([0, 7]) : Buffer.alloc(0);
    const data =
      type === A ? Buffer.from([192, 0, 2, 1]) : encoded(exchange, length + head.length + before.length);
    head.writeUInt16BE(before.length + data.length, 8);
    put(Buffer.concat([head, before, data]));
  }
  return Buffer.concat(parts);
}
const [A, CNAME, MX] = [1, 5, 15];

it('names are read as they are, whatever they share with others of the answer', () => {
  const label = fc.constantFrom('a', 'b', 'mail', 'x-1', 'a'.repeat(63));
  const name = fc.array(label, { minLength: 1, maxLength: 3 }).map(labels => labels.join('.'));
  const answer = fc.record({ owner: name, type: fc.constantFrom(A, CNAME, MX), exchange: name });
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 20 }), answers => {
      const query = writeQuery(NAME, 'MX');
      const head = Buffer.from(query.bytes.subarray(0, query.end));
      for (const [at, value] of [
        [2, 0x8180],
        [6, answers.length],
        [10, 0],
      ] as const)
        head.writeUInt16BE(value, at);
      const bytes = compressed(head, answers);
      const told = readReply(bytes, query, false);
      const wanted = answers.map(({ owner, type, exchange }) => {
        if (type === CNAME) return { name: owner, type: 'CNAME', data: exchange };
        if (type === MX) return { name: owner, type: 'MX', data: { preference: 7, exchange } };
        // Nobody asked for it.
        return { name: '', type: 'NULL' };
      });
      expect(told).toMatchObject({ kind: 'reply', reply: { answers: wanted } });
      // The codec says the same.
      const names = dnsPacket.decode(bytes).answers!.map(one => one.name);
      expect(names).toEqual(answers.map(({ owner }) => owner));
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['a pointer to itself', [0xc0, 0]],
  ['a label that is no length and no pointer', [0x41, 0x61]],
  ['a name of more than 255 bytes', [...Array.from({ length: 128 }, () => [1, 0x61]).flat(), 0]],
  ['a label behind the end', [63, 0x61]],
])('%s is no answer', (_, exchange) => {
  const query = writeQuery(NAME, 'MX');
  const head = Buffer.from(query.bytes.subarray(0, query.end));
  for (const [at, value] of [
    [2, 0x8180],
    [6, 1],
    [10, 0],
  ] as const)
    head.writeUInt16BE(value, at);
  const data = Buffer.from(exchange);
  const record = Buffer.from([0xc0, 12, 0, MX, 0, 1, 0, 0, 1, 44, 0, data.length + 2, 0, 7]);
  // To where it stands itself.
  if (exchange[0] === 0xc0) data.writeUInt16BE(0xc000 | (head.length + record.length), 0);
  record.writeUInt16BE(data.length + 2, 10);
  expect(readReply(Buffer.concat([head, record, data]), query, false).kind).toBe('stranger');
});
