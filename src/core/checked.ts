/** A value that somebody typed or sent, or what is wrong with it. */

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export const good = <T>(value: T): Checked<T> => ({ ok: true, value });
/** Said behind the name of what was given: "must be …". */
export const bad = (problem: string): Checked<never> => ({ ok: false, problem });
