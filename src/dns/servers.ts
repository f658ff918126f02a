/** The DNS servers to ask: reading their list, and which of them to ask first. */

import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { isPrivateNetwork } from '../core/address.ts';
import { bad, type Checked, good } from '../core/checked.ts';
import type { Ticks } from '../core/ports.ts';

export interface Server {
  /** As shown to operators: `9.9.9.9:53`, `[2620:fe::fe]:53`. */
  readonly text: string;
  readonly address: string;
  readonly port: number;
  readonly version: 4 | 6;
}

const SHAPE = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:]+))(?::(?<port>\d{1,5}))?$/;

function parseServer(item: string): Server | undefined {
  const parts = SHAPE.exec(item)?.groups;
  const address = isIP(item) ? item : (parts?.bracketed ?? parts?.plain ?? '');
  const port = isIP(item) ? 53 : Number(parts?.port ?? 53);
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || port < 1 || port > 65_535) return undefined;
  if (parts?.bracketed !== undefined && version !== 6) return undefined;
  return { text: version === 6 ? `[${address}]:${port}` : `${address}:${port}`, address, port, version };
}

/** Reads `DNS_SERVERS`: one or more `ip`, `ip:port` or `[ipv6]:port`, separated by commas. */
export function parseServers(text: string): Checked<readonly string[]> {
  const servers = new Set<string>();
  for (const item of text.split(',').map(part => part.trim())) {
    const server = parseServer(item);
    if (!server) {
      const shown = JSON.stringify(item.slice(0, 60));
      return bad(
        `${shown} is not a DNS server: write an IP address with an optional port, separated by commas, such as 9.9.9.9,127.0.0.1:5353,[2620:fe::fe]:53`,
      );
    }
    servers.add(server.text);
  }
  return good([...servers]);
}

/** Those inside private networks, where names of one organisation only could leak into answers (split horizon). */
export function serversInPrivateNetworks(servers: readonly string[] = getServers()): string[] {
  return servers.filter(text => isPrivateNetwork(parseServer(text)?.address ?? ''));
}

const FAILURES_TO_REST = 3;
const REST_MS = 5_000;

interface Standing {
  readonly server: Server;
  failures: number;
  restsUntil: number;
}

/**
 * Keeps who answered lately. Standing only orders the servers and never rules one out: whoever owns a tarpit
 * domain can make any server look dead.
 */
export class Servers {
  readonly #standings: readonly Standing[];
  readonly #ticks: Ticks;

  constructor(list: readonly string[] | undefined, ticks: Ticks) {
    const texts = list ?? getServers();
    this.#ticks = ticks;
    this.#standings = texts.map(text => {
      const server = parseServer(text);
      if (!server) throw new Error(`not a DNS server: ${JSON.stringify(text)}`);
      return { server, failures: 0, restsUntil: 0 };
    });
    if (this.#standings.length === 0) throw new Error('no DNS server to ask');
  }

  /** The listed order, those that rest last. One question at a time tries one whose rest is over (half-open breaker). */
  inOrder(): Server[] {
    const now = this.#ticks();
    const awake = this.#standings.filter(one => one.restsUntil <= now);
    const resting = this.#standings.filter(one => one.restsUntil > now);
    for (const one of awake) if (one.failures >= FAILURES_TO_REST) one.restsUntil = now + REST_MS;
    return [...awake, ...resting].map(one => one.server);
  }

  answered(server: Server): void {
    const one = this.#standing(server);
    one.failures = 0;
    one.restsUntil = 0;
  }

  failed(server: Server): void {
    const one = this.#standing(server);
    one.failures += 1;
    if (one.failures >= FAILURES_TO_REST) one.restsUntil = this.#ticks() + REST_MS;
  }

  health(): { address: string; healthy: boolean }[] {
    return this.#standings.map(one => ({
      address: one.server.text,
      healthy: one.failures < FAILURES_TO_REST,
    }));
  }

  #standing(server: Server): Standing {
    const found = this.#standings.find(one => one.server === server);
    if (!found) throw new Error(`a server of another list: ${server.text}`);
    return found;
  }
}
