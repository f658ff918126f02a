/** The client: four questions, and the one way that each of them takes to its answer. */

import { ask, type Heard } from './ask.ts';
import { createBreaker } from './breaker.ts';
import { createCache } from './cache.ts';
import { domainOf } from './domain.ts';
import { createFlights } from './flights.ts';
import { amount, type Call, type ClientOptions, readOptions, wrongIn } from './options.ts';
import { type Answer, type Failure, failure, type Result } from './result.ts';
import type { Check } from './shape.ts';
import { type DomainRisk, isDomainRisk, isTopDomains, isUsage, type TopDomains, type Usage } from './wire.ts';

export interface Client {
  /** What the service knows about a domain. Of an email address only the domain is sent. */
  lookup(domainOrEmail: string, options?: LookupOptions): Promise<Result<DomainRisk>>;
  /** Whether the risk score reaches the threshold. False when there is no answer; `onFailure` is told why. */
  isRisky(domainOrEmail: string, options?: RiskOptions): Promise<boolean>;
  /** The domains that the service flagged most often in the last 30 days. */
  topDomains(options?: TopOptions): Promise<Result<TopDomains>>;
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
  const wrong = wrongIn(settings);
  const now = () => performance.now();
  const breaker = createBreaker(settings.failures, settings.pause, now);
  const cache = createCache<Answer<unknown>>(settings.cacheSize, now);
  const flights = createFlights<Heard>();
  const told = new Set<unknown>();

  function warn(problem: Failure): void {
    const kind = problem.status ?? problem.cause;
    if (!LOUD.includes(kind) || told.has(kind)) return;
    told.add(kind);
    tell(given.onProblem ?? (({ message }) => console.error(`@domain-risk/client: ${message}`)), problem);
  }

  /** Attempts until there is an answer, or nothing that another one could better, or nobody who waits. */
  async function attempt(path: string, check: Check, signal: AbortSignal, until: number): Promise<Heard> {
    const headers = { accept: 'application/json', authorization: `Bearer ${settings.key}` };
    const question = { url: settings.base + path, headers, check, fetch: given.fetch ?? fetch };
    for (let attempts = 1; ; attempts++) {
      const heard = await ask(question, signal);
      const wait = waitAfter(heard.result, attempts, settings.retryDelay);
      if (attempts > settings.retries || now() + wait >= until || !breaker.isClosed()) return heard;
      await new Promise(resolve => setTimeout(resolve, wait));
      if (signal.aborted) return heard;
    }
  }

  /** The deadline holds even for a fetch that does not listen to its signal. */
  async function fly(
    path: string,
    check: Check,
    timeout: number,
    controller: AbortController,
  ): Promise<Heard> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<undefined>(resolve => {
      timer = setTimeout(resolve, timeout, undefined);
    });
    const work = attempt(path, check, controller.signal, now() + timeout).catch(unexpected);
    const late = failure('timeout', `The service did not answer within ${timeout} ms.`);
    const heard = (await Promise.race([work, deadline])) ?? { result: late, fresh: 0 };
    clearTimeout(timer);
    if (heard.result.ok) cache.set(path, heard.result, heard.fresh);
    // A call that everybody has left says nothing about the service.
    if (!controller.signal.aborted) breaker.note(heard.result);
    controller.abort();
    return heard;
  }

  async function answer(
    path: string | undefined,
    check: Check,
    options: CallOptions,
  ): Promise<Result<unknown>> {
    const { signal } = options;
    if (wrong) return wrong;
    if (!path) return NO_DOMAIN;
    if (signal?.aborted) return ABORTED;
    const cached = cache.get(path);
    if (cached) return { ...cached, fromCache: true };
    const timeout = amount(options.timeout, settings.timeout, 1);
    const key = `${timeout} ${path}`;
    if (!flights.has(key) && !breaker.admits()) return PAUSED;
    const heard = await flights.join(key, signal, controller => fly(path, check, timeout, controller));
    return heard?.result ?? ABORTED;
  }

  async function call<T>(
    operation: Call['operation'],
    check: Check,
    options: CallOptions | undefined,
    pathOf: () => string | undefined,
  ): Promise<Result<T>> {
    const started = now();
    const shared = await (async () => answer(pathOf(), check, options ?? {}))().catch(() => UNUSABLE);
    const result = copyOf(shared) as Result<T>;
    if (!result.ok) warn(result);
    if (given.onCall) tell(given.onCall, { operation, result, milliseconds: now() - started });
    return result;
  }

  const lookup: Client['lookup'] = (domainOrEmail, options) =>
    call('lookup', isDomainRisk, options, () => {
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
      call('topDomains', isTopDomains, options, () =>
        withQuery('/v1/public/top-domains', { limit: options?.limit, reason: options?.reason }),
      ),
    usage: options => call('usage', isUsage, options, () => withQuery('/v1/usage', { days: options?.days })),
  };
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
