/** Operators by name, each with a token: the audit tells who it really was. `ADMIN_TOKEN` is the first of them. */

export interface OperatorRecord {
  readonly name: string;
  /** SHA-256 of the token, in hex. The token itself is never stored. */
  readonly digest: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Every token begins with it, so that nothing else is looked up as one. */
export const TOKEN_PREFIX = 'dro_';
