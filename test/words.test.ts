/** The product's English: terms of the code that people must not meet again on the page, in messages and in documents. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

const files = (folder: string, pattern: RegExp) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => pattern.test(name))
    .map(name => join(folder, name));

/** Comments are for those who know the code. */
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const EVERYWHERE = [
  /\bfor good\b/i,
  /\banew\b/i,
  /\bthere only where\b/i,
  /\btakes? a limit away\b/i,
  /\bgo(?:es)? on without\b/i,
  /\bmade in its name\b/i,
  /\bnot whole yet\b/i,
  /\bhalf within\b|\b99 % within\b/i,
  /\bnever again\b/i,
  /\bin place of that\b|\bat the most\b/i,
  /\bservers know at once\b/i,
  /\bthe audit (?:tells|calls)\b/i,
  /\bhowever implausible\b/i,
  /\bday or moment\b/i,
  /\bwhere (?:it is )?left out\b/i,
  /\bis (?:not )?believed\b/i,
  /\bnever in\s+the way\b/i,
  /\bleft alone\b|\bleaves? (?:a service|the feed) alone\b/i,
  /\bmemory of answers\b/i,
  /\byours to fix would\b/i,
  /\bswitches? (?:on|their side)\b/i,
  /\bblamed for\b/i,
  /\bacts? of the audit\b/i,
  /\bguests weigh\b/i,
  /\bnever learn it\b/i,
];
/** Between tags or quotes, where a person reads them. */
const IN_THE_CONSOLE = [
  ...EVERYWHERE,
  /[>'"`][^<>'"`\n]*\b(?:listed|other|unlisted) guests?\b/i,
  /'(?:Forget|Relearn)'/,
];

const PLACES: readonly (readonly [string, readonly string[], readonly RegExp[]])[] = [
  ['the console', files('console/src', /\.tsx?$/), IN_THE_CONSOLE],
  ['the command line', files('src/commands', /\.ts$/), EVERYWHERE],
  ['errors', ['src/core/refusal.ts'], EVERYWHERE],
  ['the reference', files('src/http', /^(?:routes|schemas|rows|key|bodies|openapi)[\w-]*\.ts$/), EVERYWHERE],
  ['settings', ['src/settings.ts', 'src/setting-values.ts', 'src/config.ts'], EVERYWHERE],
  ['what operators are refused', ['src/operate.ts', ...files('src/operate', /\.ts$/)], EVERYWHERE],
  ['front pages', ['README.md', 'client/README.md'], EVERYWHERE],
  ['documents', files('docs', /^(?!mutants).*\.md$/), EVERYWHERE],
];

test.each(PLACES)('%s has no words of the code', (_place, paths, terms) => {
  expect(paths.length).toBeGreaterThan(0);
  const found = paths.flatMap(path => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const read = path.endsWith('.md') ? text : withoutComments(text);
    return terms.flatMap(term => {
      const [hit] = term.exec(read) ?? [];
      return hit === undefined ? [] : [`${path}: ${hit}`];
    });
  });
  expect(found).toEqual([]);
});
