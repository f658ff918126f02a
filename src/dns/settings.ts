/** What operators set of DNS: the servers to ask, and the names by which these prove themselves. */

import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { isPrivateNetwork } from '../core/address.ts';
import { bad, type Checked, good } from '../core/checked.ts';
import { parseDomain } from '../core/domain.ts';
import { isSpecialUse } from '../core/special-use.ts';

export interface Server {
  /** As shown to operators: `9.9.9.9:53`, `[2620:fe::fe]:53`. */
  readonly text: string;
  readonly address: string;
  readonly port: number;
  readonly version: 4 | 6;
}

const SHAPE = /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:]+))(?::(?<port>\d{1,5}))?$/;

export function parseServer(item: string): Server | undefined {
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

/** Those inside private networks, where names of one organisation only could leak into answers. */
export function serversInPrivateNetworks(servers: readonly string[] = getServers()): string[] {
  return servers.filter(text => isPrivateNetwork(parseServer(text)?.address ?? ''));
}

/** Each is a question to each server in each probe. */
const MOST_SENTINELS = 10;

/** Reads `DNS_SENTINELS`. */
export function parseSentinels(text: string): Checked<readonly string[]> {
  const names = new Set<string>();
  for (const item of text.split(',').map(part => part.trim())) {
    if (item === '') continue;
    const parsed = parseDomain(item);
    if (!parsed.ok || isSpecialUse(parsed.domain)) {
      const shown = JSON.stringify(item.slice(0, 60));
      return bad(
        `${shown} is not a public domain: write names that certainly receive mail, separated by commas`,
      );
    }
    names.add(parsed.domain);
  }
  return names.size <= MOST_SENTINELS ? good([...names]) : bad(`must be ${MOST_SENTINELS} names at most`);
}
