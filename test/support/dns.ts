/** A DNS server on loopback that answers from a plain Map, lies and breaks on demand, and notes what it was asked. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import dnsPacket, { type Answer, type Packet, type RecordType } from 'dns-packet';

/**
 * What goes wrong with an answer:
 * - `drop`: silence; `garbage`: random-looking bytes; `header`: the first 12 bytes only
 * - `servfail`, `refused`, `formerr`, `notimp`, `badvers`: the rcode, with no records
 * - `truncate`: cut off over UDP, and TCP connections are closed unanswered
 * - `truncate-udp`: cut off over UDP, answered over TCP
 * - `other-name`, `other-type`: the answer to a question nobody asked; `wrong-id`: the id plus one
 * - `other-owner`: the right question, and records of another name
 * - `lower-case`: a server that does not keep the case of the question
 * - `referral`: name servers of somebody else in place of an answer
 * - `nxdomain`, `empty`, `address`, `mx`: that lie about every name, in all form
 * - `slow`: the right answer after so many milliseconds
 * - `bytes`: whatever the function makes of the right answer; silence where it gives undefined
 */
export type Fault =
  | 'drop'
  | 'garbage'
  | 'header'
  | 'servfail'
  | 'refused'
  | 'formerr'
  | 'notimp'
  | 'badvers'
  | 'truncate'
  | 'truncate-udp'
  | 'other-name'
  | 'other-type'
  | 'other-owner'
  | 'wrong-id'
  | 'lower-case'
  | 'referral'
  | Lie
  | { readonly slow: number }
  | { readonly bytes: (answer: Buffer, query: Buffer, over: 'udp' | 'tcp') => Buffer | undefined };

export type Lie = 'nxdomain' | 'empty' | 'address' | 'mx';

/** What the server knows of a name. No records of the type asked for: NOERROR with the SOA. */
export interface Zone {
  readonly records?: readonly Answer[];
  readonly rcode?: 'NOERROR' | 'NXDOMAIN';
  readonly fault?: Fault | undefined;
  /** Seconds of a "no such thing"; null leaves the SOA out. */
  readonly negativeTtl?: number | null;
}

export interface SeenQuestion {
  /** Lower case. */
  readonly name: string;
  readonly type: RecordType;
  /** As it stood in the question. */
  readonly spelled: string;
  readonly over: 'udp' | 'tcp';
  readonly id: number;
  readonly port: number;
}

export interface DnsServer {
  /** `127.0.0.1:port` or `[::1]:port`, as `DNS_SERVERS` takes it. */
  readonly address: string;
  readonly port: number;
  /** By lower-case name. Unknown names are NXDOMAIN. May be changed at any time. */
  readonly zones: Map<string, Zone>;
  /** Everything asked so far, in order. */
  readonly questions: SeenQuestion[];
  /** A fault of the whole server; it wins over a name's. */
  fault: Fault | undefined;
  /** How many questions for the name (and type) were seen. */
  asked(name: string, type?: RecordType): number;
  close(): Promise<void>;
}

const RCODES = { servfail: 2, nxdomain: 3, refused: 5, formerr: 1, notimp: 4 } as const;
const { AUTHORITATIVE_ANSWER, RECURSION_AVAILABLE, RECURSION_DESIRED, TRUNCATED_RESPONSE } = dnsPacket;
const FLAGS = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | RECURSION_DESIRED;

export function mx(name: string, preference: number, exchange: string, ttl = 3600): Answer {
  return { type: 'MX', class: 'IN', name, ttl, data: { preference, exchange } };
}

export function a(name: string, data: string, ttl = 3600): Answer {
  return { type: 'A', class: 'IN', name, ttl, data };
}

export function aaaa(name: string, data: string, ttl = 3600): Answer {
  return { type: 'AAAA', class: 'IN', name, ttl, data };
}

export function cname(name: string, data: string, ttl = 3600): Answer {
  return { type: 'CNAME', class: 'IN', name, ttl, data };
}

/** Rejects where the machine does not have the loopback address. */
export async function startDns(
  zones: Iterable<readonly [string, Zone]> = [],
  host: '127.0.0.1' | '::1' = '127.0.0.1',
): Promise<DnsServer> {
  const { udp, tcp, port } = await bindBoth(host);
  const open = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of open) socket.destroy();
    await Promise.all([
      new Promise<void>(done => udp.close(() => done())),
      new Promise<void>(done => tcp.close(() => done())),
    ]);
  };
  const server: DnsServer = {
    address: host === '::1' ? `[::1]:${port}` : `127.0.0.1:${port}`,
    port,
    zones: new Map(zones),
    questions: [],
    fault: undefined,
    asked: (name, type) =>
      server.questions.filter(one => one.name === name && (type === undefined || one.type === type)).length,
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };

  const handle = (query: Buffer, over: 'udp' | 'tcp', from: number, send: (bytes: Buffer) => void) => {
    const { bytes, afterMs } = react(server, query, over, from);
    if (!bytes) return;
    if (afterMs === 0) return send(bytes);
    const timer = setTimeout(() => {
      timers.delete(timer);
      send(bytes);
    }, afterMs);
    timers.add(timer);
  };

  udp.on('message', (query, from) => {
    handle(query, 'udp', from.port, bytes => udp.send(bytes, from.port, from.address, () => {}));
  });
  tcp.on('connection', socket => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const query = received.subarray(2, 2 + received.readUInt16BE(0));
      if (faultFor(server, query) === 'truncate') return socket.destroy();
      handle(query, 'tcp', socket.remotePort ?? 0, bytes => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        dribble(socket, Buffer.concat([length, bytes]));
      });
    });
  });
  return server;
}

/** In three pieces, the first of which cuts the length in two: TCP keeps no borders. */
function dribble(socket: Socket, bytes: Buffer): void {
  socket.setNoDelay(true);
  socket.write(bytes.subarray(0, 1));
  setTimeout(() => socket.write(bytes.subarray(1, 20)), 2);
  setTimeout(() => socket.end(bytes.subarray(20)), 4);
}

/** The same port for both; another one is tried where it is taken for UDP. */
async function bindBoth(host: string): Promise<{ udp: UdpSocket; tcp: TcpServer; port: number }> {
  for (;;) {
    const tcp = createServer();
    tcp.listen(0, host);
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket({ type: host === '::1' ? 'udp6' : 'udp4', recvBufferSize: 1 << 20 });
    const bound = await new Promise<boolean>(done => {
      udp.once('error', () => done(false));
      udp.bind(port, host, () => done(true));
    });
    if (bound) return { udp, tcp, port };
    tcp.close();
  }
}

function questionOf(query: Buffer): { name: string; spelled: string; type: RecordType; id: number } {
  const packet = dnsPacket.decode(query);
  const question = packet.questions?.[0];
  if (!question) throw new Error('a query without a question');
  return {
    name: question.name.toLowerCase(),
    spelled: question.name,
    type: question.type,
    id: packet.id ?? 0,
  };
}

function faultFor(server: DnsServer, query: Buffer): Fault | undefined {
  return server.fault ?? server.zones.get(questionOf(query).name)?.fault;
}

function react(
  server: DnsServer,
  query: Buffer,
  over: 'udp' | 'tcp',
  port: number,
): { bytes: Buffer | undefined; afterMs: number } {
  const { name, spelled, type, id } = questionOf(query);
  server.questions.push({ name, spelled, type, over, id, port });
  const zone = server.zones.get(name);
  const fault = server.fault ?? zone?.fault;
  if (fault === 'drop') return { bytes: undefined, afterMs: 0 };
  const right = answerFrom(isLie(fault) ? LIES[fault](name) : zone, name, spelled, type, id);
  if (isLie(fault)) return { bytes: dnsPacket.encode(right), afterMs: 0 };
  const whole = dnsPacket.encode(right);
  const bytes = over === 'udp' && whole.length > 1232 ? cutOff(right) : whole;
  if (typeof fault === 'object') {
    return 'slow' in fault
      ? { bytes, afterMs: fault.slow }
      : { bytes: fault.bytes(whole, query, over), afterMs: 0 };
  }
  return { bytes: fault ? spoil(fault, right, whole, over) : bytes, afterMs: 0 };
}

const LIES: Readonly<Record<Lie, (name: string) => Zone | undefined>> = {
  nxdomain: () => undefined,
  empty: () => ({}),
  address: name => ({ records: [a(name, '93.184.215.14')] }),
  mx: name => ({ records: [mx(name, 10, 'mail.example.net')] }),
};

function isLie(fault: Fault | undefined): fault is Lie {
  return typeof fault === 'string' && fault in LIES;
}

function answerFrom(
  zone: Zone | undefined,
  name: string,
  spelled: string,
  type: RecordType,
  id: number,
): Packet {
  const nxdomain = !zone || zone.rcode === 'NXDOMAIN';
  const records = zone?.records ?? [];
  const answers = records.filter(record => record.type === type || record.type === 'CNAME');
  const ttl = zone?.negativeTtl === undefined ? 900 : zone.negativeTtl;
  const empty = !answers.some(record => record.type === type);
  return {
    type: 'response',
    id,
    flags: FLAGS | (nxdomain ? RCODES.nxdomain : 0),
    questions: [{ type, name: spelled, class: 'IN' }],
    answers,
    authorities:
      empty && ttl !== null
        ? [
            {
              type: 'SOA',
              name: name.slice(name.indexOf('.') + 1),
              ttl,
              data: { mname: 'ns.example', rname: 'hostmaster.example', serial: 1, minimum: ttl },
            },
          ]
        : [],
  };
}

function cutOff(right: Packet): Buffer {
  return dnsPacket.encode({
    ...right,
    flags: (right.flags ?? 0) | TRUNCATED_RESPONSE,
    answers: [],
    authorities: [],
  });
}

function spoil(
  fault: Exclude<Extract<Fault, string>, Lie>,
  right: Packet,
  whole: Buffer,
  over: 'udp' | 'tcp',
): Buffer {
  const question = right.questions?.[0];
  if (!question) return whole;
  switch (fault) {
    case 'garbage':
      return Buffer.from(Array.from({ length: 80 }, (_, at) => (at * 167 + 13) & 0xff));
    case 'header':
      return whole.subarray(0, 12);
    case 'servfail':
    case 'refused':
    case 'formerr':
    case 'notimp':
      return dnsPacket.encode({ ...right, flags: FLAGS | RCODES[fault], answers: [], authorities: [] });
    case 'badvers':
      return dnsPacket.encode({
        ...right,
        answers: [],
        authorities: [],
        additionals: [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: 1232,
            extendedRcode: 1,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ],
      });
    case 'truncate':
    case 'truncate-udp':
      return over === 'udp' ? cutOff(right) : whole;
    case 'other-name':
      return dnsPacket.encode({ ...right, questions: [{ ...question, name: `x${question.name.slice(1)}` }] });
    case 'other-type':
      return dnsPacket.encode({ ...right, questions: [{ ...question, type: 'TXT' }] });
    case 'other-owner':
      return dnsPacket.encode({
        ...right,
        flags: FLAGS,
        answers: [mx('other.example.net', 10, 'mail.example.net'), a('other.example.net', '192.0.43.7')],
        authorities: [],
      });
    case 'wrong-id':
      return dnsPacket.encode({ ...right, id: ((right.id ?? 0) + 1) & 0xffff });
    case 'lower-case':
      return dnsPacket.encode({ ...right, questions: [{ ...question, name: question.name.toLowerCase() }] });
    case 'referral':
      return dnsPacket.encode({
        ...right,
        flags: RECURSION_DESIRED,
        answers: [],
        authorities: [{ type: 'NS', name: 'com', ttl: 3600, data: 'a.gtld-servers.net' }],
      });
    default:
      return whole;
  }
}
