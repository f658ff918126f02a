/**
 * Puts load on a server by the clock and not by its answers, as many callers who know nothing of each other do. Run
 * as a process of its own (`generate` in rig.ts does that) it takes a plan as a message and sends back what it saw.
 */

import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

export interface Caller {
  readonly name: string;
  readonly path: string;
  readonly authorization?: string;
  /** Arrivals by the clock; left out, every connection asks again as soon as it was answered (closed loop). */
  readonly perSecond?: number;
  /** At most one request waits on each, as with real clients; an arrival that finds none free is not sent. */
  readonly connections: number;
  /** Its connections are open before it begins, as those of a caller who was there before. */
  readonly isThereBefore?: true;
  /** Source address. */
  readonly from: string;
  /** When it begins and ends, in ms from the start of the plan. */
  readonly startMs: number;
  readonly endMs: number;
  /** A 200 that comes later than this is of no use to anybody. */
  readonly goodMs: number;
}

export interface Plan {
  readonly port: number;
  readonly callers: readonly Caller[];
}

/** What one caller saw. Times are in ms, from the moment that a request was written. */
export interface Seen {
  readonly name: string;
  readonly offered: number;
  readonly sent: number;
  /** Arrivals that found no free connection. */
  readonly unsent: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** 200s in time, before the caller ended. */
  readonly good: number;
  /** The good ones in each tenth of a second since the start of the plan. */
  readonly goodIn: readonly number[];
  /** 503s that do not say when to come again. */
  readonly without: number;
  /** Closed or reset without an answer to a request that was sent. */
  readonly lost: number;
  /** Unanswered after ten seconds; the connection was given up. */
  readonly timedOut: number;
  /** Still unanswered when the plan was over. */
  readonly cut: number;
  /** Connections that were opened again after the server closed them. */
  readonly reopened: number;
  /** Connections that could not be opened, by error. */
  readonly refused: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
  /**
   * Of every answer, whatever its status, until this process had last looked for answers before it: with 6,000 connections,
   * or where others have the processor, it looks every 20 to 300 ms (`lagMs`). Those to the first request of a connection apart.
   */
  readonly slowest: number;
  readonly slowestFirst: number;
}

export interface Report {
  readonly seen: readonly Seen[];
  /** How far the generator itself fell behind its clock at most. */
  readonly lagMs: number;
}

const TICK_MS = 1;
const SWEEP_MS = 500;
const PATIENCE_MS = 10_000;
/** After the last arrival, for what is still on its way. */
const GRACE_MS = 3_000;
const WINDOW_MS = 100;

/** One for all sockets: each read is dealt with before the next one happens. */
const shared = Buffer.alloc(64 * 1024);

/** When it last looked for answers, before those that it is reading now: each turn of its loop has a tick, then a look. */
const looks = { last: 0, before: 0 };

class Source {
  readonly caller: Caller;
  readonly #port: number;
  readonly #request: Buffer;
  readonly #startedAt: number;
  readonly lines: Line[];
  readonly #free: Line[];
  #firstFree = 0;
  #arrivals = 0;
  readonly #times = createHistogram();
  readonly #statuses: Record<string, number> = {};
  readonly #refused: Record<string, number> = {};
  readonly #goodIn: number[] = [];
  readonly counts = {
    sent: 0,
    unsent: 0,
    good: 0,
    without: 0,
    lost: 0,
    timedOut: 0,
    cut: 0,
    reopened: 0,
    slowest: 0,
    slowestFirst: 0,
  };

  constructor(caller: Caller, port: number, startedAt: number) {
    this.caller = caller;
    this.#port = port;
    this.#startedAt = startedAt;
    const door = caller.authorization === undefined ? '' : `Authorization: ${caller.authorization}\r\n`;
    this.#request = Buffer.from(`GET ${caller.path} HTTP/1.1\r\nHost: load\r\n${door}\r\n`, 'latin1');
    this.lines = Array.from({ length: caller.connections }, () => new Line(this));
    this.#free = [...this.lines];
    if (caller.isThereBefore) for (const line of this.lines) line.open();
  }

  /** Everything that is due by now. */
  tick(now: number): void {
    const { perSecond, startMs, endMs, connections } = this.caller;
    const since = Math.min(now - this.#startedAt, endMs) - startMs;
    if (since < 0) return;
    const due = perSecond === undefined ? connections : Math.floor((since / 1000) * perSecond);
    while (this.#arrivals < due) {
      this.#arrivals++;
      this.#arrive(now);
    }
  }

  #arrive(now: number): void {
    const line = this.#free[this.#firstFree];
    if (!line) {
      this.counts.unsent++;
      return;
    }
    // The one that was free for longest, so that all of them are used.
    if (++this.#firstFree === 1024) {
      this.#free.splice(0, this.#firstFree);
      this.#firstFree = 0;
    }
    line.send(now);
  }

  open(take: (bytes: number) => void): Socket {
    return connect({
      port: this.#port,
      host: '127.0.0.1',
      localAddress: this.caller.from,
      noDelay: true,
      onread: {
        buffer: shared,
        callback: bytes => {
          take(bytes);
          return true;
        },
      },
    });
  }

  write(socket: Socket): void {
    this.counts.sent++;
    socket.write(this.#request);
  }

  answered(line: Line, status: string, now: number, hasRetryAfter: boolean): void {
    const { counts, caller } = this;
    const ms = now - line.sentAt;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    const which = line.isFirst ? 'slowestFirst' : 'slowest';
    counts[which] = Math.max(counts[which], looks.before - line.sentAt);
    if (status === '503' && !hasRetryAfter) counts.without++;
    if (status === '200') {
      this.#times.record(Math.max(1, Math.round(ms * 1000)));
      const at = now - this.#startedAt;
      if (ms <= caller.goodMs && at < caller.endMs) {
        counts.good++;
        const window = Math.floor(at / WINDOW_MS);
        this.#goodIn[window] = (this.#goodIn[window] ?? 0) + 1;
      }
    }
  }

  freed(line: Line, now: number): void {
    const isOver = now - this.#startedAt >= this.caller.endMs;
    if (this.caller.perSecond === undefined && !isOver) {
      this.#arrivals++;
      line.send(now);
    } else this.#free.push(line);
  }

  refusedBy(code: string): void {
    this.#refused[code] = (this.#refused[code] ?? 0) + 1;
  }

  isWaiting(): boolean {
    return this.lines.some(line => line.isWaiting);
  }

  end(): Seen {
    for (const line of this.lines) {
      if (line.isWaiting) this.counts.cut++;
      line.drop();
    }
    const percentile = (p: number) => (this.#times.count === 0 ? 0 : this.#times.percentile(p) / 1000);
    return {
      ...this.counts,
      name: this.caller.name,
      offered: this.#arrivals,
      statuses: this.#statuses,
      refused: this.#refused,
      goodIn: Array.from(this.#goodIn, count => count ?? 0),
      p50: percentile(50),
      p99: percentile(99),
    };
  }
}

/** A place for one connection, opened when it is first needed and again when the server has closed it. */
class Line {
  readonly #source: Source;
  #socket: Socket | undefined;
  #isOpen = false;
  #wasOpen = false;
  #isLeaving = false;
  #received = '';
  isWaiting = false;
  /** The first of a connection waits until that is accepted, too: nobody can have read it before. */
  isFirst = false;
  sentAt = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  send(now: number): void {
    this.isWaiting = true;
    this.sentAt = now;
    if (!this.#socket) this.open();
    else if (this.#isOpen) this.#source.write(this.#socket);
  }

  open(): void {
    const socket = this.#source.open(bytes => this.#take(socket, bytes));
    this.#socket = socket;
    this.#isOpen = false;
    let failure = 'closed';
    socket.on('connect', () => {
      if (this.#socket !== socket) return;
      this.#isOpen = true;
      if (this.#wasOpen) this.#source.counts.reopened++;
      this.#wasOpen = true;
      if (!this.isWaiting) return;
      this.sentAt = performance.now();
      this.isFirst = true;
      this.#source.write(socket);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
    });
    socket.on('close', () => this.#closed(socket, failure));
  }

  #closed(socket: Socket, failure: string): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#received = '';
    if (!this.isWaiting && !this.#isLeaving) return;
    if (this.#isLeaving) this.#isLeaving = false;
    else if (this.#isOpen) this.#source.counts.lost++;
    else this.#source.refusedBy(failure);
    this.isWaiting = false;
    // Not at once: one that is turned away comes again with its next call.
    setImmediate(() => this.#source.freed(this, performance.now()));
  }

  #take(socket: Socket, bytes: number): void {
    // What nobody asked for is the server's farewell to an idle connection; the close follows.
    if (this.#socket !== socket || !this.isWaiting) return;
    const text = this.#received + shared.toString('latin1', 0, bytes);
    const headEnd = text.indexOf('\r\n\r\n');
    const head = text.slice(0, headEnd + 2);
    const length = Number(/\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1] ?? 0);
    if (headEnd === -1 || text.length < headEnd + 4 + length) {
      this.#received = text;
      return;
    }
    this.#received = '';
    this.isWaiting = false;
    const status = text.slice(9, 12);
    const hasRetryAfter = status === '503' && /\r\nretry-after: *\d+\r\n/i.test(head);
    const now = performance.now();
    this.#source.answered(this, status, now, hasRetryAfter);
    this.isFirst = false;
    // Where the server announces that it closes, the place is free again once it has.
    this.#isLeaving = /\r\nconnection: *close\r\n/i.test(head);
    if (!this.#isLeaving) this.#source.freed(this, now);
  }

  giveUp(now: number): void {
    if (!this.isWaiting || now - this.sentAt < PATIENCE_MS) return;
    this.isWaiting = false;
    if (this.#isOpen) this.#source.counts.timedOut++;
    else this.#source.refusedBy('ETIMEDOUT');
    this.drop();
    this.#source.freed(this, now);
  }

  /** By a reset: the ports of closed connections stay taken for a minute, and finding a free one took 0.1 ms. */
  drop(): void {
    this.#socket?.resetAndDestroy();
    this.#socket = undefined;
    this.#received = '';
  }
}

function openLoop(plan: Plan): Promise<Report> {
  const startedAt = performance.now();
  const sources = plan.callers.map(caller => new Source(caller, plan.port, startedAt));
  const endsAt = startedAt + Math.max(...plan.callers.map(caller => caller.endMs));
  let lastTick = startedAt;
  let lastSweep = startedAt;
  let lagMs = 0;
  return new Promise(resolve => {
    const timer = setInterval(() => {
      const now = performance.now();
      lagMs = Math.max(lagMs, now - lastTick - TICK_MS);
      lastTick = now;
      looks.before = looks.last;
      looks.last = now;
      for (const source of sources) source.tick(now);
      if (now - lastSweep > SWEEP_MS) {
        lastSweep = now;
        for (const { lines } of sources) for (const line of lines) line.giveUp(now);
      }
      const isDone = now > endsAt && !sources.some(source => source.isWaiting());
      if (!isDone && now < endsAt + GRACE_MS) return;
      clearInterval(timer);
      resolve({ seen: sources.map(source => source.end()), lagMs });
    }, TICK_MS);
  });
}

if (import.meta.main && process.send) {
  process.once('message', async (plan: Plan) => {
    process.send!(await openLoop(plan), () => process.disconnect());
  });
  process.on('disconnect', () => process.exit(0));
}
