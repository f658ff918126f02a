/** The client: five questions, and the one way that each of them takes to its answer. */

import { ask, type Heard } from './ask.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { type Cache, createCache } from './cache.ts';
import { domainOf } from './domain.ts';
import { createFlights } from './flights.ts';
import { amount, type Call, type ClientOptions, readOptions, type Settings, wrongIn } from './options.ts';
import { type Answer, type Failure, failure, type Result } from './result.ts';
import type { Check } from './shape.ts';
import {
  type Changes,
  type DomainRisk,
  isChanges,
  isDomainRisk,
  isTopDomains,
  isUsage,
  type TopDomains,
  type Usage,
} from './wire.ts';

export interface Client {
  /** What the service knows about a domain. Of an email address only the domain is sent. */
  lookup(domainOrEmail: string, options?: LookupOptions): Promise<Result<DomainRisk>>;
  /** Whether the risk score reaches the threshold. False when there is no answer; `onFailure` is told why. */
  isRisky(domainOrEmail: string, options?: RiskOptions): Promise<boolean>;
  /** The domains that the service flagged most often in the last 30 days. */
  topDomains(options?: TopOptions): Promise<Result<TopDomains>>;
  /** What the lists began or ceased to flag, page by page, up to now. Ends behind a page that is a failure. */
  changes(options?: ChangesOptions): AsyncGenerator<Result<Changes>, void>;
  /** What is used and left of the monthly quota. Not counted. */
  usage(options?: UsageOptions): Promise<Result<Usage>>;
}

export interface CallOptions {
  /** Ends this call at once, with the cause `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** In place of the client's own, in milliseconds. */
  readonly timeout?: number | undefined;
}

export interface LookupOptions extends CallOptions {
  /** Adds `evidence`: why the answer is what it is. */
  readonly explain?: boolean | undefined;
}

export interface RiskOptions extends CallOptions {
  /** In place of the client's own, 0 to 100. */
  readonly threshold?: number | undefined;
  /** Told why there is no answer, before `isRisky` says false. */
  readonly onFailure?: ((failure: Failure) => void) | undefined;
}

export interface TopOptions extends CallOptions {
  /** 1 to 1000; 100 when absent. */
  readonly limit?: number | undefined;
  /** Only domains that were flagged for this reason. */
  readonly reason?: TopDomains['domains'][number]['reason'] | undefined;
}

export interface ChangesOptions extends CallOptions {
  /** The `cursor` of the last page that was seen; the last 24 hours when absent. */
  readonly since?: string | undefined;
  /** Of each page, 1 to 1000; 100 when absent. */
  readonly limit?: number | undefined;
}

export interface UsageOptions extends CallOptions {
  /** Adds the calls of each of the last so many days, 1 to 30. */
  readonly days?: number | undefined;
}

/** These are the caller's to fix, and nobody would see them where every failure means "continue". */
const LOUD: readonly unknown[] = [401, 403, 404, 422, 'options'];
const ABORTED = failure('aborted', 'The call was aborted by its signal.');
const NO_DOMAIN = failure('input', 'The text holds no domain; nothing was sent.');
/** What only a broken option can cause, such as a signal that is none. */
const UNUSABLE = failure('options', 'An option of this call cannot be used.');
const PAUSED = failure('breaker', 'The last calls got no answer; nothing was sent.');

/** Makes a client. It never throws and its promises never reject, whatever the service, the network or a hook does. */
export function createClient(options: ClientOptions): Client {
  const given = options ?? {};
  const settings = readOptions(given);
  const calls = new Calls(given, settings);

  const lookup: Client['lookup'] = (domainOrEmail, options) =>
    calls.make('lookup', isDomainRisk, options, () => {
      const domain = domainOf(domainOrEmail);
      const query = options?.explain ? '?explain=true' : '';
      return domain && `/v1/public/domain/${encodeURIComponent(domain)}${query}`;
    });

  return {
    lookup,
    async isRisky(domainOrEmail, options) {
      const result = await lookup(domainOrEmail, options);
      if (result.ok) return result.data.risk_score >= amount(options?.threshold, settings.threshold);
      if (options?.onFailure) tell(options.onFailure, result);
      return false;
    },
    topDomains: options =>
      calls.make('topDomains', isTopDomains, options, () =>
        withQuery('/v1/public/top-domains', { limit: options?.limit, reason: options?.reason }),
      ),
    async *changes(options) {
      let since = options?.since;
      for (let more = true; more; ) {
        const page = await calls.make<Changes>('changes', isChanges, options, () =>
          withQuery('/v1/public/changes', { since, limit: options?.limit }),
        );
        more = page.ok && page.data.more;
        if (page.ok) since = page.data.cursor;
        yield page;
      }
    },
    usage: options =>
      calls.make('usage', isUsage, options, () => withQuery('/v1/usage', { days: options?.days })),
  };
}

const now = () => performance.now();

/** All calls of one client, which share a memory of answers, a breaker and what is under way. */
class Calls {
  readonly #given: ClientOptions;
  readonly #settings: Settings;
  readonly #wrong: Failure | undefined;
  readonly #breaker: Breaker;
  readonly #cache: Cache<Answer<unknown>>;
  readonly #flights = createFlights<Heard>();
  readonly #told = new Set<unknown>();

  constructor(given: ClientOptions, settings: Settings) {
    this.#given = given;
    this.#settings = settings;
    this.#wrong = wrongIn(settings);
    this.#breaker = createBreaker(settings.failures, settings.pause, now);
    this.#cache = createCache(settings.cacheSize, now);
  }

  async make<T>(
    operation: Call['operation'],
    check: Check,
    options: CallOptions | undefined,
    pathOf: () => string | undefined,
  ): Promise<Result<T>> {
    const started = now();
    const shared = await (async () => this.#answer(pathOf(), check, options ?? {}))().catch(() => UNUSABLE);
    const result = copyOf(shared) as Result<T>;
    if (!result.ok) this.#warn(result);
    const { onCall } = this.#given;
    if (onCall) tell(onCall, { operation, result, milliseconds: now() - started });
    return result;
  }

  async #answer(path: string | undefined, check: Check, options: CallOptions): Promise<Result<unknown>> {
    const { signal } = options;
    if (this.#wrong) return this.#wrong;
    if (!path) return NO_DOMAIN;
    if (signal?.aborted) return ABORTED;
    const cached = this.#cache.get(path);
    if (cached) return { ...cached, fromCache: true };
    const timeout = amount(options.timeout, this.#settings.timeout, 1);
    const key = `${timeout} ${path}`;
    if (!this.#flights.has(key) && !this.#breaker.admits()) return PAUSED;
    const heard = await this.#flights.join(key, signal, controller =>
      this.#fly(path, check, timeout, controller),
    );
    return heard?.result ?? ABORTED;
  }

  /** The deadline holds even for a fetch that does not listen to its signal. */
  async #fly(path: string, check: Check, timeout: number, controller: AbortController): Promise<Heard> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<undefined>(resolve => {
      timer = setTimeout(resolve, timeout, undefined);
    });
    const work = this.#attempt(path, check, controller.signal, now() + timeout).catch(unexpected);
    const late = failure('timeout', `The service did not answer within ${timeout} ms.`);
    const heard = (await Promise.race([work, deadline])) ?? { result: late, fresh: 0 };
    clearTimeout(timer);
    if (heard.result.ok) this.#cache.set(path, heard.result, heard.fresh);
    // A call that everybody has left says nothing about the service.
    if (!controller.signal.aborted) this.#breaker.note(heard.result);
    controller.abort();
    return heard;
  }

  /** Attempts until there is an answer, or nothing that another one could better, or nobody who waits. */
  async #attempt(path: string, check: Check, signal: AbortSignal, until: number): Promise<Heard> {
    const { base, key, retries, retryDelay } = this.#settings;
    const headers = { accept: 'application/json', authorization: `Bearer ${key}` };
    const question = { url: base + path, headers, check, fetch: this.#given.fetch ?? fetch };
    for (let attempts = 1; ; attempts++) {
      const heard = await ask(question, signal);
      const wait = waitAfter(heard.result, attempts, retryDelay);
      if (attempts > retries || now() + wait >= until || !this.#breaker.isClosed()) return heard;
      await new Promise(resolve => setTimeout(resolve, wait));
      if (signal.aborted) return heard;
    }
  }

  #warn(problem: Failure): void {
    const kind = problem.status ?? problem.cause;
    if (!LOUD.includes(kind) || this.#told.has(kind)) return;
    this.#told.add(kind);
    const { onProblem } = this.#given;
    tell(onProblem ?? (({ message }) => console.error(`@domain-risk/client: ${message}`)), problem);
  }
}

function withQuery(path: string, wanted: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

const unexpected = (): Heard => ({ result: UNUSABLE, fresh: 0 });

/** Each caller has an answer of their own: what one does to it must not reach the next. */
function copyOf(result: Result<unknown>): Result<unknown> {
  try {
    return JSON.parse(JSON.stringify(result));
  } catch {
    return failure('answer', 'The answer is nested too deeply.');
  }
}

/** A hook is not to be trusted either: what it throws or rejects with goes nowhere. */
function tell<T>(hook: (value: T) => unknown, value: T): void {
  (async () => hook(value))().catch(() => {});
}

/** Infinite where another attempt makes no sense; else random up to a bound that doubles, so that callers spread out. */
function waitAfter(result: Result<unknown>, attempts: number, delay: number): number {
  if (result.ok || (result.cause !== 'network' && result.cause !== 'server')) return Infinity;
  return Math.max(Math.random() * delay * 2 ** (attempts - 1), (result.retryAfter ?? 0) * 1000);
}
