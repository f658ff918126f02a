/** One request for one question at a time: whoever asks the same meanwhile waits for the same answer. */

interface Flight<T> {
  readonly landed: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export interface Flights<T> {
  has(key: string): boolean;
  /** Undefined when the caller's own signal came first. The last one to leave ends the request. */
  join(
    key: string,
    signal: AbortSignal | undefined,
    start: (controller: AbortController) => Promise<T>,
  ): Promise<T | undefined>;
}

/** What `start` gives must never reject. */
export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>();

  function forget(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  function take(key: string, start: (controller: AbortController) => Promise<T>): Flight<T> {
    const present = flights.get(key);
    if (present) return present;
    const controller = new AbortController();
    const flight = { controller, waiting: 0, landed: start(controller) };
    flights.set(key, flight);
    void flight.landed.then(() => forget(key, flight));
    return flight;
  }

  return {
    has: key => flights.has(key),
    join(key, signal, start) {
      const flight = take(key, start);
      flight.waiting++;
      return new Promise(resolve => {
        const leave = () => {
          resolve(undefined);
          if (--flight.waiting > 0) return;
          forget(key, flight);
          flight.controller.abort();
        };
        signal?.addEventListener('abort', leave, { once: true });
        void flight.landed.then(value => {
          signal?.removeEventListener('abort', leave);
          resolve(value);
        });
      });
    },
  };
}
