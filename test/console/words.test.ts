/** Words that people were not to read any more: each has a better one, which its row names. */

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
/** What people see of the console. */
const SHOWN = [
  'console/*.html',
  'console/src/*.{ts,tsx}',
  'console/src/parts/*.tsx',
  'console/src/views/*.tsx',
  'console/src/views/operator/*.tsx',
  'console/src/reference/*.{ts,tsx}',
];

const TERMS: readonly (readonly [term: RegExp, better: string])[] = [
  [/begins? anew/i, 'resets'],
  [/not whole yet|key is whole/i, 'incomplete'],
  [/in its name\b/i, 'counts against its quota'],
  [/\bType (?:a|your) key\b/i, 'enter an API key'],
  [/thrown away/i, 'a temporary-inbox service'],
  [/speaks against/i, 'no risk signals found'],
  [/there is no doubt/i, 'confirmed'],
  [/not a judgement/i, 'neutral score'],
  [/known without\b/i, 'skipped'],
  [/No list names it/i, 'not on any list'],
  [/judged by the lists/i, 'lists: snapshot'],
  [/received by (?:a machine|somebody)/i, 'inbound-parse service, unrecognised mail provider'],
  [/against your quota/i, 'uses … of your quota'],
  [/all looked up/i, 'done'],
  [/Asking for\b/i, 'looking up, loading'],
  [/by ending\b/i, 'top TLDs'],
  [/whose quota/i, 'enter an API key to see its usage'],
  [/counts nothing/i, 'does not use quota'],
  [/\bgo(?:es)? on without/i, 'continue without the check'],
  [/There is no such thing/i, 'not found'],
  [/next calls are there/i, 'quota resets'],
  [/\bHave a key\b|\bAsk about a domain\b/i, 'get a key, look up a domain'],
  [/trouble never makes/i, 'an outage never flags anyone'],
  [/let it in\b/i, 'allow'],
  [/behind a token|open this door|operator's side/i, 'operator sign-in'],
  [/stands in the audit/i, 'recorded in the audit log'],
  [/everything below it/i, 'include subdomains'],
  [/\bfor good\b|no longer holds/i, 'never, expires'],
];

/** Comments are for those who read the code. */
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm, '');

test('the console says nothing any more that has a better word', () => {
  const files = SHOWN.flatMap(pattern => globSync(pattern, { cwd: ROOT }));
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap(file => {
    // As it is read: a sentence that goes on in the next line of the source is one.
    const text = withoutComments(readFileSync(join(ROOT, file), 'utf8')).replaceAll(/\s+/g, ' ');
    return TERMS.filter(([term]) => term.test(text)).map(([term, better]) => `${file}: ${term} → ${better}`);
  });
  expect(found).toEqual([]);
});
