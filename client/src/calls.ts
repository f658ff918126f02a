/** From a question to its answer: from memory, from a request that is under way, or from the service within its time. */

import { ask, type Heard } from './ask.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { type Cache, createCache } from './cache.ts';
import type { CallOptions } from './client.ts';
import { createFlights } from './flights.ts';
import { amount, type Call, type ClientOptions, type Settings, wrongIn } from './options.ts';
import { type Answer, type Failure, failure, type Result } from './result.ts';
import { array, type Check, either, object, string } from './shape.ts';
import { createWarner, LOUD, tell } from './warning.ts';
import { type DomainRisks, isDomainRisk } from './wire.ts';

const ABORTED = failure('aborted', 'The call was aborted by its signal.');
const NO_DOMAIN = failure('input', 'The text holds no domain; nothing was sent.');
/** What only a broken option can cause, such as a signal that is none. */
const UNUSABLE = failure('options', 'An option of this call cannot be used.');
const WRONG_COUNT = failure('input', 'Send 1 to 1000 domains in one call; nothing was sent.');
const PAUSED = failure('breaker', 'The last calls got no answer; nothing was sent.');

const now = () => performance.now();
export const pathOf = (domain: string) => `/v1/public/domain/${encodeURIComponent(domain)}`;

const MOST_NAMES = 1000;
type Entry = DomainRisks['results'][number];
const NOT_SENT: Entry = { domain: '', error: 'validation_error', detail: NO_DOMAIN.message };
const isInvalid = /* @__PURE__ */ object({ domain: string, error: string, detail: string });
const areEntries = /* @__PURE__ */ array(/* @__PURE__ */ either(isInvalid, isDomainRisk));

/** One request: the path, and the names where it has a body. */
interface Wanted {
  readonly path: string;
  readonly names?: readonly string[];
}

/** All calls of one client, which share a memory of answers, a breaker and what is under way. */
export class Calls {
  readonly #given: ClientOptions;
  readonly #settings: Settings;
  readonly #wrong: Failure | undefined;
  readonly #breaker: Breaker;
  readonly #cache: Cache<Answer<unknown>>;
  readonly #flights = createFlights<Heard>(now);
  readonly #warn = createWarner(LOUD);

  constructor(given: ClientOptions, settings: Settings) {
    this.#given = given;
    this.#settings = settings;
    this.#wrong = wrongIn(settings);
    this.#breaker = createBreaker(settings.failures, settings.pause, now);
    this.#cache = createCache(settings.cacheSize, now);
  }

  get<T>(
    operation: Call['operation'],
    check: Check,
    options: CallOptions | undefined,
    /** The path of the call, or the answer where none is needed. */
    pathOf: () => string | Answer<T> | undefined,
  ): Promise<Result<T>> {
    return this.make(operation, async () => {
      const path = pathOf();
      if (typeof path === 'object') return this.#unasked(path, options);
      return path ? this.#answer({ path }, check, options ?? {}) : (this.#wrong ?? NO_DOMAIN);
    });
  }

  /** What is known is not asked again, and what occurs twice is asked once. */
  async many(
    names: readonly (string | undefined)[],
    options: CallOptions,
    settled: (name: string) => Answer<Entry> | undefined,
  ): Promise<Result<unknown>> {
    const known = new Map<string | undefined, Entry>([[undefined, NOT_SENT]]);
    for (const name of new Set(names)) {
      const answer = name && (settled(name) ?? this.#cache.get(pathOf(name)));
      if (answer) known.set(name, answer.data as Entry);
    }
    const missing = [...new Set(names)].filter((name): name is string => !known.has(name));
    const check: Check = value => {
      const { results } = (value ?? {}) as Partial<DomainRisks>;
      return areEntries(results) && results?.length === missing.length;
    };
    if (missing.length > MOST_NAMES || names.length === 0) return this.#wrong ?? WRONG_COUNT;
    const result: Result<unknown> = missing[0]
      ? await this.#answer({ path: '/v1/public/domains', names: missing }, check, options)
      : this.#unasked(
          { ok: true, data: { results: [] }, quota: null, degraded: false, fromCache: true },
          options,
        );
    if (!result.ok) return result;
    for (const [at, entry] of (result.data as DomainRisks).results.entries()) known.set(missing[at], entry);
    const results = names.map(name => known.get(name));
    return { ...result, data: { results, count: results.length } };
  }

  /** What needs no call is told by the same rules as what does. */
  #unasked(answer: Answer<unknown>, options: CallOptions | undefined): Result<unknown> {
    return this.#wrong ?? (options?.signal?.aborted ? ABORTED : answer);
  }

  async make<T>(operation: Call['operation'], work: () => Promise<Result<unknown>>): Promise<Result<T>> {
    const started = now();
    const shared = await (async () => work())().catch(() => UNUSABLE);
    const result = copyOf(shared) as Result<T>;
    const { onCall, onProblem } = this.#given;
    if (!result.ok) this.#warn(result, onProblem);
    if (onCall) tell(onCall, { operation, result, milliseconds: now() - started });
    return result;
  }

  async #answer(wanted: Wanted, check: Check, options: CallOptions): Promise<Result<unknown>> {
    const { signal } = options;
    if (this.#wrong) return this.#wrong;
    if (signal?.aborted) return ABORTED;
    const cached = this.#cache.get(wanted.path);
    if (cached) return { ...cached, fromCache: true };
    const timeout = amount(options.timeout, this.#settings.timeout, 1);
    const key = `${timeout} ${wanted.path} ${wanted.names}`;
    if (!this.#flights.has(key) && !this.#breaker.admits()) return PAUSED;
    const heard = await this.#flights.join(key, signal, timeout, controller =>
      this.#fly(wanted, check, timeout, controller),
    );
    return heard?.result ?? (signal?.aborted ? ABORTED : lateAfter(timeout));
  }

  /** Each of many as if it had been asked for alone. */
  #keep({ path, names }: Wanted, answer: Answer<unknown>, fresh: number): void {
    if (!names) return this.#cache.set(path, answer, fresh);
    for (const [at, data] of (answer.data as DomainRisks).results.entries())
      if (!('error' in data) && !data.degraded)
        this.#cache.set(pathOf(names[at]!), { ...answer, data, degraded: false }, fresh);
  }

  /** The deadline holds even for a fetch that does not listen to its signal. */
  async #fly(wanted: Wanted, check: Check, timeout: number, controller: AbortController): Promise<Heard> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<undefined>(resolve => {
      timer = setTimeout(resolve, timeout, undefined);
    });
    const work = this.#attempt(wanted, check, controller.signal, now() + timeout).catch(unexpected);
    const heard = (await Promise.race([work, deadline])) ?? { result: lateAfter(timeout), fresh: 0 };
    clearTimeout(timer);
    if (heard.result.ok) this.#keep(wanted, heard.result, heard.fresh);
    // A call that everybody has left says nothing about the service.
    if (!controller.signal.aborted) this.#breaker.note(heard.result);
    controller.abort();
    return heard;
  }

  /** Attempts until there is an answer, or nothing that another one could better, or nobody who waits. */
  async #attempt(wanted: Wanted, check: Check, signal: AbortSignal, until: number): Promise<Heard> {
    const { base, key, retries, retryDelay } = this.#settings;
    const { path, names } = wanted;
    const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${key}` };
    if (names) headers['content-type'] = 'application/json';
    const body = names && JSON.stringify({ domains: names });
    const question = { url: base + path, headers, body, check, fetch: this.#given.fetch ?? fetch };
    for (let attempts = 1; ; attempts++) {
      const heard = await ask(question, signal);
      const wait = waitAfter(heard.result, attempts, retryDelay);
      if (attempts > retries || now() + wait >= until || !this.#breaker.isClosed()) return heard;
      await new Promise(resolve => setTimeout(resolve, wait));
      if (signal.aborted) return heard;
    }
  }
}

const lateAfter = (timeout: number) => failure('timeout', `The service did not answer within ${timeout} ms.`);

const unexpected = (): Heard => ({ result: UNUSABLE, fresh: 0 });

/** Each caller has an answer of their own: what one does to it must not reach the next. */
function copyOf(result: Result<unknown>): Result<unknown> {
  try {
    return JSON.parse(JSON.stringify(result));
  } catch {
    return failure('answer', 'The answer is nested too deeply.');
  }
}

/** Infinite where another attempt makes no sense; else random up to a bound that doubles, so that callers spread out. */
function waitAfter(result: Result<unknown>, attempts: number, delay: number): number {
  if (result.ok || (result.cause !== 'network' && result.cause !== 'server')) return Infinity;
  return Math.max(Math.random() * delay * 2 ** (attempts - 1), (result.retryAfter ?? 0) * 1000);
}
