/** The lists of packages as they are written: one reader for each shape. Nothing of them is executed. */

import { FeedError, type RawFeed } from '../core/feed.ts';
import { eachLine, linesOf, parseJson } from './bounds.ts';

export type Names = Omit<RawFeed, 'version'>;

/** `{domains: [name]}`, and what its makers met in their own logs: `{entries: [{domain}]}`. */
export function readEmailalias(merged: string, observed: string): Names {
  const entries = member(parseJson(observed), 'entries');
  if (!Array.isArray(entries)) throw new FeedError('entries is not an array');
  const seen = strings(
    entries.map(entry => member(entry, 'domain')),
    'domain of the entries',
  );
  return { names: [...strings(member(parseJson(merged), 'domains'), 'domains'), ...seen] };
}

/** In seconds. Of a later day, or of milliseconds taken for seconds, no list tells anything. */
const YEAR_10000 = 253_402_300_800;

/** `{domains: {name: {hosts: {name: {firstseen: seconds}}}}}` */
export function readFakefilter(text: string): Names {
  const names: string[] = [];
  const since = new Map<string, string>();
  for (const domain of Object.values(record(member(parseJson(text), 'domains'), 'domains')))
    for (const [host, seen] of Object.entries(record(member(domain, 'hosts'), 'hosts'))) {
      names.push(host);
      const first = member(seen, 'firstseen');
      if (typeof first === 'number' && first > 0 && first < YEAR_10000)
        since.set(host, new Date(first * 1000).toISOString().slice(0, 10));
    }
  return { names, since };
}

/**
 * A bundle that holds the list as one string literal, lines between `\n`. The literal is what JSON calls a
 * string too, so it is cut out and parsed; the bundle's code is never run.
 */
export function readBurnerBundle(text: string): Names {
  const literal = literalAfter(
    ['var', 'const', 'let'].map(word => `${word} blacklist_default = `),
    text,
  );
  if (typeof literal !== 'string') throw new FeedError('no string literal blacklist_default in it');
  return { names: linesOf(literal, line => (line.startsWith('#') ? '' : line)) };
}

/** `{providers: {label: [name]}}` */
export function readRelays(text: string): Names {
  const labels = new Map<string, string>();
  for (const [label, names] of Object.entries(record(member(parseJson(text), 'providers'), 'providers')))
    for (const name of strings(names, label)) labels.set(name, label);
  return { names: [...labels.keys()], labels };
}

/** A module with one array literal of strings, which is JSON as well. */
export function readFreeModule(text: string): Names {
  const literal = literalAfter(['exports.freeEmailDomains = '], text);
  if (!Array.isArray(literal)) throw new FeedError('no array literal freeEmailDomains in it');
  return { names: strings(literal, 'freeEmailDomains') };
}

/** A module that begins with one template literal of plain lines. */
export function readFreeTemplate(text: string): Names {
  const literal = /^const free_email_provider_domains = `([^`$\\]*)`/.exec(text)?.[1];
  if (literal === undefined) throw new FeedError('no template literal free_email_provider_domains in it');
  return { names: linesOf(literal, line => line) };
}

/** The value on the first line that begins so and holds nothing but JSON; undefined where there is none. */
function literalAfter(beginnings: readonly string[], text: string): unknown {
  for (const each of eachLine(text)) {
    const line = each.trimEnd();
    const beginning = beginnings.find(start => line.startsWith(start));
    if (beginning === undefined || !line.endsWith(';')) continue;
    try {
      return parseJson(line.slice(beginning.length, -1));
    } catch (error) {
      if (error instanceof FeedError) throw error;
      // `exports.x = void 0;` may stand before the line that is meant.
    }
  }
  return undefined;
}

/** `{providers: [{type, domains?: [name]}]}`; only public providers are mailboxes for everybody. */
export function readProviderLinks(text: string): Names {
  const providers = member(parseJson(text), 'providers');
  if (!Array.isArray(providers)) throw new FeedError('providers is not an array');
  const names = providers.flatMap((provider: unknown) => {
    const domains = member(provider, 'domains');
    return member(provider, 'type') === 'public_provider' && domains !== undefined
      ? strings(domains, 'domains')
      : [];
  });
  return { names };
}

/** A module that is one array literal of `{domain}`, which is JSON as well. */
export function readUniversities(text: string): Names {
  const literal = /^module\.exports = (\[.*\]);?\s*$/s.exec(text)?.[1];
  if (literal === undefined) throw new FeedError('no array literal in it');
  const names = (parseJson(literal) as unknown[]).map(entry => member(entry, 'domain'));
  return { names: strings(names, 'domain of the entries') };
}

function member(value: unknown, key: string): unknown {
  return record(value, `what holds ${key}`)[key];
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FeedError(`${what} is not an object`);
  return value as Record<string, unknown>;
}

export function strings(value: unknown, what: string): string[] {
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string'))
    throw new FeedError(`${what} is not an array of strings`);
  return value;
}
