/** What a server said of names that are known beforehand, and what is wrong with it by that. */

import type { Invented } from './probe.ts';

/** Why a server is not believed. */
export type ServerProblem = 'denies' | 'silent' | 'unsteady' | 'invents' | 'invents_mx';

/** What may be a lie: all that was not a mail server, or mail servers too. */
export type Lied = 'denials' | 'everything';

/** For so long an answer about a sentinel speaks for the server or against it. */
const COUNTS_MS = 120_000;

/**
 * For so long a server has to give everything that it has denied beside what it gave. One that denies a tenth of all
 * questions at random gives all of ten probes once in 4,500 times; P7 wants it healed within 60 s of telling the truth.
 */
const STEADY_MS = 45_000;

/** Of so many names, each somebody else's, a registry's denial has to turn into an answer. A name may be new that moment. */
const TURNED_LEAST = 3;
const MOST_TURNED = 16;

export interface Said {
  readonly gave: boolean;
  readonly at: number;
  /** When it was last given. */
  readonly gaveAt: number;
  /** When it was last denied in a probe in which others were given. */
  deniedBesideAt: number;
}

/** Beside what was said of the same before. */
export function saidNow(gave: boolean, at: number, before: Said | undefined): Said {
  const { gaveAt, deniedBesideAt } = before ?? { gaveAt: -Infinity, deniedBesideAt: -Infinity };
  return { gave, at, gaveAt: gave ? at : gaveAt, deniedBesideAt };
}

/** What a server said lately about the sentinels and about a name that does not exist. */
export interface Testimony {
  readonly said: ReadonlyMap<string, Said>;
  /** The same of their addresses. */
  readonly addressed: ReadonlyMap<string, Said>;
  readonly invented: Invented;
  /** When it last gave what it had denied a moment before, by registered name. */
  readonly turned: ReadonlyMap<string, number>;
}

/**
 * Passes: one sentinel has an MX, fewer than half are denied, none is given at one time and denied at another, and nothing
 * was invented. Silence is neither.
 */
export function problemOf(testimony: Testimony, sentinels: number, now: number): ServerProblem | undefined {
  const { said, invented } = testimony;
  const lately = [...said.values()].filter(({ at }) => now - at <= COUNTS_MS);
  if (invented === 'mx') return 'invents_mx';
  if (isUnsteady(testimony, now)) return 'unsteady';
  if (2 * lately.filter(({ gave }) => !gave).length >= sentinels) return 'denies';
  if (!lately.some(({ gave }) => gave)) return 'silent';
  return invented === 'nothing' ? undefined : 'invents';
}

/**
 * What has an answer now and none then is one of several servers behind this one, which knows nothing of the world. That
 * all are denied and then all given is another matter: a network that has come up.
 */
function isUnsteady({ said, addressed, turned }: Testimony, now: number): boolean {
  const turns = [...turned.values()].filter(at => now - at <= COUNTS_MS);
  if (turns.length >= TURNED_LEAST && now - Math.max(...turns) <= STEADY_MS) return true;
  return [...said.values(), ...addressed.values()].some(
    ({ gaveAt, deniedBesideAt }) => now - deniedBesideAt <= STEADY_MS && now - gaveAt <= COUNTS_MS,
  );
}

/** What may be a lie of a server that was found to fail now and passed at that time. */
export function liesSince(
  problem: ServerProblem | 'unproven' | undefined,
  passedAt: number,
  now: number,
): number {
  // Of one that tells the truth at times, the probes that it passed prove nothing.
  return problem === 'unsteady' ? Math.min(passedAt, now - COUNTS_MS) : passedAt;
}

/** With one more that turned; those that no longer count are left out. */
export function turnedNow(turned: Map<string, number>, name: string, now: number): void {
  for (const [other, at] of turned)
    if (now - at > COUNTS_MS || turned.size > MOST_TURNED) turned.delete(other);
  turned.delete(name);
  turned.set(name, now);
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
  if (problem === 'unsteady')
    return `gives and denies ${names} or other names by turns, so its denials are not believed: one of several servers behind it knows no public names, or it denies all while it cannot ask; ${ways}`;
  const what =
    problem === 'invents_mx'
      ? 'gives mail servers to names that do not exist, so nothing that it says is believed'
      : 'gives addresses to names that do not exist, so only mail servers that it names are believed';
  return `${what}: ${ways} and invents none`;
}
