import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { endingNpm } from '../../src/commands/ending-npm.ts';
import { freshFeeds, placeProblem } from '../../src/feeds/fresh.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { SOURCES } from '../../src/feeds/sources.ts';
import { WEB_FEEDS } from '../../src/feeds/web.ts';
import { leadTo, startLists, startProxy } from '../support/proxied.ts';
import { temporaryFolder } from '../support/service.ts';

const readFrom = async (id: string, place: string) =>
  (await freshFeeds(new Map([[id, place]]))
    .find(({ feed }) => feed.id === id)!
    .read())!;

function written(text: string, name = 'list.txt'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

describe('the table of feeds', () => {
  it('knows every feed once, by https where that is fresher', () => {
    const ids = SOURCES.updated.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(freshFeeds().map(({ feed }) => feed)).toEqual(SOURCES.updated);
    for (const { feed } of WEB_FEEDS) expect(feed.origin, feed.id).toMatch(/^https:\/\//);
  });
});

describe('a feed from a place that an operator names', () => {
  it('is one name per line, without comments', async () => {
    const path = written('# castle\r\na.com\r\n\r\n  B.com \n// old\nconstructor\n');
    const { names, version } = await readFrom('castle', path);
    expect(names).toEqual(['a.com', 'B.com', 'constructor']);
    expect(version).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/);
  });

  it('has the shape that its makers publish, and no member of an object passes for another', async () => {
    const domains = '{"__proto__":{"hosts":{"__proto__":{"firstseen":1},"a.com":{"firstseen":1762130000}}}}';
    const { names, since } = await readFrom('fakefilter', written(`{"domains":${domains}}`));
    expect(names).toEqual(['__proto__', 'a.com']);
    expect(since?.get('a.com')).toBe('2025-11-03');
    expect(({} as Record<string, unknown>).firstseen).toBeUndefined();
  });

  it.each(['1e13', '1e300', '253402300800', '-1', '"soon"', 'null'])(
    'may tell a day that is none (%s) of a name without failing the others',
    async odd => {
      const hosts = `{"odd.com":{"firstseen":${odd}},"a.com":{"firstseen":1762130000}}`;
      const read = await readFrom('fakefilter', written(`{"domains":{"x":{"hosts":${hosts}}}}`));
      expect(read.names).toEqual(['odd.com', 'a.com']);
      expect([...read.since!]).toEqual([['a.com', '2025-11-03']]);
    },
  );

  describe('and that is ranked', () => {
    it.each<[string, string, string[]]>([
      [
        'a table with a header',
        'GlobalRank,TldRank,Domain,TLD\n1,1,a.com,com\n2,1,b.org,org\n',
        ['a.com', 'b.org'],
      ],
      ['a table with a row that is cut off', 'GlobalRank,TldRank,Domain\n1,1,a.com\n99\n', ['a.com', '']],
      ['rank and name', '1,a.com\r\n2,b.org\r\n', ['a.com', 'b.org']],
      ['a name in each line', 'a.com\n\nb.org', ['a.com', 'b.org']],
    ])('may be %s', async (_, text, names) => {
      expect((await readFrom('majestic-million', written(text))).names).toEqual(names);
    });

    it('counts up to the first hundred thousand', async () => {
      const lines = Array.from({ length: 100_010 }, (_, at) => `${at},1,n${at}.com,com`);
      const { names } = await readFrom('majestic-million', written(`R,T,Domain,TLD\n${lines.join('\n')}\n`));
      expect([names.length, names[0], names.at(-1)]).toEqual([100_000, 'n0.com', 'n99999.com']);
    });

    it('may be as long as it likes: only its beginning is read, up to a whole line', async () => {
      const path = written(`a.com\n${'x'.repeat(99)}.com\n`.repeat(120_000));
      truncateSync(path, 80 * 2 ** 20);
      const { names } = await readFrom('majestic-million', path);
      expect(names).toHaveLength(100_000);
      const long = written(`${'y'.repeat(1_000)}\n`.repeat(13_000));
      const cut = await readFrom('majestic-million', long);
      expect(new Set(cut.names.map(name => name.length))).toEqual(new Set([1_000]));
    });
  });

  it('may be an unpacked npm package', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'package.json'), '{"version":"1.5.0"}');
    writeFileSync(join(folder, 'dist', 'index.js'), 'var blacklist_default = "a.com\\nb.com";\n');
    expect(await readFrom('is-burner-email', folder)).toEqual({
      version: '1.5.0',
      names: ['a.com', 'b.com'],
    });
    await expect(readFrom('castle', folder)).rejects.toThrow('does not come as an npm package');
  });

  it.each([
    ['castle', '<html>', 'a web page, not a list'],
    ['fakefilter', 'a.com', 'is not valid JSON'],
    ['fakefilter', '[]', 'is not an object'],
    ['majestic-million', '1,a.com,'.repeat(501), 'more than 1000 cells in a row'],
  ])('%s is refused when it holds %s', async (id, text, why) => {
    const path = written(text);
    await expect(readFrom(id, path)).rejects.toThrow(new RegExp(`^${path}: .*${why}`));
  });

  it('is refused when it is missing, no file or too large', async () => {
    await expect(readFrom('castle', '/nowhere/at/all')).rejects.toThrow('ENOENT');
    await expect(readFrom('castle', '/dev/null')).rejects.toThrow('neither a file nor a folder');
    const path = written('a.com\n');
    truncateSync(path, 33 * 2 ** 20);
    await expect(readFrom('castle', path)).rejects.toThrow('larger than 32 MiB');
  });

  it('is refused at once where a pipe that nobody writes to lies in its place', async () => {
    const folder = temporaryFolder();
    execFileSync('mkfifo', [join(folder, 'package.json')]);
    await expect(readFrom('castle', join(folder, 'package.json'))).rejects.toThrow('neither a file nor');
    await expect(readFrom('is-burner-email', folder)).rejects.toThrow('neither a file nor');
  });

  it.each([
    ['https://lists.example.com/castle.txt', true],
    ['./castle.txt', true],
    ['C/castle.txt', true],
    ['', false],
    ['https://', false],
    ['javascript:alert(1)', false],
  ])('%j can be asked for: %s', (place, isFine) => {
    expect(placeProblem(place) === undefined).toBe(isFine);
  });
});

describe('the newest release of a package', () => {
  afterEach(() => void vi.unstubAllEnvs());

  /** A program called npm that notes how it was called and then does what `script` says. */
  function npmThat(script: string): string {
    const folder = temporaryFolder();
    const program = `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/args\nenv > ${folder}/env\n${script}\n`;
    writeFileSync(join(folder, 'npm'), program);
    chmodSync(join(folder, 'npm'), 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    return folder;
  }
  /** What makes an archive of these files, as `npm pack` leaves one. */
  function packing(files: Record<string, string>): string {
    const folder = temporaryFolder();
    for (const [file, text] of Object.entries({ 'package.json': '{"version":"2.0.0"}', ...files })) {
      mkdirSync(dirname(join(folder, 'package', file)), { recursive: true });
      writeFileSync(join(folder, 'package', file), text);
    }
    return `tar -C ${folder} -czf packed.tgz package`;
  }
  const read = (id: string) =>
    freshFeeds()
      .find(({ feed }) => feed.id === id)!
      .read();
  const left = () => readdirSync(tmpdir()).filter(name => name.startsWith('domain-risk-feed-'));

  it('is fetched aside without running anything of it or telling it our secrets, read, and gone again', async () => {
    vi.stubEnv('ADMIN_TOKEN', 'canary-1');
    vi.stubEnv('DATABASE_URL', 'postgres://canary-2');
    vi.stubEnv('FIRST_KEY', 'canary-3');
    vi.stubEnv('FIRST_KEY_FILE', 'canary-6');
    vi.stubEnv('ADMIN_TOKEN_FILE', 'canary-7');
    vi.stubEnv('ALERT_WEBHOOK_SECRET', 'canary-4');
    vi.stubEnv('ALERT_WEBHOOK', 'https://hooks.example/canary-5');
    const folder = npmThat(packing({ 'dist/index.js': 'var blacklist_default = "a.com";' }));
    const before = left();
    expect(await read('is-burner-email')).toEqual({ version: '2.0.0', names: ['a.com'] });
    const args = readFileSync(join(folder, 'args'), 'utf8').split('\n');
    expect(args).toEqual(expect.arrayContaining(['pack', '--ignore-scripts', 'is-burner-email@latest']));
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain('canary');
    expect(left()).toEqual(before);
  });

  it.each([
    ['echo "npm error code E404" >&2; echo "npm error 404 Not Found" >&2; exit 1', '404 Not Found'],
    [
      'echo "npm error 404 Not Found - GET https://registry.corp/t0ken/x" >&2; exit 1',
      '404 Not Found - GET https://registry.corp$',
    ],
    ['exit 3', 'it ended with 3'],
    ['exit 0', 'npm brought nothing'],
    ['echo "no archive" > packed.tgz', 'incorrect header check'],
    ['head -c 34000000 /dev/zero > packed.tgz', 'larger than 32 MiB'],
    // What npm goes on with is not waited for.
    ['truncate -s 101000000 packed.tgz; sleep 60', 'npm took more than 96 MiB of disk for it'],
    [
      'head -c 4000000 /dev/zero | gzip > a; cat a a a a a a a a a a a a a a a a a > packed.tgz',
      'Cannot create a Buffer larger than',
    ],
    ['head -c 700 /dev/zero | tr "\\\\0" 7 | gzip > packed.tgz', 'a broken archive'],
    ['touch x; tar -czf packed.tgz x', 'package.json: not in the package'],
  ])('that npm cannot bring (%s) is a failed feed', async (script, why) => {
    npmThat(script);
    await expect(read('is-burner-email')).rejects.toThrow(
      new RegExp(`^npm package is-burner-email[:,].*${why}`),
    );
  });

  describe('of a list whose own address fails', () => {
    const list = '{"domains":{"x":{"hosts":{"a.com":{"firstseen":1762130000}}}}}';
    const npmWith = (times: string) =>
      npmThat(
        `if [ "$1" = view ]; then echo '${times}'; exit; fi\n${packing({ 'json/data_version2.json': list })}`,
      );
    // Nothing gets out.
    beforeEach(() => void vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1'));

    it.each([
      ['{"2.0.0":"2026-11-10T00:00:00Z"}', Date.UTC(2026, 10, 10)],
      ['{"1.0.0":"2026-11-10T00:00:00Z"}', null],
      ['{"2.0.0":"soon"}', null],
      ['no JSON', null],
      ['null', null],
    ])('is read in its place, and tells when it was published (%s) and why', async (times, releasedAt) => {
      npmWith(times);
      const why = /^npm package fakefilter, since https:\/\/raw\.githubusercontent\.com\/.*ECONNREFUSED/;
      expect(await read('fakefilter')).toMatchObject({
        ...{ version: '2.0.0', names: ['a.com'], releasedAt },
        fallback: expect.stringMatching(why),
      });
    });

    it('is read too where that unpacks to more than a list may have', async () => {
      // 100 kB, so that all of it is here before it is unpacked.
      const bomb = Buffer.concat(Array(6).fill(gzipSync(Buffer.alloc(2 ** 24, '\n'))));
      const port = await startLists(['raw.githubusercontent.com'], (_, res) =>
        res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      );
      await startProxy(socket => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        leadTo(port, socket);
      });
      npmWith('{"2.0.0":"2026-11-10T00:00:00Z"}');
      const { names, fallback } = (await read('fakefilter'))!;
      expect(names).toEqual(['a.com']);
      expect(fallback).toMatch(/^npm package fakefilter, since .*: larger than 32 MiB$/);
    });

    it('may fail too, which tells of both; a list without a package fails alone', async () => {
      const folder = npmThat('exit 3');
      await expect(read('fakefilter')).rejects.toThrow(
        /ECONNREFUSED.*; npm package fakefilter, .*ended with 3/,
      );
      rmSync(join(folder, 'args'));
      await expect(read('castle')).rejects.toThrow(/ECONNREFUSED[^;]*$/);
      expect(existsSync(join(folder, 'args'))).toBe(false);
    });
  });

  it('comes from the registry of this machine, whatever settings of npm lie in the temporary folder', async () => {
    const shared = temporaryFolder();
    writeFileSync(join(shared, 'package.json'), '{}');
    writeFileSync(join(shared, '.npmrc'), 'registry=http://stranger.example/\n');
    vi.stubEnv('TMPDIR', shared);
    // npm's project is the nearest folder that has one of these.
    const nearest = 'test -e package.json || test -e node_modules || cat ../.npmrc >&2';
    npmThat(`${nearest}; echo "npm error asked" >&2; exit 1`);
    await expect(read('is-burner-email')).rejects.toThrow(/npm could not fetch it: asked$/);
  });

  it('that is not what its registry says it is fails: npm itself checks the hash', async () => {
    const registry = createServer((req, res) => {
      if (req.url!.endsWith('.tgz')) return void res.end(gzipSync('another archive'));
      const dist = {
        tarball: `${base}/packed.tgz`,
        integrity: `sha512-${Buffer.alloc(64).toString('base64')}`,
      };
      const versions = { '2.0.0': { name: 'is-burner-email', version: '2.0.0', dist } };
      res.end(JSON.stringify({ name: 'is-burner-email', 'dist-tags': { latest: '2.0.0' }, versions }));
    });
    await new Promise<void>(done => registry.listen(0, '127.0.0.1', done));
    onTestFinished(() => void registry.close().closeAllConnections());
    const base = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    vi.stubEnv('npm_config_registry', base);
    // It tries again, and waits in between.
    vi.stubEnv('npm_config_fetch_retry_mintimeout', '1');
    vi.stubEnv('npm_config_fetch_retry_maxtimeout', '1');
    await expect(read('is-burner-email')).rejects.toThrow('sha512-AAAA');
  });

  it('that has no end is not fetched until the memory is full, by whatever npm is started with', async () => {
    const MIB = Buffer.alloc(2 ** 20);
    let poured = 0;
    const MOST = 1_000;
    function* pour() {
      for (; poured < MOST; poured++) yield MIB;
    }
    const registry = createServer((req, res) => {
      const dist = { tarball: `${base}/packed.tgz` };
      const versions = { '2.0.0': { name: 'is-burner-email', version: '2.0.0', dist } };
      if (!req.url!.endsWith('.tgz'))
        return void res.end(JSON.stringify({ 'dist-tags': { latest: '2.0.0' }, versions }));
      Readable.from(pour()).pipe(res);
    });
    await new Promise<void>(done => registry.listen(0, '127.0.0.1', done));
    onTestFinished(() => void registry.close().closeAllConnections());
    const base = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
    vi.stubEnv('npm_config_registry', base);
    npmThat(`${npm} "$@"; exit $?`);
    await expect(read('is-burner-email')).rejects.toThrow(/npm took more than \d+ MiB of (?:memory|disk)/);
    expect(poured).toBeLessThan(MOST);
  });

  it('ends with the command that a signal ends, and what it has fetched goes with it', async () => {
    const folder = npmThat('sleep 60');
    const before = left();
    const reading = endingNpm(() => read('is-burner-email')).catch((error: Error) => error);
    await vi.waitFor(() => expect(existsSync(join(folder, 'env'))).toBe(true), { timeout: 60_000 });
    const { kill } = process;
    const ended: unknown[] = [];
    vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
      if (pid < 0) return kill.call(process, pid, signal);
      ended.push([pid, signal]);
      return true;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    process.emit('SIGHUP', 'SIGHUP');
    expect(left()).toEqual(before);
    expect(ended).toEqual([[process.pid, 'SIGHUP']]);
    expect(String(await reading)).toContain('it ended with SIGKILL');
  });

  it('needs a folder to unpack it in, and says which', async () => {
    vi.stubEnv('TMPDIR', '/proc');
    await expect(read('is-burner-email')).rejects.toThrow(/unpacked in \/proc \(E\w+\): set TMPDIR/);
  });

  it('needs npm, and says so', async () => {
    vi.stubEnv('PATH', temporaryFolder());
    await expect(read('is-burner-email')).rejects.toThrow('npm is not installed here');
  });
});

it('a packed snapshot comes back as it was, and what is none does not', async () => {
  const text = '{"names":["a.com"]}\n'.repeat(1_000);
  const body = await PACKING.pack(text);
  expect(body.length).toBeLessThan(text.length / 10);
  expect(await PACKING.unpack(body)).toBe(text);
  await expect(PACKING.unpack('bm8gZ3ppcA==')).rejects.toThrow('incorrect header');
});
