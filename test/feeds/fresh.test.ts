import { chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { freshFeeds, placeProblem } from '../../src/feeds/fresh.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { SOURCES } from '../../src/feeds/sources.ts';
import { WEB_FEEDS } from '../../src/feeds/web.ts';
import { temporaryFolder } from '../support/service.ts';

const readFrom = (id: string, place: string) =>
  freshFeeds(new Map([[id, place]]))
    .find(({ feed }) => feed.id === id)!
    .read();

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
  const read = (id: string) =>
    freshFeeds()
      .find(({ feed }) => feed.id === id)!
      .read();
  const left = () => readdirSync(tmpdir()).filter(name => name.startsWith('domain-risk-feed-'));

  it('is installed aside without running anything of it or telling it our secrets, read, and gone again', async () => {
    vi.stubEnv('ADMIN_TOKEN', 'canary-1');
    vi.stubEnv('DATABASE_URL', 'postgres://canary-2');
    vi.stubEnv('FIRST_KEY', 'canary-3');
    vi.stubEnv('ALERT_WEBHOOK_SECRET', 'canary-4');
    const folder = npmThat(
      'mkdir -p node_modules/is-burner-email/dist && cd node_modules/is-burner-email && echo \'{"version":"2.0.0"}\' > package.json && echo \'var blacklist_default = "a.com";\' > dist/index.js',
    );
    const before = left();
    expect(await read('is-burner-email')).toEqual({ version: '2.0.0', names: ['a.com'] });
    const args = readFileSync(join(folder, 'args'), 'utf8').split('\n');
    expect(args).toEqual(expect.arrayContaining(['install', '--ignore-scripts', 'is-burner-email@latest']));
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain('canary');
    expect(left()).toEqual(before);
  });

  it.each([
    ['echo "npm error code E404" >&2; echo "npm error 404 Not Found" >&2; exit 1', '404 Not Found'],
    ['exit 3', 'it ended with 3'],
    ['exit 0', 'package.json: ENOENT'],
  ])('that npm cannot bring (%s) is a failed feed', async (script, why) => {
    npmThat(script);
    await expect(read('is-burner-email')).rejects.toThrow(
      new RegExp(`^npm package is-burner-email[:,].*${why}`),
    );
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
