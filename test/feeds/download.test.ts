import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressProblem, download } from '../../src/feeds/download.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const MIB = 2 ** 20;
/** 200 kB that unpack to 192 MiB: of the other codings nothing is unpacked at all. */
const bomb = Buffer.concat(Array(12).fill(gzipSync(Buffer.alloc(16 * MIB, '\n'))));
const OTHERS = ['deflate', 'zstd', 'gzip, gzip', 'gzip, br'];

/** What a server, or whoever took it over, may do to us. Every one ends when the socket does. */
const MODES: Record<string, Answer> = {
  'plain list': (_, res) => res.end('a.com\nb.com\n'),
  'packed list': (_, res) =>
    res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('\uFEFFa.com\nb.com\n')),
  'list packed by another name': (_, res) =>
    res.writeHead(200, { 'content-encoding': 'X-GZip' }).end(gzipSync('a.com\nb.com\n')),
  'to no address': (_, res) => res.writeHead(302, { location: 'http://%zz' }).end(),
  moved: (_, res) => res.writeHead(302, { location: '/plain list' }).end(),
  'to a file': (_, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  'to the metadata service': (_, res) =>
    res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  'to another local port': (_, res) => res.writeHead(307, { location: `${other}/plain list` }).end(),
  'to another scheme': (_, res) => res.writeHead(301, { location: 'https://example.com/' }).end(),
  'round and round': (_, res) => res.writeHead(302, { location: '/round and round' }).end(),
  'to nowhere': (_, res) => res.writeHead(302).end(),
  'gzip bomb': (_, res) =>
    res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(40 * MIB))),
  'gzip bomb that comes whole': (_, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  'gzip that never holds anything': (_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip' });
    const nothing = gzipSync('');
    const more = () => {
      while (!res.destroyed && res.write(nothing));
    };
    res.on('drain', more);
    more();
  },
  'slow packed body': (_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip' });
    const packed = gzipSync(Array.from({ length: 1_000 }, (_, at) => `name-${at}.com\n`).join(''));
    let at = 0;
    const timer = setInterval(() => res.write(packed.subarray(at, ++at)), 5);
    res.on('close', () => clearInterval(timer));
  },
  'gzip of nothing': (_, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
  'another packing': (_, res) => res.writeHead(200, { 'content-encoding': 'br' }).end('x'),
  ...Object.fromEntries(
    OTHERS.map(coding => [coding, (_, res) => res.writeHead(200, { 'content-encoding': coding }).end(bomb)]),
  ),
  'endless body': (_, res) => {
    const line = 'a.com\n'.repeat(10_000);
    const more = () => {
      while (!res.destroyed && res.write(line)) sent += line.length;
    };
    res.on('drain', more);
    more();
  },
  'endless packed body': (_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip' });
    const packed = createGzip();
    pipeline(Readable.from(endless()), packed, res, () => {});
  },
  'slow body': (_, res) => {
    const timer = setInterval(() => res.write('a.com\n'), 20);
    res.on('close', () => clearInterval(timer));
  },
  'no answer': () => {},
  'cut short': (_, res) => {
    res.writeHead(200, { 'content-length': '1000' }).write('a.com\n');
    setTimeout(() => res.destroy(), 20);
  },
  'web page': (_, res) =>
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('a.com\nb.com\n'),
  'login page as text': (_, res) =>
    res.writeHead(200, { 'content-type': 'text/plain' }).end('\n <!doctype html><title>Log in</title>'),
  'another protocol': ({ socket }) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  'cut, and nobody can tell': ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\n\r\na.com\nb.com\nc.co'),
  'whole without a last line end': (_, res) =>
    res.writeHead(200, { 'content-length': '17' }).end('a.com\nb.com\nc.com'),
  'in chunks without a last line end': (_, res) => {
    res.write('a.com\nb.com\n');
    res.end('c.com');
  },
  'packed without a last line end': ({ socket }) =>
    void socket.end(
      Buffer.concat([
        Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'),
        gzipSync('a.com\nb.com\nc.com'),
      ]),
    ),
  gone: (_, res) => res.writeHead(404).end('a.com\n'),
  broken: (_, res) => res.writeHead(500).end('a.com\n'),
};

function* endless() {
  for (let at = 0; ; at++) yield `${at},name-${at}.com\n`.repeat(100);
}

let base = '';
let other = '';
let sent = 0;
const servers = [1, 2].map(() =>
  createServer((req, res) => MODES[decodeURIComponent(req.url!.slice(1))]!(req, res)),
);

beforeAll(async () => {
  for (const server of servers) await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  [base, other] = servers.map(server => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as [
    string,
    string,
  ];
});
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

const fetched = (mode: string, deadlineMs = 60_000) =>
  download(new URL(`${base}/${mode}`), { isNamed: true, deadlineMs });

describe('a download', () => {
  it.each(['plain list', 'packed list', 'list packed by another name', 'moved'])(
    'gives the text of a %s',
    async mode => {
      expect((await fetched(mode))?.text).toBe('a.com\nb.com\n');
    },
  );

  it.each<[string, string]>([
    ['to a file', 'redirects from http: to file:'],
    ['to the metadata service', 'redirects to where it may not: plain http'],
    ['to another local port', 'redirects to where it may not: 127.0.0.1 is no public address'],
    ['to another scheme', 'redirects from http: to https:'],
    ['round and round', 'more than 3 redirects'],
    ['to nowhere', 'answered 302'],
    ['gzip of nothing', 'incorrect header check'],
    ['another packing', 'came as br'],
    ...OTHERS.map(coding => [coding, `came as ${coding}, which was not asked for`] as [string, string]),
    ['slow packed body', 'not complete within 0.4 s'],
    ['gzip that never holds anything', 'not complete within 0.4 s'],
    ['slow body', 'not complete within 0.4 s'],
    ['no answer', 'not complete within 0.4 s'],
    ['cut short', 'the connection was cut before the list was complete'],
    ['to no address', 'redirects to what is no address'],
    ['web page', 'a web page, not a list'],
    ['login page as text', 'a web page, not a list'],
    ['another protocol', 'the connection ended without an answer'],
    ['gone', 'answered 404'],
    ['broken', 'answered 500'],
  ])('%s is refused', async (mode, why) => {
    await expect(fetched(mode, why.includes('0.4 s') ? 400 : undefined)).rejects.toThrow(
      `${base}/${encodeURI(mode)}: ${why}`,
    );
  });

  it.each([
    ['cut, and nobody can tell', 'a.com\nb.com\n'],
    ['whole without a last line end', 'a.com\nb.com\nc.com'],
    ['in chunks without a last line end', 'a.com\nb.com\nc.com'],
    ['packed without a last line end', 'a.com\nb.com\nc.com'],
  ])('a list that is %s has no name that is half of one', async (mode, text) => {
    const url = new URL(`${base}/${mode}`);
    expect((await download(url, { isNamed: true, byLines: true }))?.text).toBe(text);
  });

  it('a document that is not made of lines comes whole, also without its length', async () => {
    expect((await fetched('cut, and nobody can tell'))?.text).toBe('a.com\nb.com\nc.co');
  });

  it.each(['gzip bomb', 'gzip bomb that comes whole', 'endless body'])('%s ends at 32 MiB', async mode => {
    const url = new URL(`${base}/${mode}`);
    await expect(download(url, { isNamed: true })).rejects.toThrow('larger than 32 MiB');
    expect(sent).toBeLessThan(64 * MIB);
  });

  it('a list that is still being unpacked at the deadline ends there', async () => {
    const url = new URL(`${base}/gzip bomb that comes whole`);
    const options = { isNamed: true, deadlineMs: 50, mostBytes: Number.POSITIVE_INFINITY };
    await expect(download(url, options)).rejects.toThrow('not complete within 0.05 s');
  });

  it('of a list that came whole, and is still being unpacked, no more than the wanted beginning is', async () => {
    const url = new URL(`${base}/gzip bomb that comes whole`);
    const { text } = (await download(url, { isNamed: true, firstBytes: 100_001 }))!;
    expect(text.length).toBeGreaterThan(100_000);
    expect(text.length).toBeLessThan(2 * MIB);
  });

  it.each(['endless body', 'endless packed body'])(
    '%s of which the beginning is wanted gives whole lines of that, and asks for no more',
    async mode => {
      sent = 0;
      const url = new URL(`${base}/${mode}`);
      const { text } = (await download(url, { isNamed: true, firstBytes: 100_001 }))!;
      expect(text.length).toBeGreaterThan(99_900);
      expect(text.length).toBeLessThan(2 * MIB);
      expect(text.endsWith('.com\n')).toBe(true);
      expect(sent).toBeLessThan(16 * MIB);
    },
  );

  it('a list that is shorter than the beginning that is wanted comes whole', async () => {
    const url = new URL(`${base}/plain list`);
    expect((await download(url, { isNamed: true, firstBytes: 100 }))?.text).toBe('a.com\nb.com\n');
  });

  it('reaches no private address but the one that an operator named', async () => {
    const url = new URL(`${base}/plain list`);
    await expect(download(url, { isNamed: false })).rejects.toThrow('127.0.0.1 is no public address');
  });

  it('reaches no name that stands for a private address, unless an operator named it', async () => {
    const url = new URL(base.replace('http://127.0.0.1', 'https://localhost'));
    const strange = /localhost is at (127\.0\.0\.1|::1), which is no public address/;
    await expect(download(url, { isNamed: false })).rejects.toThrow(strange);
    // It speaks plain http: whoever comes so far was let through.
    await expect(download(url, { isNamed: true })).rejects.toThrow(/wrong version number|SSL/i);
  });
});

describe('an address that lists may come from', () => {
  it.each([
    ['https://lists.example.com/a.txt', true],
    ['https://8.8.8.8/a.txt', true],
    ['https://10.0.0.5/a.txt', true],
    ['https://[fd00::5]/a.txt', true],
    ['http://127.0.0.1:8000/a.txt', true],
    ['http://[::1]/a.txt', true],
    ['http://lists.example.com/a.txt', false],
    ['http://localhost/a.txt', false],
    ['http://127.example.com/a.txt', false],
    ['http://10.0.0.5/a.txt', false],
    ['https://me:secret@lists.example.com/a.txt', false],
    ['ftp://lists.example.com/a.txt', false],
    ['file:///etc/passwd', false],
    ['data:text/plain,a.com', false],
  ])('%s named by an operator: %s', (address, isFine) => {
    expect(addressProblem(new URL(address), true) === undefined).toBe(isFine);
  });

  it.each([
    'https://10.0.0.5/',
    'https://169.254.169.254/',
    'https://[::ffff:127.0.0.1]/',
    'https://0x7f.1/',
  ])('%s is none of its own accord', address => {
    expect(addressProblem(new URL(address), false)).toMatch(/no public address/);
  });
});
