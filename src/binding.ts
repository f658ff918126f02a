/** The ports of a service, bound before there is one: whoever asks meanwhile is told to come again. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';
import type { Admit } from './admit.ts';
import type { Config } from './config.ts';
import { portsOf } from './http/descriptors.ts';
import type { Doors } from './http/doors.ts';
import { Fairness } from './http/fairness.ts';
import { Listeners, type Together } from './http/listeners.ts';
import type { Metrics } from './http/metrics.ts';
import { OPERATORS } from './http/places.ts';
import { Port, type PortParts } from './http/port.ts';
import { newBodyRoom } from './http/receiving.ts';
import { LIVEZ } from './http/routes-of-callers.ts';

export interface Bound {
  readonly host: string;
  readonly port: number;
}

/** What the ports know of callers, once there is a store. */
export interface World {
  readonly admit: Admit;
  readonly doors: Doors;
}

export interface PortsParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Workers of the process that listen at the same addresses, each with its share of what is bounded. */
  readonly workers?: number | undefined;
}

/** One for callers, and one for operators: the same where they have none of their own. */
export class Ports {
  readonly port: Port;
  readonly operators: Port;
  readonly all: ReadonlySet<Port>;
  readonly #config: Config;
  readonly #isShared: boolean;
  /** Both take their turns in one event loop. */
  readonly #fairness: Fairness;
  #world: World | undefined;

  constructor({ config, log, metrics, workers = 1 }: PortsParts) {
    this.#config = config;
    this.#isShared = workers > 1;
    const ofBoth = portPartsOf({ config, log, metrics, workers, world: () => this.#world });
    this.#fairness = new Fairness(ofBoth);
    const parts = { ...ofBoth, fairness: this.#fairness };
    const isApart = config.metricsPort !== undefined;
    const { callers, operators } = portsOf(workers, isApart);
    this.port = new Port({ ...parts, ...callers });
    this.operators = isApart ? new Port({ ...parts, ...operators, isForOperators: true }) : this.port;
    this.all = new Set([this.port, this.operators]);
    for (const one of this.all) one.add([LIVEZ]);
  }

  async listen(): Promise<void> {
    const { host, port, metricsHost, metricsPort } = this.#config;
    const isShared = this.#isShared;
    try {
      await this.port.listen({ host, port, isShared });
      if (metricsPort !== undefined)
        await this.operators.listen({ host: metricsHost, port: metricsPort, isShared });
    } catch (error) {
      await this.drain();
      throw error;
    }
  }

  /** From now on they know who comes. */
  open(world: World): void {
    this.#world = world;
    for (const one of this.all) one.open();
  }

  /** With other workers of the process, or alone. */
  async drain(together?: Together): Promise<void> {
    await Promise.all([...this.all].map((one, at) => one.drain(new Listeners(together, at))));
    this.#fairness.close();
  }

  /** Connections whose requests wait for their turn. */
  get waiting(): number {
    return this.#fairness.waiting;
  }

  get address(): Bound {
    return addressOf(this.port);
  }

  /** Of the listener for operators, where they have one of their own. */
  get operatorAddress(): Bound | undefined {
    return this.operators === this.port ? undefined : addressOf(this.operators);
  }
}

function addressOf({ server }: Port): Bound {
  const { address, port } = server.address() as AddressInfo;
  return { host: address, port };
}

/**
 * Whether nobody listens there, and at which port for 0: a listener that shares its port would start beside a stranger's
 * that does too, without a word. One that does not share fails, so it comes first.
 */
export async function freePort(at: { readonly host: string; readonly port: number }): Promise<number> {
  const server = createServer();
  server.listen(at);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Calls that the store may be counting at a time. */
const MOST_SPENDING = 8_000;

function portPartsOf(parts: {
  config: Config;
  log: Logger;
  metrics: Metrics;
  workers: number;
  world: () => World | undefined;
}): Omit<PortParts, 'mostConnections' | 'share'> {
  const { config, log, metrics, workers, world } = parts;
  const mostSpending = MOST_SPENDING / workers;
  return {
    log,
    metrics,
    bodies: newBodyRoom(workers),
    accessLog: config.accessLog,
    isTrustedProxy: config.isTrustedProxy,
    connectionsPerAddress: Math.ceil(config.connectionsPerAddress / workers),
    hasLane: config.fastLane === 'on',
    // Asked for routes that come with the world.
    operatorRefusal: call => world()!.doors.operatorRefusal(call),
    callerRefusal: call => world()!.doors.callerRefusal(call),
    isFull: () => (world()?.doors.spending() ?? 0) >= mostSpending,
    isBehind: key => world()?.admit.isBehind(key) ?? false,
    // Operators wait with the keys that are known: they may be about to revoke one of them.
    rowOf(authorization, address, origin) {
      const known = world();
      return (
        known?.admit.known(authorization, address, origin) ??
        (known?.doors.isOperator(authorization) ? OPERATORS : undefined)
      );
    },
  };
}
