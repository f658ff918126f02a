/** An optional limit in calls per second and key: a token bucket that holds one second's worth. */

export const MAX_RATE = 1_000_000;

export interface Bucket {
  tokens: number;
  /** In ticks: by a clock that can be set, one that was set back would refill nothing, and one set forward all. */
  at: number;
}

export type Token = { readonly ok: true } | { readonly ok: false; readonly retryAfter: number };

/** Takes one token, or says how many whole seconds to wait. */
export function takeToken(bucket: Bucket, rate: number, now: number): Token {
  const burst = Math.max(1, rate);
  const passed = (now - bucket.at) / 1000;
  bucket.tokens = Math.min(burst, bucket.tokens + passed * rate);
  bucket.at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return { ok: true };
  }
  return { ok: false, retryAfter: Math.max(1, Math.ceil((1 - bucket.tokens) / rate)) };
}
