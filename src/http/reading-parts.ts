/** What reading needs of all else, the same for all connections. */

import type { Refusal } from '../core/refusal.ts';
import type { Fairness } from './fairness.ts';
import type { OpenLine } from './line.ts';
import type { Room } from './room.ts';
import type { RowOf } from './whose.ts';

export interface ReadingParts {
  readonly fairness: Fairness;
  readonly rowOf: RowOf;
  readonly isTrustedProxy: (address: string) => boolean;
  /** The peer is one. */
  readonly isProxy: boolean;
  /** Bytes that connections have received and not read. */
  readonly held: Room<OpenLine>;
  /** Ends one over a head that Node's parser has not read, or is not given. */
  readonly endOver: (line: OpenLine, head: Buffer, refusal: Refusal) => void;
  /** The 503 for bytes that are one plain request of the API, written without parsing them; undefined for others. */
  readonly plainRefusal: (bytes: Buffer) => string | undefined;
  /** Begins a call where the bytes are one of the lane; false for others. Undefined where it is switched off. */
  readonly takeLane: ((line: OpenLine, piece: Buffer) => boolean) | undefined;
}
