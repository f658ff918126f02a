/** What a client is made with, and the values that it takes where nothing was said. */

import { type Failure, failure, type Result } from './result.ts';

export interface ClientOptions {
  /** Where the service is, such as `https://risk.example.com`. Undefined is a problem that is told, not thrown. */
  readonly baseUrl: string | URL | undefined;
  readonly apiKey: string | undefined;
  /** Milliseconds after which a call gives up, everything included. Default 2500. */
  readonly timeout?: number | undefined;
  /** From this risk score on `isRisky` says yes, 0 to 100. Default 80. */
  readonly threshold?: number | undefined;
  /**
   * More attempts after a 5xx or a network error, within the timeout. Default 0: a call that the service counted
   * before it failed counts again.
   */
  readonly retries?: number | undefined;
  /** Milliseconds that the wait before the first retry has at the most; it doubles with each. Default 100. */
  readonly retryDelay?: number | undefined;
  /** How many answers are kept in memory, as long as the service allows. Default 1000; 0 keeps none. */
  readonly cacheSize?: number | undefined;
  /** Stops asking for `pause` milliseconds after `failures` calls in a row without an answer. Default 5 and 10,000. */
  readonly breaker?: false | { readonly failures?: number; readonly pause?: number } | undefined;
  /**
   * Confirmed disposable domains that are known without a call: one of `createFilter`. `lookup`, `isRisky` and `domains`
   * use it; `check` always asks.
   */
  readonly filter?: { has(domain: string): boolean } | undefined;
  /** Used in place of the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Called after every call, for logs and metrics. What it throws is ignored. */
  readonly onCall?: ((call: Call) => void) | undefined;
  /**
   * Called for what you have to fix, once per kind: wrong options, 401, 403, 404 and 422. Without it they are written to
   * `console.error`.
   */
  readonly onProblem?: ((problem: Failure) => void) | undefined;
}

/** One call as `onCall` sees it. */
export interface Call {
  readonly operation: 'lookup' | 'check' | 'domains' | 'topDomains' | 'changes' | 'usage';
  readonly result: Result<unknown>;
  /** How long the caller waited. */
  readonly milliseconds: number;
}

export interface Settings {
  readonly base: string;
  readonly key: string;
  readonly timeout: number;
  readonly threshold: number;
  readonly retries: number;
  readonly retryDelay: number;
  readonly cacheSize: number;
  readonly failures: number;
  readonly pause: number;
}

/** The longest that a timer can wait. */
const LONGEST = 2 ** 31 - 1;

export function readOptions(options: ClientOptions): Settings {
  const { failures, pause } = options.breaker || {};
  return {
    base: baseOf(options.baseUrl),
    // A key that was read from a file ends in a line break.
    key: keyOf(options.apiKey),
    timeout: amount(options.timeout, 2500, 1),
    threshold: amount(options.threshold, 80),
    retries: amount(options.retries, 0),
    retryDelay: amount(options.retryDelay, 100),
    cacheSize: amount(options.cacheSize, 1000),
    failures: options.breaker === false ? Infinity : amount(failures, 5, 1),
    pause: amount(pause, 10_000),
  };
}

/** Wrong options are found at the first call: a client in a sign-up form must not stop the program at its start. */
export function wrongIn({ base, key }: Settings): Failure | undefined {
  if (!base) return failure('options', 'baseUrl is not an http or https URL without user and password.');
  if (!/^[\x21-\x7e]+$/.test(key))
    return failure('options', 'apiKey is missing or holds characters that no key has.');
  return undefined;
}

/** A number within what makes sense, or what is taken for it. */
export function amount(value: unknown, otherwise: number, least = 0): number {
  return typeof value === 'number' && value >= least ? Math.min(value, LONGEST) : otherwise;
}

/** What is no text is no key, and told so. */
export function keyOf(key: unknown): string {
  return typeof key === 'string' ? key.trim() : '';
}

export function baseOf(url: string | URL | undefined): string {
  try {
    const { protocol, origin, pathname, username, password } = new URL(url!);
    if (!/^https?:$/.test(protocol) || username || password) return '';
    let end = pathname.length;
    while (pathname[end - 1] === '/') end--;
    return origin + pathname.slice(0, end);
  } catch {
    return '';
  }
}
