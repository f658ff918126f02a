/** Many callers at once over kept connections; what each of them saw is the oracle. */

import { Agent, request } from 'node:http';
import { pause, sized } from './scale.ts';

/** For tests that need calls all the time and not as many as can be: half of the processors' time went into them. */
export const CALM = sized(10, 0);

export interface Seen {
  /** 0: no answer came. */
  readonly status: number;
  /** The socket's error, where no answer came. */
  readonly error: string | undefined;
  /** `r` of the RateLimit header. */
  readonly remaining: number | undefined;
  readonly body: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Load {
  readonly bases: readonly string[];
  readonly secret: string;
  readonly path?: string;
  readonly method?: 'GET' | 'HEAD';
  /** Asks for so many names in each call. */
  readonly names?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Calls in flight at a time. */
  readonly callers: number;
  /** Asked before each call; false ends that caller. `calls` bounds it in any case. */
  readonly calls: number;
  readonly goOn?: () => boolean;
  /** Of each caller between two calls; none where left out. */
  readonly restMs?: number;
  readonly keepAlive?: boolean;
  readonly onSeen?: (seen: Seen) => void;
}

export async function callMany(load: Load): Promise<Seen[]> {
  const { bases, callers, calls, goOn = () => true, keepAlive = true, restMs = 0 } = load;
  const agent = new Agent({ keepAlive, maxSockets: callers, scheduling: 'fifo' });
  const seen: Seen[] = [];
  let next = 0;
  const caller = async () => {
    while (next < calls && goOn()) {
      const one = await call(load, bases[next++ % bases.length]!, agent);
      seen.push(one);
      load.onSeen?.(one);
      if (restMs > 0) await pause(restMs);
    }
  };
  await Promise.all(Array.from({ length: Math.min(callers, calls) }, caller));
  agent.destroy();
  return seen;
}

export function call(
  load: Pick<Load, 'secret' | 'path' | 'method' | 'names' | 'headers'>,
  base: string,
  agent: Agent,
): Promise<Seen> {
  const { names, path = names ? '/v1/public/domains' : '/v1/public/domain/gmail.com', secret } = load;
  const { method = names ? 'POST' : 'GET' } = load;
  const body = names ? JSON.stringify({ domains: Array(names).fill('gmail.com') }) : undefined;
  const startedAt = performance.now();
  return new Promise(resolve => {
    const end = (status: number, body: string, error?: string, limit?: string) => {
      const remaining = limit === undefined ? undefined : Number(/;r=(\d+)/.exec(limit)?.[1]);
      resolve({ status, body, error, remaining, startedAt, endedAt: performance.now() });
    };
    const failed = (error: NodeJS.ErrnoException) => end(0, '', error.code ?? error.message);
    const type =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length };
    const headers = { authorization: `Bearer ${secret}`, ...type, ...load.headers };
    const req = request(base + path, { agent, method, headers });
    req.on('error', failed);
    req.on('response', res => {
      let body = '';
      res.setEncoding('utf8');
      res.on('data', text => {
        body += text;
      });
      res.on('error', failed);
      res.on('end', () => end(res.statusCode ?? 0, body, undefined, res.headers.ratelimit as string));
    });
    req.end(body);
  });
}

/** How often each status (or socket error) was seen. */
export function tally(seen: readonly Seen[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, error } of seen) {
    const name = error ?? String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
