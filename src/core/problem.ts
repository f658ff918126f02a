/** An act of an operator that was not done. */

/** Why nothing was done. Expected, so a value; the detail names no command and no path. */
export interface Problem {
  readonly problem:
    | 'not_found'
    | 'ambiguous'
    | 'taken'
    | 'revoked'
    | 'contended'
    | 'too_many'
    | 'overlapping'
    | 'unseen';
  readonly detail: string;
}
