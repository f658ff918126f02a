/**
 * Whose mail a host receives, and when that tells that the host is a disposable one. Needs no public suffix list, so
 * that the store's threads load none.
 */

/**
 * When a host counts as one that serves disposable domains almost exclusively. A guest is a registrable domain, once
 * per host: neither many lookups of one name nor many names below one domain move anything.
 *
 * The share. Lists know 56 % of the names that are abused, 68 % of the newest (measured November 2026), so on a host
 * whose guests are all disposable about every third is not listed yet and looks innocent. On an ordinary host about
 * one in a thousand is listed (40 of the 42,044 most popular domains). A host with more listed guests than others
 * therefore has hardly any that is not disposable. Asking for nine in ten would only find hosts whose every name
 * stands on a list already, where there is nothing left to find. Unlisted guests always count as innocent, those that
 * were flagged because of this very host included: a host that was learned by mistake unlearns itself.
 *
 * The number. Whoever owns listed domains can point them at a victim's host (poisoning), and listed names are all
 * resolved by a sweep while innocent ones are only seen when somebody asks. Ten distinct registrable domains have a
 * price, and ten at one small host are no accident. Where the host's own domain is listed too, no stranger is the
 * victim: five do.
 *
 * Whom this cannot hit, whatever points at it: hosts that the provider table knows, hosts of protected, relay or
 * consumer mail domains, hosts that receive for a protected domain, addresses that any of these answer at, and a
 * domain's own hosts (see `isLearnable` and `Infra.find` in `infra.ts`). What is left is a small unknown host with
 * fewer innocent guests seen than listed ones: an attack there costs ten listed domains or more, scores below 85,
 * stands with its neighbours in the evidence and in `infra list`, and ends for good with `infra forget`.
 */
export const LEARNING = Object.freeze({
  fewestFlagged: 10,
  fewestFlaggedUnderListed: 5,
  /** A guest that was not seen for so long is forgotten, and with it what was learned from it. */
  keptDays: 90,
  /** Of each kind and host: more tell nothing new. */
  mostGuests: 1_000,
  /** Exchanges of one domain and addresses of one host that are looked at: nobody may fill the store with one name. */
  mostExchanges: 4,
  mostAddresses: 4,
  /**
   * Guests of all hosts together that a store keeps, about one for each listed name; the first to go are the longest
   * unseen of hosts that have no listed guest, which tell nothing.
   */
  mostGuestsInAll: 200_000,
  /** Hosts that are only remembered because they must not be learned. One forgotten is seen again with its next guest. */
  mostShared: 20_000,
  /** How many listed neighbours are shown of a host: enough to look up by hand. */
  neighbours: 3,
});

/** A domain whose mail a host receives. */
export interface Guest {
  /** A host name or an address. */
  readonly host: string;
  /** The ICANN-registrable domain: names below it cost nothing, so they count once together. */
  readonly domain: string;
  /** The name that stands in a disposable feed; null for an innocent guest. */
  readonly entry: string | null;
  /** Last seen (UTC, `YYYY-MM-DD`). */
  readonly day: string;
}

/** What is remembered of a host name or an address. */
export interface HostRecord {
  readonly name: string;
  readonly flagged: number;
  readonly innocent: number;
  /** It belongs to, or also answers for, somebody who is known not to be disposable. */
  readonly shared: boolean;
  /** An operator took it out: it is not learned again. */
  readonly forgotten: boolean;
  /** A few guests that are listed. Never unlisted ones: nobody's lookups may show to others. */
  readonly neighbours: readonly string[];
  readonly lastDay: string | null;
}
