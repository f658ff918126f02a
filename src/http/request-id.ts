/** Names requests so that nobody can tell from one how many there were: 64 random bits. */

import { randomBytes } from 'node:crypto';

const LENGTH = 16;
const POOL = 4_096;

let pool = '';
let at = 0;

/** Random bytes by the thousand: one by one they take 0.8 µs (2026-11-15). */
export function newRequestId(): string {
  if (at >= pool.length) {
    pool = randomBytes(POOL).toString('hex');
    at = 0;
  }
  at += LENGTH;
  return pool.slice(at - LENGTH, at);
}
