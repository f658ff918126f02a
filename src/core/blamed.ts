/** Which hosts and addresses a listed domain speaks against: those that get all its mail, or half of it. */

import { reachedAt } from './deciding.ts';
import { groupOf } from './learnable.ts';
import type { Exchange } from './mail.ts';

/**
 * How many get the mail before all others. Of a listed name only these speak against a host: one more behind them costs
 * a record and no mail, and by it whoever is listed had any hoster's customers flagged (2026-11-17).
 */
export const firstIn = (exchanges: readonly Exchange[]) =>
  exchanges.filter(({ preference }) => preference === exchanges[0]!.preference).length;

/**
 * Whether an exchange of a listed domain may be blamed for it: not one of many that are tried alike, which is lent a small
 * part of the mail to be blamed for all of it. Where hosts are the domain's own, half of the mail or more goes to hosts of
 * one group, or to the same addresses: else three names for one machine would keep it from being learned, and with each
 * a decoy beside that machine did (2026-11-17).
 */
export function hasHalf(
  { host }: Exchange,
  alike: readonly Exchange[],
  known: (host: string) => readonly string[] | undefined,
): boolean {
  const group = groupOf(host);
  const addresses = new Set(reachedAt(known(host)));
  const shareOf = (other: string) => {
    if (groupOf(other) === group) return 1;
    const theirs = reachedAt(known(other));
    const common = theirs.filter(one => addresses.has(one)).length;
    // Others may name anybody's addresses beside their own.
    const isNamedBeside = common === addresses.size && common < theirs.length;
    return common === 0 || isNamedBeside ? 0 : common / theirs.length;
  };
  const share = alike.reduce((sum, other) => sum + shareOf(other.host), 0);
  return 2 * share >= alike.length;
}

/**
 * At which address a host is blamed for a listed domain: at the only one that it has. Whoever has several may name
 * anybody's beside his own, and goes without a part of his mail only: with one more record of a service in use the
 * customers of any hoster were flagged (2026-11-17).
 */
export function blamedAt(addresses: readonly string[]): readonly string[] {
  const reached = reachedAt(addresses);
  return reached.length === 1 ? reached : [];
}
