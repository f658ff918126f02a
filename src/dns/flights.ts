/** Admission control: counts names being asked, in all, per registrable domain and per key, and refuses beyond caps. */

export interface FlightCaps {
  /** Names being asked at one time; each has two questions under way at most. */
  readonly inFlight: number;
  /** Per ICANN-registrable domain: all that a random subdomain attack on one can take. */
  readonly perZone: number;
  readonly perKey: number;
}

export class Flights {
  readonly #caps: FlightCaps;
  readonly #byZone = new Map<string, number>();
  readonly #byKey = new Map<string, number>();
  #inFlight = 0;

  constructor(caps: FlightCaps) {
    this.#caps = caps;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Takes a place and returns what gives it back; undefined when a cap is reached. Nobody queues. */
  take(zone: string, key: string, most: number): (() => void) | undefined {
    const ofZone = this.#byZone.get(zone) ?? 0;
    const ofKey = this.#byKey.get(key) ?? 0;
    const { perZone, perKey } = this.#caps;
    if (this.#inFlight >= most || ofZone >= perZone || ofKey >= perKey) return undefined;
    this.#inFlight += 1;
    this.#byZone.set(zone, ofZone + 1);
    this.#byKey.set(key, ofKey + 1);
    return () => {
      this.#inFlight -= 1;
      lower(this.#byZone, zone);
      lower(this.#byKey, key);
    };
  }
}

function lower(counts: Map<string, number>, name: string): void {
  const count = counts.get(name) ?? 0;
  if (count > 1) counts.set(name, count - 1);
  else counts.delete(name);
}
