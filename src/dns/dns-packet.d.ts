/** The part of dns-packet that is used here and that its types leave out. */

import type { Answer } from 'dns-packet';

declare module 'dns-packet' {
  /** One record; throws of bytes that are none. */
  export const answer: { decode(bytes: Buffer, at: number): Answer };
}
