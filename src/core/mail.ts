/** What DNS told about who receives a domain's mail. Only a definite answer is evidence. */

export const MAIL_STATES = [
  'mx',
  'null_mx',
  'implicit_mx',
  'no_mail',
  'nxdomain',
  'unknown',
  'not_asked',
] as const;

/**
 * `unknown` is an answer of its own: asking failed, so nothing may be concluded.
 * `not_asked` says that no question was sent, because the name needs none or must not have one.
 */
export type MailState = (typeof MAIL_STATES)[number];

/** One mail exchanger: a checked, canonical host name and its preference (lower is tried first). */
export interface Exchange {
  readonly host: string;
  readonly preference: number;
}

export interface Mail {
  readonly state: MailState;
  /** Valid exchanges only, lowest preference first; empty unless the state is `mx`. */
  readonly exchanges: readonly Exchange[];
  /**
   * There are others that are not read, and any of those may be where the mail goes: who receives it is not known. `beside`:
   * none of them is tried before those that are.
   */
  readonly cut?: true | 'beside';
  /** True when this is an older answer, served because asking again failed (RFC 8767). */
  readonly stale: boolean;
}

export const receives = ({ state }: Mail) => state === 'mx' || state === 'implicit_mx';

/** Those that senders try first (RFC 5321 5.1). */
export function firstOf<E extends Exchange>(exchanges: readonly E[]): E[] {
  const lowest = Math.min(...exchanges.map(({ preference }) => preference));
  return exchanges.filter(({ preference }) => preference === lowest);
}

/** Where senders go: without exchanges to the name itself (RFC 5321 5.1). */
export function triedOf(name: string, { state, exchanges }: Mail): readonly Exchange[] {
  return state === 'implicit_mx' ? [{ host: name, preference: 0 }] : exchanges;
}

export const MAIL_UNKNOWN: Mail = Object.freeze({ state: 'unknown', exchanges: [], stale: false });
export const MAIL_NOT_ASKED: Mail = Object.freeze({ state: 'not_asked', exchanges: [], stale: false });
