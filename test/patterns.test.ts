import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import { parseAst } from 'vite';
import { expect, test } from 'vitest';

// By a binary where there is one for the platform (a third of the processor time, 2026-11-18), else in JavaScript.
process.env.RECHECK_BACKEND = 'auto';

const ROOT = join(import.meta.dirname, '..');

interface Pattern {
  readonly at: string;
  readonly source: string;
  readonly flags: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

/** Every pattern of a file: literals, and `RegExp` of text that the file itself spells out. */
function patternsIn(code: string, file: string): Pattern[] {
  const nodes = [...nodesOf(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' }))];
  const constants = new Map<string, string>();
  for (const { type, id, init } of nodes) {
    const text = type === 'VariableDeclarator' && isNode(init) ? textOf(init, constants) : undefined;
    if (text !== undefined && isNode(id)) constants.set(String(id.name), text);
  }
  return nodes.flatMap(node => {
    const at = `${file}:${code.slice(0, node.start).split('\n').length}`;
    const regex = node.regex as { pattern: string; flags: string } | null | undefined;
    if (regex) return [{ at, source: regex.pattern, flags: regex.flags }];
    const callee = node.callee as Node | undefined;
    if (callee?.type !== 'Identifier' || callee.name !== 'RegExp') return [];
    const [source, flags] = (node.arguments as Node[]).map(argument => textOf(argument, constants));
    if (source === undefined) throw new Error(`${at}: write this pattern so that it can be read here`);
    return [{ at, source, flags: flags ?? '' }];
  });
}

function textOf(node: Node, constants: ReadonlyMap<string, string>): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'Identifier') return constants.get(String(node.name));
  if (node.type !== 'TemplateLiteral') return undefined;
  const quasis = node.quasis as { value: { cooked: string } }[];
  const parts = (node.expressions as Node[]).map(expression => textOf(expression, constants));
  if (parts.includes(undefined)) return undefined;
  return quasis.map(({ value }, i) => value.cooked + (parts[i] ?? '')).join('');
}

/**
 * Nothing repeats: at each place it takes as many steps as it has characters. Or it begins at the beginning only, and one
 * character or class repeats, once: each length of it is tried with a rest that has an end. No proof is needed for these,
 * and half of the time went into them (2026-11-17).
 */
function isPlain(source: string, flags: string): boolean {
  if (!/[*+{]/.test(source)) return true;
  const isOneRepeat = /^\^[^|*+{]*[^)|*+{][*+][^|*+{]*$/.test(source);
  return isOneRepeat && !flags.includes('m') && !/\\[1-9k]/.test(source);
}

/** Where it is and what text it chews on, or undefined when its time is proven to be linear at the most. */
async function problemOf({ at, source, flags }: Pattern): Promise<string | undefined> {
  if (isPlain(source, flags)) return undefined;
  // Proofs only: its attacks end by the clock, and on a busy machine they accused patterns that are innocent. One that
  // cannot be proven in time (0.5 s for the slowest, 2026-11-15) is to be written more simply: counts such as {0,61}
  // take the longest.
  const found = await check(source, flags, { checker: 'automaton', timeout: 15_000 });
  if (found.status === 'safe') return undefined;
  const why =
    found.status === 'vulnerable'
      ? `${found.complexity.summary}: ${found.attack.pattern}`
      : `no proof: ${found.error.kind}`;
  return `${at} /${source}/${flags} ${why}`;
}

async function problemsIn(patterns: readonly Pattern[]): Promise<string[]> {
  const problems: string[] = [];
  for (const pattern of patterns) {
    const problem = await problemOf(pattern);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

test('no pattern takes more than linear time, whatever text it is given', async () => {
  const patterns = ['src', 'client/src', 'console/src'].flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(file => /\.tsx?$/.test(file))
      .flatMap(file => patternsIn(readFileSync(join(ROOT, folder, file), 'utf8'), join(folder, file))),
  );
  expect(patterns.length).toBeGreaterThan(50);
  expect(await problemsIn(patterns)).toEqual([]);
});

test('a pattern that chews is found however it is written, with its place and the text that it chews on', async () => {
  const code = `
    const BLANKS = '\\\\s*';
    const safe = [/^a+$/, new RegExp('^b*c')];
    const chewing = (text: string): boolean => /(?:a|a)*b/.test(text) || RegExp(\`\${BLANKS};\${BLANKS}q=\`, 'i').test(text);
  `;
  const problems = await problemsIn(patternsIn(code, 'x.ts'));
  expect(problems).toEqual([
    expect.stringMatching(/^x\.ts:4 \/\(\?:a\|a\)\*b\/ exponential.*: .*repeat\(/),
    expect.stringMatching(/^x\.ts:4 \/\\s\*;\\s\*q=\/i 2nd degree polynomial: .*repeat\(/),
  ]);
  for (const [source, flags] of [
    ['^a|b+c', ''],
    ['^(a*)\\1$', ''],
    ['^(?:ab)*c', ''],
    ['^a*a*$', ''],
    ['^[^x]*y', 'm'],
  ] as const)
    expect([source, isPlain(source, flags)]).toEqual([source, false]);
  expect(() => patternsIn('new RegExp(given)', 'y.ts')).toThrow('y.ts:1');
});
