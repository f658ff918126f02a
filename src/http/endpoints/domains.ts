/** `POST /v1/public/domains`: the risk of up to a thousand domains in one call. */

import type { Type } from 'typebox';
import { parseDomain } from '../../core/domain.ts';
import { FairRow, type Leave, type Rest, type Size } from '../../core/fair-row.ts';
import { REFUSALS, refuse } from '../../core/refusal.ts';
import type { Answer, Lookup } from '../../lookup.ts';
import type { Rank } from '../../rank.ts';
import { AtOnce } from '../at-once.ts';
import { type DomainsBody, MOST_NAMES } from '../bodies.ts';
import { attempt, type Call, type Headers, whenFinished } from '../call.ts';
import type { Doors } from '../doors.ts';
import type { Metrics } from '../metrics.ts';
import { PRICES } from '../prices.ts';
import { readFlag } from '../query.ts';
import { NO_ROOM } from '../receiving.ts';
import { sendJson, sendRefusal } from '../reply.ts';
import type { LongWork } from '../turns.ts';
import { domainsBytes, entryJson, invalidJson } from '../wire.ts';

/** For all questions to DNS together: as long as one domain has. */
const DNS_MS = 1_800;
const STEP_MS = 1;

interface Parts {
  readonly lookup: Lookup;
  readonly rank: Rank;
  readonly metrics: Metrics;
}

/** For who waits when the service ends: what is left of its time is for calls that were counted. */
const ENDING = refuse('overloaded', 'the service is shutting down', 1);

/** Of one caller, one at work and the others waiting for their turn or for DNS; from many networks one of each. */
const MOST_AT_ONCE = 64;
const MOST_OF_KEY = 1_024;

/**
 * What answers take while they are made: an explained name has 20 hosts of 253 letters at the most, and lists. All at once,
 * 620 calls of 10 kB took 430 MiB (2026-11-17).
 */
const NAME_BYTES = { plain: 512, explained: 8 * 1024 };
const MOST_BYTES = 24 * 1024 * 1024;
/**
 * A few names, a thousand that are not explained, and some that are come in beside what waits for DNS: one listed name took
 * 3.5 s behind four keys with a thousand explained ones each, and so did a hundred explained ones (2026-11-17).
 */
const SIZES: readonly Size[] = [
  { upTo: 48 * 1024, keeps: 1 / 16 },
  { upTo: MOST_NAMES * NAME_BYTES.plain, keeps: 3 / 16 },
  { upTo: 128 * NAME_BYTES.explained, keeps: 1 / 16 },
];

interface EndpointParts extends Parts {
  readonly doors: Doors;
  readonly isDraining: () => boolean;
  /** Of the process, of which this one has its share of the memory. */
  readonly workers?: number | undefined;
}

export function domainsEndpoint({ doors, isDraining, workers = 1, ...parts }: EndpointParts) {
  const callers = new AtOnce(MOST_AT_ONCE, MOST_OF_KEY);
  const row = new FairRow(MOST_BYTES / workers, SIZES);

  /** In its turn, and counted then only: who waits may still leave. */
  function serve(call: Call, names: Omit<Asked, 'call' | 'keyId'>): void {
    if (hasLeft(call)) return call.finished(call, REFUSALS.bad_request.status);
    call.body?.stays();
    const work = (keyId: string) => new Batch(parts, { call, keyId, ...names }).begin();
    doors.spend(call, ({ key }) => work(key.id), names.domains.length);
  }

  return (call: Call, body: unknown): void => {
    const { domains } = body as Type.Static<typeof DomainsBody>;
    const explain = readFlag(call.target.query, 'explain');
    if (typeof explain !== 'boolean') return sendRefusal(call, explain);
    const sender = doors.senderOf(call);
    if (!callers.lets(call, sender)) return;
    doors.waits(call, domains.length);
    const bytes = domains.length * (explain ? NAME_BYTES.explained : NAME_BYTES.plain);
    let hasWaited = false;
    call.body?.waits(() => sendRefusal(call, NO_ROOM));
    const begin = (leave: Leave, rest: Rest) => {
      whenFinished(call, leave);
      // After a wait it begins at the end of another call, which is not to blame for what goes wrong in it.
      attempt(call, () =>
        hasWaited && isDraining() ? sendRefusal(call, ENDING) : serve(call, { domains, explain, rest }),
      );
    };
    // Whoever has to make room while it waits is not kept in the row.
    whenFinished(call, row.take(sender.key, bytes, begin, sender.network));
    hasWaited = true;
  };
}

/** Node tells it of no answer that waits for another of its connection (pipelining). */
const hasLeft = ({ res, connection }: Call) => res.destroyed || connection.isGone;

interface Asked {
  readonly call: Call;
  readonly keyId: string;
  readonly domains: readonly string[];
  readonly explain: boolean;
  /** Its names were looked at, and some wait for DNS: others of its caller need not. */
  readonly rest: Rest;
}

class Batch implements LongWork {
  readonly #parts: Parts;
  readonly #asked: Asked;
  /** The JSON of each name, as far as it is known, as bytes: those of a long answer take 2 to 10 ms in one go. */
  readonly #entries: (Buffer | undefined)[];
  #missing: number;
  #next = 0;
  /** The time for DNS is over. */
  #isLate = false;
  #isDegraded = false;
  /** It has its answer, or nobody waits for one. */
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  isDone = false;

  constructor(parts: Parts, asked: Asked) {
    this.#parts = parts;
    this.#asked = asked;
    this.#missing = asked.domains.length;
    this.#entries = new Array(asked.domains.length);
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#late(), DNS_MS);
    // Nobody is there to read it any more.
    this.#asked.call.res.once('close', () => this.#end());
    this.#asked.call.connection.takeTurns(this);
  }

  step(): number {
    if (!this.isDone && hasLeft(this.#asked.call)) this.#end();
    if (this.isDone) return 0;
    const begun = performance.now();
    let names = 0;
    try {
      do {
        this.#look(this.#next++);
        names++;
        if (this.#next >= this.#entries.length) this.#passed();
      } while (!this.isDone && performance.now() - begun < STEP_MS);
    } catch (error) {
      this.#fail(error);
    }
    return names * PRICES.call;
  }

  /** All names were looked at. What is still open waits for DNS, or is settled now without it. */
  #passed(): void {
    this.isDone = !this.#isLate || this.#missing === 0;
    this.#next = 0;
    if (this.isDone && this.#missing > 0) this.#asked.rest();
  }

  #late(): void {
    this.#isLate = true;
    if (!this.isDone || this.#missing === 0) return;
    this.isDone = false;
    this.#asked.call.connection.takeTurns(this);
  }

  #look(at: number): void {
    if (this.#entries[at] !== undefined) return;
    const { domains, keyId } = this.#asked;
    const text = domains[at]!;
    const parsed = parseDomain(text);
    if (!parsed.ok) return this.#put(at, invalidJson(text, parsed.detail));
    const { lookup } = this.#parts;
    const answer = this.#isLate ? lookup.last(parsed.domain) : lookup.lookup(parsed.domain, keyId);
    if (!(answer instanceof Promise)) return this.#answered(at, answer);
    answer.then(later => this.#answered(at, later)).catch((error: unknown) => this.#fail(error));
  }

  #answered(at: number, answer: Answer): void {
    if (this.#isOver || this.#entries[at] !== undefined) return;
    const { metrics, rank } = this.#parts;
    const { keyId, explain } = this.#asked;
    metrics.verdict(answer.verdict.reason);
    rank.note(answer, keyId);
    if (answer.degraded) {
      metrics.degraded();
      this.#isDegraded = true;
    }
    this.#put(at, entryJson(answer, explain));
  }

  #put(at: number, json: string): void {
    this.#entries[at] = Buffer.from(at === 0 ? json : `,${json}`);
    if (--this.#missing === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    const { call } = this.#asked;
    this.#stop();
    if (hasLeft(call)) return call.finished(call, 200);
    call.degraded = this.#isDegraded;
    const headers: Headers = this.#isDegraded
      ? ['Cache-Control', 'private, max-age=30', 'X-Risk-Degraded', 'dns']
      : ['Cache-Control', 'private, max-age=300'];
    sendJson(call, 200, domainsBytes(this.#entries as Buffer[]), headers);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const { call } = this.#asked;
    this.#stop();
    call.failed(call, error);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    this.isDone = true;
  }
}
