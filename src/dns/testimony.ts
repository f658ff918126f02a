/** What a server said of names that are known beforehand, and what is wrong with it by that. */

import type { Invented } from './probe.ts';

/** Why a server is not believed. */
export type ServerProblem = 'denies' | 'silent' | 'invents' | 'invents_mx';

/** For so long an answer about a sentinel speaks for the server or against it. */
const COUNTS_MS = 120_000;

export interface Said {
  readonly gave: boolean;
  readonly at: number;
}

/** What a server said lately about the sentinels and about a name that does not exist. */
export interface Testimony {
  readonly said: ReadonlyMap<string, Said>;
  readonly invented: Invented;
}

/** Passes: one sentinel has an MX, fewer than half are denied, and nothing was invented. Silence is neither. */
export function problemOf(
  { said, invented }: Testimony,
  sentinels: number,
  now: number,
): ServerProblem | undefined {
  const lately = [...said.values()].filter(({ at }) => now - at <= COUNTS_MS);
  if (invented === 'mx') return 'invents_mx';
  if (2 * lately.filter(({ gave }) => !gave).length >= sentinels) return 'denies';
  if (!lately.some(({ gave }) => gave)) return 'silent';
  return invented === 'nothing' ? undefined : 'invents';
}

/** Whether none of the sentinels has an address by it: then nobody's having none says anything. Silence is neither. */
export function keepsAddressesBack(addressed: ReadonlyMap<string, Said>, now: number): boolean {
  const lately = [...addressed.values()].filter(({ at }) => now - at <= COUNTS_MS);
  return lately.length > 0 && !lately.some(({ gave }) => gave);
}

/** For operators: what is wrong with a server, and what to do. */
export function problemText(
  problem: ServerProblem | 'mute' | 'no_addresses',
  sentinels: readonly string[],
): string {
  const names = sentinels.join(', ');
  const ways = 'set DNS_SERVERS to a resolver that knows public names';
  if (problem === 'mute')
    return `does not answer for names that others deny, so denials count without it: ${ways}, or take it out`;
  if (problem === 'no_addresses')
    return `gives no address (A) for ${names}, so that a name has none is not believed: ${ways}, or add a domain with an address to DNS_SENTINELS`;
  if (problem === 'silent') return `gives no mail servers for ${names}: ${ways} and can be reached`;
  if (problem === 'denies')
    return `denies that ${names} receive mail, so its denials are not believed: ${ways}; other DNS_SENTINELS would only hide that`;
  const what =
    problem === 'invents_mx'
      ? 'gives mail servers to names that do not exist, so nothing that it says is believed'
      : 'gives addresses to names that do not exist, so only mail servers that it names are believed';
  return `${what}: ${ways} and invents none`;
}
