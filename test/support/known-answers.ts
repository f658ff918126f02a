/** The table of known answers: names with their exchanges and what is right about them, and what a catalog says. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../../src/core/catalog.ts';
import { parseDomain } from '../../src/core/domain.ts';
import { Infra } from '../../src/core/infra.ts';
import { MAIL_STATES, type Mail } from '../../src/core/mail.ts';
import type { Resolver } from '../../src/core/ports.ts';
import { OFFLINE } from '../../src/dns/offline.ts';
import { createLookup } from '../../src/lookup.ts';

const FILE = join(import.meta.dirname, '..', 'known-answers.csv');
const COLUMNS = 'domain,mx,reason,free,corporate,label';

/** What is compared, by column; a column with an empty cell is left out. */
type Expected = Readonly<Record<string, string>>;

export interface KnownAnswer {
  readonly domain: string;
  readonly mail: Mail;
  readonly expected: Expected;
}

export interface WrongAnswer {
  readonly domain: string;
  readonly expected: Expected;
  readonly answered: Expected;
}

export function knownAnswers(): KnownAnswer[] {
  const lines = readFileSync(FILE, 'utf8').split('\n');
  const [header, ...rows] = lines.filter(line => line !== '' && !line.startsWith('#'));
  if (header !== COLUMNS) throw new Error(`${FILE}: the first row must be ${COLUMNS}`);
  return rows.map(row => {
    const cells = row.split(',');
    const [domain, mx, reason, free, corporate, label] = cells;
    if (cells.length !== 6) throw new Error(`${FILE}: ${row}: ${cells.length} cells`);
    const compared = Object.entries({ reason, free, corporate, label }).filter(([, cell]) => cell !== '');
    return { domain: domain!, mail: mailOf(mx!), expected: Object.fromEntries(compared) as Expected };
  });
}

/** A name without exchanges has an outcome of DNS; one without that is never asked. */
function mailOf(mx: string): Mail {
  const state = MAIL_STATES.find(state => state === (mx || 'not_asked'));
  if (state) return { state, exchanges: [], stale: false };
  const exchanges = mx.split(' ').map((host, at) => ({ host, preference: 10 * at }));
  return { state: 'mx', exchanges, stale: false };
}

/** Looks every name up, with a resolver that knows the table and nothing else. */
export async function wrongAnswers(catalog: Catalog, known: readonly KnownAnswer[]): Promise<WrongAnswer[]> {
  const mails = new Map(known.map(({ domain, mail }) => [domain, mail]));
  const resolver: Resolver = {
    ...OFFLINE,
    peek: name => mails.get(name),
    last: name => mails.get(name),
    resolve: async name => {
      throw new Error(`${name} does not stand in the table`);
    },
  };
  const infra = new Infra(new Map(), new Map(), () => undefined);
  const { lookup } = createLookup({
    catalog: () => catalog,
    overrides: () => new Map(),
    resolver,
    clock: () => 0,
    infra: () => infra,
    note: () => {},
    meet: () => true,
  });
  const wrong: WrongAnswer[] = [];
  for (const { domain, expected } of known) {
    const parsed = parseDomain(domain);
    if (!parsed.ok) throw new Error(`${FILE}: ${domain}: ${parsed.detail}`);
    const { verdict } = await lookup(parsed.domain, 'key');
    const answered: Record<string, string> = {
      reason: verdict.reason,
      free: verdict.isFreeProvider ? 'yes' : 'no',
      corporate: verdict.isCorporateEmail ? 'yes' : 'no',
      label: verdict.mxProviderLabel ?? '',
    };
    if (Object.entries(expected).some(([column, right]) => answered[column] !== right))
      wrong.push({ domain, expected, answered });
  }
  return wrong;
}
