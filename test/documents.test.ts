import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { referenceRoutes } from '../scripts/reference.ts';
import { packageFeeds } from '../src/feeds/packages.ts';
import { WEB_FEEDS } from '../src/feeds/web.ts';
import { type DnsServer, startDns } from './support/dns.ts';
import { bareEnvironment, LONG_LISTS } from './support/environment.ts';
import { CLI, hasTool, ROOT, type Running, startServer } from './support/process.ts';
import { temporaryFolder } from './support/service.ts';

const DOCUMENTS = globSync(['*.md', 'docs/*.md', 'client/*.md'], { cwd: ROOT }).sort();
const PLACES = ['', '{bench,bin,client,console,data,deploy,docs,scripts,src,test}/**/'];
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const SCRIPTS = Object.keys(JSON.parse(textOf('package.json')).scripts);

test('the README is a front page: 700 words at the most', () => {
  expect(textOf('README.md').split(/\s+/).length).toBeLessThanOrEqual(700);
});

test.each(DOCUMENTS)('%s links to what is there, and names scripts that are', file => {
  const text = textOf(file);
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(found => found[1]!);
  expect(links.filter(link => !existsSync(join(ROOT, dirname(file), link)))).toEqual([]);
  const scripts = [...text.matchAll(/npm run ([a-z:]+)/g)].map(found => found[1]!);
  expect(scripts.filter(name => !SCRIPTS.includes(name))).toEqual([]);
});

/** Metrics of ours that no document has a word about. What the changelog says of one is not where anybody looks it up. */
function unnamed(metrics: Iterable<string>): string[] {
  const manual = DOCUMENTS.filter(file => file !== 'CHANGELOG.md');
  const named = new Set(manual.flatMap(file => textOf(file).match(/domain_risk_\w+/g) ?? []));
  return [...new Set(metrics)].filter(name => !named.has(name)).sort();
}

test('every metric of the sources is named in a document, those too that few settings bring', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(textOf);
  const metrics = sources.flatMap(text => text.match(/(?<=')domain_risk_\w+(?=')/g) ?? []);
  expect(metrics).toContain('domain_risk_workers_replaced_total');
  expect(unnamed(metrics)).toEqual([]);
});

test('every path of the API is named in a document', () => {
  const manual = DOCUMENTS.filter(file => file !== 'CHANGELOG.md')
    .map(textOf)
    .join();
  const isNamed = (path: string) =>
    new RegExp(`${path.replace(/\{\w+\}/, '[^/\\s`]+')}(?![\\w/])`).test(manual);
  expect(
    referenceRoutes()
      .filter(({ path }) => !isNamed(path))
      .map(({ path }) => path),
  ).toEqual([]);
});

/** By their paths, or by the last part where the sentence says what folder that is in. */
test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names only files that are there', file => {
  const there = PLACES.flatMap(place =>
    globSync(`${place}*.{ts,tsx,mjs,json,yaml,csv,txt,md}`, { cwd: ROOT }),
  );
  const named = textOf(file).match(/[\w-][\w./-]*\.(?:tsx?|mjs|json|yaml|csv|txt|md)\b/g) ?? [];
  expect(named.length).toBeGreaterThan(50);
  const isThere = (name: string) => there.some(path => `/${path}`.endsWith(`/${name}`));
  const gone = [...new Set(named)].filter(name => !name.startsWith('node_modules/') && !isThere(name));
  expect(gone).toEqual([]);
});

test('every disposable list and every one from the web has its row in docs/lists.md, with its licence', () => {
  const rows = textOf('docs/lists.md')
    .split('\n')
    .filter(line => line.startsWith('| '));
  const feeds = [...packageFeeds(), ...WEB_FEEDS].map(({ feed }) => feed);
  const ours = feeds.filter(feed => feed.kind === 'disposable' || !feed.origin.startsWith('npm '));
  const without = ours.filter(
    feed => !rows.some(row => row.startsWith(`| ${feed.id} `) && row.includes(` ${feed.licence} `)),
  );
  expect(without.map(({ id }) => id)).toEqual([]);
  // Licences that ask to name the makers.
  const thanks = textOf('docs/lists.md').match(/^[^|].*creativecommons\.org\/licenses\/.*$/gm) ?? [];
  const unthanked = feeds.filter(
    ({ id, licence }) => licence.startsWith('CC-BY') && !thanks.some(line => line.includes(id)),
  );
  expect(unthanked.map(({ id }) => id)).toEqual([]);
});

/** The blocks of a document that somebody would paste into a shell. */
const shellOf = (file: string) => [...textOf(file).matchAll(/^```sh\n(.*?)^```$/gms)].map(found => found[1]!);

/** What a document says that its commands answer. */
const answersOf = (file: string) =>
  [...textOf(file).matchAll(/^```json\n(.*?)^```$/gms)].map(found => JSON.stringify(JSON.parse(found[1]!)));

/** What a test of its own runs: from a bare clone, and with the network. */
const ELSEWHERE = /^(?:git clone|npm (?:start|test)|\.\/domain-risk feeds update)\b/;

describe.runIf(hasTool('curl'))('what a reader pastes into a shell, and sees of a server', () => {
  const TOKEN = 'token-of-the-documents-0123456789abcdef';
  let dns: DnsServer;
  let server: Running;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    dns = await startDns();
    const env = { ADMIN_TOKEN: TOKEN, DNS_SERVERS: dns.address };
    server = await startServer({ env, cleanup: end => void ends.push(end) });
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    await dns.close();
  });

  test('every metric that a server tells is named in a document', async () => {
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    const metrics = [...text.matchAll(/^# TYPE (domain_risk_\w+)/gm)].map(found => found[1]!);
    expect(metrics).toContain('domain_risk_verdicts_total');
    expect(unnamed(metrics)).toEqual([]);
  });

  const files = ['README.md', ...DOCUMENTS.filter(file => file.startsWith('docs/'))];
  test.each(files.filter(file => shellOf(file).length > 0))('%s', async file => {
    const folder = temporaryFolder();
    // What a reader is told to have.
    writeFileSync(join(folder, 'ours.csv'), 'domain,action\npartner.example.net,allow\n');
    const program = join(folder, 'domain-risk');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, { mode: 0o700 });
    const commands = shellOf(file)
      .join('\n')
      .split('\n')
      .filter(line => !ELSEWHERE.test(line))
      .join('\n')
      .replaceAll('drk_…', server.firstKey!)
      .replaceAll('$(openssl rand -hex 32)', TOKEN)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${server.port}`)
      .replaceAll('curl ', 'curl --silent --show-error --fail ')
      .replaceAll('--limit 5000', '--limit 50')
      .replace(/backup-\d{4}-\d\d-\d\d\.db/g, 'backup-$(date +%F).db');
    const env = bareEnvironment({
      ...{ DATA_DIR: server.folder, DNS_SERVERS: dns.address, DNS_SENTINELS: '' },
      FEEDS_OFF: LONG_LISTS.join(),
    });
    const shell = spawn('sh', ['-e', '-c', commands], { cwd: folder, env });
    let said = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const code = await new Promise(resolve => shell.on('close', resolve));
    expect([code, said]).toEqual([0, expect.any(String)]);
    if (file === 'README.md') for (const answer of answersOf(file)) expect(said).toContain(answer);
  });
});
