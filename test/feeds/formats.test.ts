/** Lists of operators' own, as they may be written and where they may come from. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type AddedFeed, type Format, feedOf, parseFeedName, shownPlace } from '../../src/core/added-feed.ts';
import { MOST_BYTES } from '../../src/core/feed.ts';
import { shapeOf } from '../../src/feeds/formats.ts';
import { freshFeeds } from '../../src/feeds/fresh.ts';
import { readFreeModule } from '../../src/feeds/readers.ts';

const read = (format: Format, text: string) => shapeOf({ kind: 'disposable', format }).read(text).names;

test.each<[Format, string, readonly string[]]>([
  ['lines', '# mine\na.com\r\n\n// more\n b.com', ['a.com', 'b.com']],
  ['lines', 'a.com # seen\nb.com\t// seen\nhttps://c.com', ['a.com', 'b.com', 'https://c.com']],
  ['json', '["a.com", "b.com"]', ['a.com', 'b.com']],
  ['json', '[{"domain": "a.com", "note": 1}, "b.com"]', ['a.com', 'b.com']],
  ['json', '{"domains": ["a.com"], "updated": "today"}', ['a.com']],
  ['csv', 'note,Domain\n"first","a.com"\n,b.com\n', ['a.com', 'b.com']],
  ['csv', '1,a.com\n2,b.com', ['a.com', 'b.com']],
  ['csv', 'a.com;x\nb.com;y', ['a.com', 'b.com']],
  ['csv', 'name\na.com\nshort,row', ['a.com', 'short']],
  ['csv', 'name,domain\nbooking.com,a.com\n"slack.com","b.com"', ['a.com', 'b.com']],
  ['csv', 'id,host,domain\n1,mx.google.com,a.com', ['a.com']],
  [
    'csv',
    'note,domain\n"seen at shop.com, other-shop.com",a.com\n"x\n""y"", b.de" ,b.com',
    ['a.com', 'b.com'],
  ],
  ['csv', '# by us, for us\ndomain;note\r\na.com;"b;c"\r\n"b.com";c.com, d.com\r\n', ['a.com', 'b.com']],
  ['csv', 'note,domain\nseen at shop.com, other-shop.com,a.com\nx,b.com', ['', 'b.com']],
  ['csv', 'domain,note\na.com,b.com,c.com\nb.com', ['a.com', 'b.com']],
  ['csv', '1\t"a.com"\n2\tb.com', ['a.com', 'b.com']],
])('%s: %j', (format, text, names) => {
  expect(read(format, text)).toEqual(names);
});

test.each<[Format, string]>([
  ['json', '{"names": ["a.com"]}'],
  ['json', '[1, 2]'],
  ['json', '[null]'],
  ['json', 'a.com'],
  ['csv', 'nothing,here\na.com'],
  ['csv', ''],
  ['csv', 'booking.com,a.com'],
  ['csv', 'name,host\nbooking.com,a.com'],
  ['csv', 'domain\n"a.com\nb.com'],
  ['csv', 'domain\n"a".com\nb.com'],
])('%s refuses %j', (format, text) => {
  expect(() => read(format, text)).toThrow();
});

test.each<[Format, string, string]>([
  ['json', `[${'{},'.repeat(4_000_000)}{}]`, 'more than 4000000 values'],
  ['json', '['.repeat(4_000_001), 'more than 4000000 values'],
  ['lines', 'a\n'.repeat(1_500_001), 'more than 1500000 lines'],
  ['csv', `domain\n${'a\n'.repeat(1_500_001)}`, 'more than 1500000 lines'],
  ['csv', ','.repeat(1_001), 'more than 1000 cells in a row'],
  ['csv', `domain\n${'ü.de,'.repeat(1_001)}`, 'more than 1000 cells in a row'],
  ['csv', `domain\n"${'a'.repeat(100_000)}"`, 'more than 100000 letters in a cell'],
])('%s: a list with more than any list holds is refused before it takes memory', (format, text, problem) => {
  expect(() => read(format, text)).toThrow(problem);
});

test('a package that holds more than any list says so, and not that its list is missing', () => {
  const text = `exports.freeEmailDomains = void 0;\nexports.freeEmailDomains = [${'0,'.repeat(4_000_000)}0];\n`;
  expect(() => readFreeModule(text)).toThrow('more than 4000000 values');
});

test('of a popularity list the first 100,000 names count', () => {
  const text = Array.from({ length: 100_002 }, (_, at) => `n${at}.com`).join('\n');
  expect(shapeOf({ kind: 'popular', format: 'lines' }).read(text).names).toHaveLength(100_000);
});

test.each(['', '-a', '1a', 'A', 'a b', 'a.b', 'a/../b', 'a'.repeat(41), '__proto__'])(
  '%j is no name',
  name => {
    expect(parseFeedName(name).ok).toBe(false);
  },
);

test('an address is shown without what may be secret in it', () => {
  expect(shownPlace('https://lists.example:8443/a.txt?token=secret#x')).toBe(
    'https://lists.example:8443/a.txt',
  );
  expect(shownPlace('/lists/a.txt')).toBe('/lists/a.txt');
});

test('an address in the own network may be named, and what is too large or no list is refused', async () => {
  const server = createServer((req, res) => {
    if (req.url!.startsWith('/list.json')) return void res.end('{"domains": ["own.com"]}');
    if (req.url!.startsWith('/cut')) return void req.socket.end('HTTP/1.1 200 OK\r\n\r\n["own.com"]\nb.co');
    if (req.url!.startsWith('/page')) return void res.end('<html>Log in');
    res.end(Buffer.alloc(MOST_BYTES + 1, 'a'));
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const added = (path: string, format: Format = 'json'): AddedFeed => ({
    ...{ name: 'mine', place: `http://127.0.0.1:${port}${path}?q=1`, kind: 'disposable', format },
    ...{ verified: true, addedAt: 1 },
  });
  const source = (path: string, format?: Format) =>
    freshFeeds(new Map(), [added(path, format)]).find(({ feed }) => feed.id === 'mine')!;
  expect(source('/').feed).toEqual(feedOf(added('/')));
  expect(source('/').feed).toMatchObject({ family: 'verified', origin: `http://127.0.0.1:${port}/` });
  expect((await source('/list.json').read())?.names).toEqual(['own.com']);
  expect((await source('/cut', 'lines').read())?.names).toEqual(['["own.com"]']);
  await expect(source('/cut').read()).rejects.toThrow('JSON');
  await expect(source('/page').read()).rejects.toThrow('a web page, not a list');
  await expect(source('/large').read()).rejects.toThrow('larger than 32 MiB');
});
