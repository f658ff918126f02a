/** Domains out of what a person types or pastes. */

/** More would take minutes and a good part of a quota: use the API. */
export const MOST_NAMES = 200;

export interface Names {
  /** Without repetitions, in the order they were typed. */
  readonly domains: readonly string[];
  /** Those that are email addresses: never sent as they are. */
  readonly addresses: readonly string[];
  readonly repeated: number;
}

const words = (text: string) => text.split(/[\s,;]+/).filter(word => word !== '');
const sameName = (word: string) => word.toLowerCase().replace(/\.$/, '');

export function readNames(text: string): Names {
  const seen = new Map<string, string>();
  const all = words(text);
  for (const word of all) if (!seen.has(sameName(word))) seen.set(sameName(word), word);
  const domains = [...seen.values()];
  return {
    domains,
    addresses: domains.filter(word => word.includes('@')),
    repeated: all.length - domains.length,
  };
}

/** Everything before the last `@` goes; in `Ann <ann@example.com>` so does the name, which has no dot inside. */
export function domainParts(text: string): string {
  const all = words(text);
  const named = /<[^<>@]+@[^<>]+>/.test(text);
  const parts = all
    .filter(word => !named || /@|\S\.\S/.test(word))
    .map(word => word.slice(word.lastIndexOf('@') + 1).replace(/[<>()"']/g, ''))
    .filter(word => word !== '');
  return readNames(parts.join('\n')).domains.join('\n');
}
