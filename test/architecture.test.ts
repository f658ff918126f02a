import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

const textOf = (file: string) => readFileSync(join(SRC, '..', file), 'utf8');

interface Import {
  readonly from: string;
  /** A file of ours relative to src/, or the name of a package or builtin. */
  readonly to: string;
  readonly names: readonly string[];
  readonly isType: boolean;
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  path => path.endsWith('.ts') && !path.endsWith('.d.ts'),
);
const IMPORTS: readonly Import[] = FILES.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(join(SRC, from), 'utf8');
  const found: Import[] = [];
  const add = (specifier: string, clause: string, isType: boolean) => {
    const to = specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : specifier;
    const names = [...clause.matchAll(/\b(?!type\b|as\b)\w+/g)].map(match => match[0]);
    const onlyTypes = /^\{/.test(clause) && [...clause.matchAll(/[{,]\s*(\w+)/g)].every(m => m[1] === 'type');
    found.push({ from, to, names, isType: isType || onlyTypes });
  };
  for (const match of text.matchAll(/^(?:import|export)(\s+type)?\s+([^;'"]*?)\s*from\s+'([^']+)'/gms)) {
    add(match[3]!, match[2]!, match[1] !== undefined);
  }
  for (const match of text.matchAll(/(?:^import\s|\bimport\()\s*'([^'\n]+)'/gm)) add(match[1]!, '', false);
  return found;
}

/** The rooms of the house: folders of src/, and for files at its top what they are. */
type Room =
  | 'core'
  | 'verb'
  | 'root'
  | 'commands'
  | 'http'
  | 'dns'
  | 'feeds'
  | 'store'
  | 'store/sqlite'
  | 'store/postgres';
const ROOTS = new Set([
  'alerts.ts',
  'backup-folder.ts',
  'backup-record.ts',
  'binding.ts',
  'cli.ts',
  'command-store.ts',
  'compose.ts',
  'config.ts',
  'database.ts',
  'installation.ts',
  'kept.ts',
  'make.ts',
  'settings.ts',
  'observe.ts',
  'observe-updates.ts',
  'regular-file.ts',
  'reload.ts',
  'scheduled-backups.ts',
  'exposed.ts',
  'secret-files.ts',
  'service.ts',
  'setting-sources.ts',
  'setting-values.ts',
  'surface.ts',
  'webhook.ts',
]);
/** `admit.ts` is one, and what is below `admit/` are its parts. */
const verbOf = (path: string) => path.split('/')[0]!.replace(/\.ts$/, '');

function roomOf(path: string): Room {
  const [folder, file, inner] = path.split('/');
  if (folder === 'store' && inner !== undefined) return `${folder}/${file}` as Room;
  if (folder === 'workers') return 'root';
  if (file !== undefined) return FILES.includes(`${folder}.ts`) ? 'verb' : (folder as Room);
  return ROOTS.has(path) ? 'root' : 'verb';
}

/** Who may import whom. Verbs may know the types of other verbs, never call them; nobody else knows a verb's parts. */
const MAY: Readonly<Record<Room, readonly Room[]>> = {
  core: ['core'],
  verb: ['core'],
  dns: ['dns', 'core'],
  feeds: ['feeds', 'core'],
  // What both stores share, and the move from one to the other. Neither of them knows the other.
  store: ['store', 'store/sqlite', 'store/postgres', 'core'],
  'store/sqlite': ['store/sqlite', 'store', 'core'],
  'store/postgres': ['store/postgres', 'store', 'core'],
  http: ['http', 'core', 'verb'],
  commands: ['commands', 'root', 'core', 'verb', 'http', 'dns', 'feeds', 'store', 'store/sqlite'],
  root: [
    'root',
    'commands',
    'core',
    'verb',
    'http',
    'dns',
    'feeds',
    'store',
    'store/sqlite',
    'store/postgres',
  ],
};

const isOurs = ({ to }: Import) => FILES.includes(to);
const shown = ({ from, to }: Import) => `${from} → ${to}`;

test('every folder is a room of the house', () => {
  expect([...new Set(FILES.map(roomOf))].filter(room => !(room in MAY))).toEqual([]);
  expect(IMPORTS.length).toBeGreaterThan(100);
  const broken = IMPORTS.filter(one => one.to.endsWith('.ts') && !isOurs(one) && !one.to.startsWith('..'));
  expect(broken.map(shown)).toEqual([]);
});

test('nobody imports what lies beyond their borders', () => {
  const trespassers = IMPORTS.filter(isOurs).filter(one => {
    const [from, to] = [roomOf(one.from), roomOf(one.to)];
    const isOwn = verbOf(one.from) === verbOf(one.to);
    if (to === 'verb' && one.to.includes('/')) return !isOwn;
    return !MAY[from].includes(to) && !(from === 'verb' && to === 'verb' && (one.isType || isOwn));
  });
  expect(trespassers.map(shown)).toEqual([]);
});

test('the map in ARCHITECTURE.md has every file at the top of src/, every folder, and each verb a row', () => {
  const map = textOf('ARCHITECTURE.md').match(/^```\n(.*?)^```$/ms)![1]!;
  const named = new Set(map.match(/[\w-]+(?:\.ts|\/)/g));
  const tops = new Set(FILES.map(path => (path.includes('/') ? `${path.split('/')[0]}/` : path)));
  expect([...tops].filter(name => !named.has(name))).toEqual([]);
  const rows = [...map.matchAll(/^ {2}([\w-]+\.ts) +VERB /gm)].map(match => match[1]!);
  expect(rows.sort()).toEqual(
    [...tops].filter(path => path.endsWith('.ts') && roomOf(path) === 'verb').sort(),
  );
});

test('every dependency has its line in ARCHITECTURE.md, a list its row among the feeds', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(textOf('package.json'));
  const told = textOf('ARCHITECTURE.md') + textOf('src/feeds/packages.ts');
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(names.filter(name => !name.startsWith('@types/') && !told.includes(name))).toEqual([]);
});

/** Builtins of which the core may have the pure parts, and libraries that are pure. */
const PURE: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': [
    ...['hash', 'createHash', 'timingSafeEqual'],
    ...['KeyObject', 'createPrivateKey', 'createPublicKey'],
  ],
  'node:util': ['isDeepStrictEqual'],
  'node:zlib': ['crc32'],
  'node:net': ['BlockList', 'isIP', 'isIPv4', 'isIPv6'],
  tldts: ['getDomain', 'getPublicSuffix', 'parse'],
  'tldts/dist/cjs/src/data/trie.js': ['edgeChild', 'edgeLength', 'edgeStart', 'labelText', 'rulesRoot'],
  tr46: ['toASCII', 'toUnicode'],
  // Without a time to live it knows no clock.
  'lru-cache': ['LRUCache'],
  // A table of names, which is part of what a name is.
  '../data/suffixes.json': ['TABLE'],
  // The form of a file that clients read.
  '../client/src/fuse.ts': ['ABOVE', 'FilterHead', 'HEAD_BYTES', 'headBytes', 'Layout', 'spotsOf'],
  // Words that make a mailbox a role's.
  '../data/role-mailboxes.json': ['TABLE'],
  '@zootools/email-spell-checker': ['run'],
};

test('the core is pure: no I/O, no clock, no chance', () => {
  const impure = IMPORTS.filter(one => roomOf(one.from) === 'core' && !isOurs(one)).filter(
    ({ to, names }) => !names.every(name => PURE[to]?.includes(name)),
  );
  expect(impure.map(one => `${shown(one)} {${one.names}}`)).toEqual([]);
  const clocks = FILES.filter(path => roomOf(path) === 'core').filter(path =>
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bprocess\b|\bset(?:Timeout|Interval|Immediate)\b|\basync\b|\bawait\b|\bfetch\(/.test(
      withoutComments(readFileSync(join(SRC, path), 'utf8')),
    ),
  );
  expect(clocks).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, "''");
}

test('verbs reach the world through ports only: no file, socket or process of their own', () => {
  const world = new Set([
    'fs',
    'fs/promises',
    'net',
    'dns',
    'dgram',
    'http',
    'https',
    'child_process',
    'sqlite',
  ]);
  const direct = IMPORTS.filter(
    ({ from, to }) => roomOf(from) === 'verb' && world.has(to.replace('node:', '')),
  );
  expect(direct.map(shown)).toEqual([]);
});

test('builtins are imported by their full name', () => {
  expect(
    IMPORTS.filter(({ to }) => !to.startsWith('node:') && builtinModules.includes(to)).map(shown),
  ).toEqual([]);
});

test('a thread of the store loads no table of names: each one starts several, and every test more', () => {
  const loaded = new Set(['store/sqlite/worker.ts']);
  for (const file of loaded)
    for (const { to } of IMPORTS.filter(({ from, isType }) => from === file && !isType)) loaded.add(to);
  expect([...loaded].filter(to => !FILES.includes(to) && !to.startsWith('node:'))).toEqual([]);
});

test("a server does not import Node's http, which loads a client with it that nobody uses; updates do", () => {
  expect(IMPORTS.filter(({ to, isType }) => to === 'node:http' && !isType).map(shown)).toEqual([
    'feeds/download.ts → node:http',
    'feeds/proxy.ts → node:http',
  ]);
});

test('there are no cycles', () => {
  const next = Map.groupBy(IMPORTS.filter(isOurs), ({ from }) => from);
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const { to } of next.get(file) ?? []) walk(to, [...path, file]);
    done.add(file);
  };
  for (const file of FILES) walk(file, []);
  expect(cycles).toEqual([]);
});

test('there are no barrels and no rooms for leftovers', () => {
  const passedOn = FILES.filter(path =>
    /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s*from/m.test(readFileSync(join(SRC, path), 'utf8')),
  );
  expect(passedOn).toEqual([]);
  const vague = FILES.filter(path =>
    /(^|\/)(index|types|utils?|helpers?|constants|common|misc)\.ts$/.test(path),
  );
  expect(vague).toEqual([]);
});

test('no file is longer than what can be read in one go', () => {
  const long = FILES.filter(path => readFileSync(join(SRC, path), 'utf8').split('\n').length > 251);
  expect(long).toEqual([]);
});

const MOST_LINES = 60;
/** A function, a method, or anything whose arrow opens a block; not what looks like one: a call, a loop, a choice. */
const FUNCTION =
  /^\s*(?:(?:export )?(?:async )?function\b|(?:(?:static|async|override|get|set) )*\*?#?(?!(?:if|for|while|switch|catch|return|await)\b)\w+(?:<.*>)?\(.*[{(]$|.*=> \{$)/;

/** By the form that Biome gives them: one ends with the first line that is indented no deeper and opens nothing. */
function longFunctionsIn(text: string): string[] {
  const lines = text.split('\n');
  const depths = lines.map(line => line.search(/\S/));
  return lines.flatMap((line, at) => {
    if (!FUNCTION.test(line)) return [];
    const isEnd = (one: number) =>
      depths[one]! >= 0 && depths[one]! <= depths[at]! && !lines[one]!.endsWith('{');
    let end = at + 1;
    while (end < lines.length && !isEnd(end)) end++;
    const length = end - at + 1;
    return length > MOST_LINES && lines[end]?.trim().startsWith('}')
      ? [`${line.trim()} ${length} lines`]
      : [];
  });
}

test('no function has more than 60 lines, a method or one within another neither', () => {
  const lines = (count: number, indent: string) => `${indent}  a();\n`.repeat(count);
  const [whole, long] = [lines(58, ''), lines(59, '')];
  expect(longFunctionsIn(`function a() {\n${whole}}\n`)).toEqual([]);
  expect(longFunctionsIn(`export async function a() {\n${long}}\n`)).toEqual([
    'export async function a() { 61 lines',
  ]);
  expect(longFunctionsIn(`function a(\n  b: B,\n): C {\n${long}}\n`)).toHaveLength(1);
  expect(longFunctionsIn(`class A {\n  async #b() {\n${lines(59, '  ')}  }\n}\n`)).toHaveLength(1);
  expect(longFunctionsIn(`const a = () => {\n${long}};\n`)).toHaveLength(1);
  expect(longFunctionsIn(`class A {\n${long}}\n`)).toEqual([]);
  const found = FILES.flatMap(path =>
    longFunctionsIn(readFileSync(join(SRC, path), 'utf8')).map(one => `${path}: ${one}`),
  );
  expect(found).toEqual([]);
});

test('the client package imports nothing at all', () => {
  const folder = fileURLToPath(new URL('../client/src', import.meta.url));
  const reaching = readdirSync(folder)
    .filter(path => path.endsWith('.ts'))
    .flatMap(path =>
      [...readFileSync(join(folder, path), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)]
        .map(match => match[1]!)
        .filter(specifier => !specifier.startsWith('./')),
    );
  expect(reaching).toEqual([]);
});

/** What one of the two stores has to do that the other need not. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'store/sqlite': [
    'asking',
    'before',
    'codes',
    'connection',
    'copier',
    'copies',
    'guard',
    'heads',
    'here',
    'in-use',
    'lock',
    'moved',
    'one-name',
    'own-copy',
    'owner',
    'pair',
    'questions',
    'restore',
    'restore-rows',
    'shared-commits',
    'thread',
    'transaction',
    'whole-copy',
    'worker',
  ],
  'store/postgres': ['connect', 'counting', 'rights', 'rows', 'session', 'turn'],
};

test('the same noun has the same file name in both stores', () => {
  const [sqlite, postgres] = Object.entries(OWN).map(([room, own]) =>
    FILES.filter(path => dirname(path) === room)
      .map(path => path.slice(room.length + 1, -'.ts'.length))
      .filter(name => !own.includes(name))
      .sort(),
  );
  expect(sqlite).toEqual(postgres);
});
