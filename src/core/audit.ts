/** The audit: what operators did, who did it and when. Written in one step with the change itself, never without it. */

export type Action =
  | 'key.create'
  | 'key.update'
  | 'key.rotate'
  | 'key.revoke'
  | 'override.set'
  | 'override.remove'
  | 'host.forget'
  | 'host.relearn'
  | 'feed.update'
  | 'feed.force'
  | 'feed.remove'
  | 'feed.rollback'
  | 'feed.return'
  | 'feed.add'
  | 'feed.approve'
  | 'feed.reject'
  | 'operator.add'
  | 'operator.revoke'
  | 'override.import'
  | 'store.restore'
  | 'store.move'
  | 'backup.fail';

/** The way by which a server makes the first key of an empty store. */
export const FIRST_START = 'first start';

/** Who acts, and by what way. */
export interface Actor {
  readonly who: string;
  /** `command line`, `first start`, or the address that the request came from. */
  readonly via: string;
}

export interface Act extends Actor {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly action: Action;
  /** What it was done to: a key's id, a domain, a host, a feed, a file. */
  readonly subject: string;
  /** What changed, in words. Never a secret. */
  readonly detail: string | null;
}

/** The audit keeps so many, the newest. */
export const MOST_ACTS = 100_000;

const MOST_DETAIL = 500;

/** A hundred origins are not for a line of the audit. */
export function shortDetail(text: string): string {
  return text.length <= MOST_DETAIL ? text : `${text.slice(0, MOST_DETAIL - 1).toWellFormed()}…`;
}

export function actOf(
  at: number,
  action: Action,
  subject: string,
  actor: Actor,
  detail: string | null = null,
): Act {
  return { ...actor, at, action, subject, detail: detail && shortDetail(detail) };
}
