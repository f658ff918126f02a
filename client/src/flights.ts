/** One request for one question at a time: whoever asks the same meanwhile waits for the same answer. */

interface Flight<T> {
  readonly landed: Promise<T>;
  readonly controller: AbortController;
  /** When it is over by all means. */
  readonly until: number;
  waiting: number;
}

export interface Flights<T> {
  has(key: string): boolean;
  /**
   * Undefined when the caller's own signal or time came first. The last one to leave by a signal ends the request. Each
   * has a timer of their own: in some edge runtimes the timers and requests of a visit end with it, and whoever relied on
   * another visit's would wait for ever (workerd, 2026-11-17).
   */
  join(
    key: string,
    signal: AbortSignal | undefined,
    timeout: number,
    start: (controller: AbortController) => Promise<T>,
  ): Promise<T | undefined>;
}

/** What `start` gives must never reject. */
export function createFlights<T>(now: () => number): Flights<T> {
  const flights = new Map<string, Flight<T>>();

  function forget(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  function present(key: string): Flight<T> | undefined {
    // The oldest come first: those that never landed go.
    for (const [other, flight] of flights) {
      if (flight.until > now()) break;
      forget(other, flight);
    }
    const flight = flights.get(key);
    return flight && flight.until > now() ? flight : undefined;
  }

  function take(key: string, timeout: number, start: (controller: AbortController) => Promise<T>): Flight<T> {
    const joined = present(key);
    if (joined) return joined;
    const controller = new AbortController();
    const flight = { controller, until: now() + timeout, waiting: 0, landed: start(controller) };
    flights.delete(key);
    flights.set(key, flight);
    void flight.landed.then(() => forget(key, flight));
    return flight;
  }

  return {
    has: key => present(key) !== undefined,
    join(key, signal, timeout, start) {
      const flight = take(key, timeout, start);
      flight.waiting++;
      return new Promise(resolve => {
        const end = (value: T | undefined) => {
          clearTimeout(timer);
          signal?.removeEventListener?.('abort', leave);
          resolve(value);
        };
        const leave = () => {
          end(undefined);
          if (--flight.waiting > 0) return;
          forget(key, flight);
          flight.controller.abort();
        };
        // What is no signal throws here, before there is a timer.
        signal?.addEventListener('abort', leave);
        // The request's own timer was set before this one, and comes first where it still runs.
        const timer = setTimeout(end, timeout, undefined);
        void flight.landed.then(end);
      });
    },
  };
}
