/**
 * Servers that count on one PostgreSQL, as a queueing model: calls of a server that wait share its next batch, a batch needs
 * a core of the database, then the row of each key until its commit is on the disk, and commits that wait share a flush.
 */

/** Milliseconds, measured. */
export interface Costs {
  /** To the database and back, with what the server does for it. */
  readonly wayMs: number;
  /** Of a core of the database: for a batch, and for each key in it. */
  readonly batchMs: number;
  readonly keyMs: number;
  readonly flushMs: number;
}

export interface Cluster {
  readonly servers: number;
  /** Batches of one server that may be under way. */
  readonly atOnce: number;
  /** Of the database. */
  readonly cores: number;
}

export interface Load {
  /** By the clock, over all servers; or so many callers of each who ask again as soon as they are answered. */
  readonly perSecond?: number;
  readonly callersEach?: number;
  /** Of all calls, those of one and the same key; the others are of a key each. */
  readonly hotShare: number;
}

export interface Outcome {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
  readonly callsPerCommit: number;
  /** Shares of the time. */
  readonly coresBusy: number;
  readonly logBusy: number;
  readonly rowBusy: number;
}

interface Batch {
  readonly server: Server;
  readonly cameAt: readonly number[];
  readonly keys: number;
  readonly isHot: boolean;
}

interface Server {
  cameAt: number[];
  hot: number;
  underWay: number;
}

/** What happens when, the earliest first: a binary heap. */
class Agenda {
  readonly #times: number[] = [];
  readonly #acts: (() => void)[] = [];

  add(at: number, act: () => void): void {
    let child = this.#times.length;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (this.#times[parent]! <= at) break;
      this.#times[child] = this.#times[parent]!;
      this.#acts[child] = this.#acts[parent]!;
      child = parent;
    }
    this.#times[child] = at;
    this.#acts[child] = act;
  }

  next(): { readonly at: number; readonly act: () => void } | undefined {
    const [at, act] = [this.#times[0], this.#acts[0]];
    const [lastAt, lastAct] = [this.#times.pop(), this.#acts.pop()];
    if (at === undefined || act === undefined) return undefined;
    if (this.#times.length > 0) this.#sink(lastAt!, lastAct!);
    return { at, act };
  }

  #sink(at: number, act: () => void): void {
    const length = this.#times.length;
    let parent = 0;
    for (let child = 1; child < length; child = 2 * parent + 1) {
      if (child + 1 < length && this.#times[child + 1]! < this.#times[child]!) child++;
      if (this.#times[child]! >= at) break;
      this.#times[parent] = this.#times[child]!;
      this.#acts[parent] = this.#acts[child]!;
      parent = child;
    }
    this.#times[parent] = at;
    this.#acts[parent] = act;
  }
}

const WARM_MS = 500;

class Model {
  readonly #costs: Costs;
  readonly #cluster: Cluster;
  readonly #load: Load;
  readonly #agenda = new Agenda();
  readonly #waits: number[] = [];
  readonly #forCore: (() => void)[] = [];
  readonly #forRow: Batch[] = [];
  #forFlush: Batch[] = [];
  #now = 0;
  #coresTaken = 0;
  #isFlushing = false;
  #rowTakenAt = -1;
  #commits = 0;
  #coresMs = 0;
  #flushes = 0;
  #rowMs = 0;
  #random = 1;

  constructor(costs: Costs, cluster: Cluster, load: Load) {
    this.#costs = costs;
    this.#cluster = cluster;
    this.#load = load;
  }

  run(ms: number): Outcome {
    const { servers } = this.#cluster;
    const { perSecond, callersEach = 0 } = this.#load;
    for (let at = 0; at < servers; at++) {
      const server: Server = { cameAt: [], hot: 0, underWay: 0 };
      for (let caller = 0; caller < callersEach; caller++) this.#agenda.add(0, () => this.#call(server));
      if (perSecond !== undefined) this.#callIn(server, (1_000 * servers) / perSecond);
    }
    for (let next = this.#agenda.next(); next && next.at < WARM_MS + ms; next = this.#agenda.next()) {
      this.#now = next.at;
      next.act();
    }
    const waits = this.#waits.toSorted((a, b) => a - b);
    const at = (share: number) => waits[Math.floor(share * (waits.length - 1))] ?? Number.POSITIVE_INFINITY;
    const all = WARM_MS + ms;
    return {
      perSecond: waits.length / (ms / 1_000),
      ...{ p50: at(0.5), p99: at(0.99), slowest: at(1) },
      callsPerCommit: waits.length / this.#commits,
      coresBusy: this.#coresMs / this.#cluster.cores / all,
      logBusy: (this.#flushes * this.#costs.flushMs) / all,
      rowBusy: this.#rowMs / all,
    };
  }

  /** The same in every run (Park and Miller's generator). */
  #chance(): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  }

  /** Callers who know nothing of each other. */
  #callIn(server: Server, meanMs: number): void {
    this.#agenda.add(this.#now - meanMs * Math.log(this.#chance()), () => {
      this.#call(server);
      this.#callIn(server, meanMs);
    });
  }

  #call(server: Server): void {
    server.cameAt.push(this.#now);
    if (this.#chance() < this.#load.hotShare) server.hot++;
    this.#send(server);
  }

  #send(server: Server): void {
    const { cameAt, hot } = server;
    if (cameAt.length === 0 || server.underWay >= this.#cluster.atOnce) return;
    const isHot = hot > 0;
    const batch: Batch = { server, cameAt, isHot, keys: cameAt.length - hot + (isHot ? 1 : 0) };
    server.cameAt = [];
    server.hot = 0;
    server.underWay++;
    this.#agenda.add(this.#now + this.#costs.wayMs / 2, () => {
      this.#onCore(this.#costs.batchMs + batch.keys * this.#costs.keyMs, () => this.#lock(batch));
    });
  }

  #onCore(ms: number, then: () => void): void {
    const begin = () => {
      this.#coresTaken++;
      this.#coresMs += ms;
      this.#agenda.add(this.#now + ms, () => {
        this.#coresTaken--;
        this.#forCore.shift()?.();
        then();
      });
    };
    if (this.#coresTaken < this.#cluster.cores) begin();
    else this.#forCore.push(begin);
  }

  /** Of the hot key. Others meet too rarely to matter: 100,000 keys, some hundred batches. */
  #lock(batch: Batch): void {
    if (!batch.isHot) return this.#commit(batch);
    if (this.#rowTakenAt >= 0) return void this.#forRow.push(batch);
    this.#rowTakenAt = this.#now;
    this.#commit(batch);
  }

  #unlock(): void {
    this.#rowMs += this.#now - this.#rowTakenAt;
    this.#rowTakenAt = -1;
    const next = this.#forRow.shift();
    if (!next) return;
    this.#rowTakenAt = this.#now;
    // Whoever has waited reads the row again.
    this.#onCore(this.#costs.keyMs, () => this.#commit(next));
  }

  #commit(batch: Batch): void {
    this.#forFlush.push(batch);
    if (!this.#isFlushing) this.#flush();
  }

  #flush(): void {
    const batches = this.#forFlush;
    if (batches.length === 0) return;
    this.#forFlush = [];
    this.#isFlushing = true;
    this.#flushes++;
    this.#agenda.add(this.#now + this.#costs.flushMs, () => {
      this.#isFlushing = false;
      for (const batch of batches) this.#finish(batch);
      this.#flush();
    });
  }

  #finish(batch: Batch): void {
    const { server, cameAt, isHot } = batch;
    if (isHot) this.#unlock();
    this.#agenda.add(this.#now + this.#costs.wayMs / 2, () => {
      server.underWay--;
      if (this.#now > WARM_MS) {
        this.#commits++;
        for (const came of cameAt) this.#waits.push(this.#now - came);
      }
      if (this.#load.callersEach !== undefined) for (const _ of cameAt) this.#call(server);
      this.#send(server);
    });
  }
}

export function simulate(costs: Costs, cluster: Cluster, load: Load, ms: number): Outcome {
  return new Model(costs, cluster, load).run(ms);
}
