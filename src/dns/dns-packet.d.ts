/** The part of dns-packet that is used here and that its types leave out. */

import type { Answer } from 'dns-packet';

declare module 'dns-packet' {
  /** The data of one record, from its length on. */
  export const a: { decode(bytes: Buffer, at: number): string };
  export const aaaa: { decode(bytes: Buffer, at: number): string };
  /** One record; throws of bytes that are none. */
  export const answer: { decode(bytes: Buffer, at: number): Answer };
}
