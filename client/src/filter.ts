/** Confirmed disposable domains that are known without a call, also while the service is away. */

import { ABOVE, readFilter, SIGNATURE_BYTES } from './fuse.ts';
import { amount, baseOf, type ClientOptions, keyOf } from './options.ts';
import { type Cause, type Failure, failure } from './result.ts';
import { createWarner, LOUD, tell } from './warning.ts';

export interface FilterOptions extends Pick<ClientOptions, 'baseUrl' | 'apiKey' | 'fetch'> {
  /** Of the service, as `domain-risk feeds filter --public-key` prints it. What another key signed is not used. */
  readonly publicKey: string | undefined;
  /** Milliseconds after which it is fetched again, in the background. Default one hour; each time uses one call. */
  readonly refresh?: number | undefined;
  /**
   * Called each time when it could not be fetched or is not signed by that key. What it throws is ignored. Without it,
   * what you have to fix is written to `console.error`, once per kind.
   */
  readonly onProblem?: ((problem: Failure) => void) | undefined;
}

export interface Filter {
  /**
   * Whether a domain, or one above it, is in the filter. False until the first one is there. Never waits. Of domains
   * that are not, one in 65,536 is taken for one that is.
   */
  has(domain: string): boolean;
  /**
   * Resolves when what is under way is over: true where there is a filter. For tests, for a start that can wait, and for
   * `waitUntil` of edge runtimes.
   */
  ready(): Promise<boolean>;
}

/** 25 million names. */
const MOST_BYTES = 64 * 2 ** 20;
const TIMEOUT_MS = 30_000;
const RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
/** It is fetched whole again after a day: what says that it has not changed is not signed, the time in it is. */
const RENEW_MS = DAY_MS;
/** One that nobody renewed is used no longer: whoever keeps an old one could bring back what was withdrawn since. */
const OLDEST_MS = 7 * DAY_MS;
const MOST_CHARACTERS = 253;
/** Others have a canonical form that only the service knows. */
const PLAIN = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;

/** Give it to `createClient` as `filter`. It never throws. */
export function createFilter(options: FilterOptions): Filter {
  const keeper = new Keeper(options ?? {});
  return {
    has(domain) {
      keeper.look();
      const filter = keeper.current;
      if (!filter || !isTimely(filter) || typeof domain !== 'string') return false;
      if (domain.length > MOST_CHARACTERS || !PLAIN.test(domain)) return false;
      // From the top, and further only where the filter has something below: so that a name of many labels is taken
      // for one of its own no more often than one of two.
      for (let dot = domain.lastIndexOf('.'); ; ) {
        dot = domain.lastIndexOf('.', dot - 1);
        const name = domain.slice(dot + 1);
        if (filter.has(name)) return true;
        if (dot < 0 || !filter.has(ABOVE + name)) return false;
      }
    },
    async ready() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>(resolve => {
        timer = setTimeout(resolve, TIMEOUT_MS);
      });
      await Promise.race([keeper.look(), late]);
      clearTimeout(timer);
      return keeper.current !== undefined && isTimely(keeper.current);
    },
  };
}

type Read = NonNullable<ReturnType<typeof readFilter>>;
const ageOf = ({ head }: Read) => Date.now() - head.madeAt;
/** More than a day ahead is a clock that is set wrong, and would stand before all that come later. */
const isTimely = (filter: Read) => ageOf(filter) < OLDEST_MS && ageOf(filter) > -DAY_MS;

/** Keeps the newest one that the key has signed. */
class Keeper {
  current: Read | undefined;
  readonly #options: FilterOptions;
  readonly #refresh: number;
  #tag: string | undefined;
  readonly #warn = createWarner([...LOUD, 'answer']);
  /** When it is looked for again: while that is under way, when it is given up. */
  #next = 0;
  #looking: Promise<void> | undefined;

  constructor(options: FilterOptions) {
    this.#options = options;
    this.#refresh = amount(options.refresh, 3_600_000, 1_000);
  }

  look(): Promise<void> | undefined {
    if (performance.now() < this.#next) return this.#looking;
    // In some edge runtimes what is under way ends with the visit that began it, and nothing is ever heard of it.
    this.#next = performance.now() + TIMEOUT_MS;
    const looking = this.#fetch()
      .then(() => this.#refresh)
      .catch(error => {
        const problem =
          error instanceof Problem ? error.failure : failure('network', 'The filter could not be fetched.');
        const { onProblem } = this.#options;
        if (onProblem) tell(onProblem, problem);
        else this.#warn(problem, undefined);
        // What was counted and is of no use will be none in a minute either.
        const { cause, status } = problem;
        const isPassing = cause === 'network' || cause === 'server' || status === 429;
        return isPassing ? Math.min(RETRY_MS, this.#refresh) : this.#refresh;
      })
      .then(wait => {
        if (this.#looking !== looking) return;
        this.#next = performance.now() + wait;
        this.#looking = undefined;
      });
    this.#looking = looking;
    return looking;
  }

  async #fetch(): Promise<void> {
    const { baseUrl, apiKey, publicKey } = this.#options;
    const base = baseOf(baseUrl);
    if (!base) throw new Problem('options', 'baseUrl is not an http or https URL without user and password.');
    const headers: Record<string, string> = { authorization: `Bearer ${keyOf(apiKey)}` };
    if (this.#tag && this.current && Math.abs(ageOf(this.current)) < RENEW_MS)
      headers['if-none-match'] = this.#tag;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    // The service never redirects. Whoever does must not get the key.
    const init: RequestInit = { headers, signal, redirect: 'manual' };
    const response = await (this.#options.fetch ?? fetch)(`${base}/v1/public/filter`, init);
    const { status } = response;
    // Else its connection stays busy until it is collected.
    if (status !== 200) response.body?.cancel().catch(() => {});
    if (status === 304) return;
    if (status !== 200) {
      const cause = status < 500 ? 'refused' : 'server';
      throw new Problem(cause, `The service gave no filter: it answered ${status}.`, status);
    }
    const bytes = await read(response);
    await verify(bytes, publicKey ?? '');
    const filter = readFilter(bytes);
    if (!filter) throw new Problem('answer', 'The filter has a form that this client does not know.');
    if (!isTimely(filter))
      throw new Problem(
        'answer',
        'The filter is older than 7 days or from the future, or the clock here is wrong.',
      );
    // Of several servers one may know less.
    if (filter.head.madeAt < (this.current?.head.madeAt ?? 0)) return;
    this.current = filter;
    this.#tag = response.headers.get('etag') ?? undefined;
  }
}

class Problem extends Error {
  readonly failure: Failure;

  constructor(cause: Cause, message: string, status: number | null = null) {
    super(message);
    this.failure = failure(cause, message, { status });
  }
}

async function read(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body!.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) {
      reader.cancel().catch(() => {});
      throw new Problem('answer', 'The filter is too large.');
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Ed25519 (RFC 8032), over all that stands before the signature. */
async function verify(bytes: Uint8Array<ArrayBuffer>, publicKey: string): Promise<void> {
  const key = await importKey(publicKey).catch(() => {
    throw new Problem(
      'options',
      'publicKey is not the base64 of an Ed25519 key, or this runtime has no Ed25519.',
    );
  });
  const end = Math.max(0, bytes.length - SIGNATURE_BYTES);
  if (!(await crypto.subtle.verify('Ed25519', key, bytes.subarray(end), bytes.subarray(0, end))))
    throw new Problem('answer', 'The filter is not signed by the public key.');
}

async function importKey(publicKey: string) {
  const raw = Uint8Array.from(atob(publicKey.trim()), char => char.charCodeAt(0));
  return crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
}
