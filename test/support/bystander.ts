/** A caller who does nothing wrong, at a steady pace from 127.0.0.1, while others misbehave. */

import { Agent, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Running } from './process.ts';

export interface Answer {
  readonly path: string;
  /** 0: no answer came. */
  readonly status: number;
  readonly error: string | undefined;
  readonly ms: number;
}

export interface Bystander {
  readonly seen: readonly Answer[];
  /** Waits for what is on its way. */
  stop(): Promise<readonly Answer[]>;
}

export const API_PATH = '/v1/public/domain/mailinator.com';
/** Whoever has had no answer by then would have gone long ago. */
const PATIENCE_MS = 10_000;

export function startBystander(
  server: Pick<Running, 'port'>,
  options: { secret: string; perSecond?: number; paths?: readonly string[] },
): Bystander {
  const { secret, perSecond = 20, paths = [API_PATH] } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 200, scheduling: 'fifo' });
  const seen: Answer[] = [];
  const pending = new Set<Promise<void>>();
  let next = 0;
  const timer = setInterval(() => {
    const asked = ask(server.port, paths[next++ % paths.length]!, secret, agent).then(answer => {
      seen.push(answer);
      pending.delete(asked);
    });
    pending.add(asked);
  }, 1000 / perSecond);
  const stop = async () => {
    clearInterval(timer);
    await Promise.all(pending);
    agent.destroy();
    return seen;
  };
  onTestFinished(async () => void (await stop()));
  return { seen, stop };
}

function ask(port: number, path: string, secret: string, agent: Agent): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise(resolve => {
    const end = (status: number, error?: string) =>
      resolve({ path, status, error, ms: performance.now() - startedAt });
    const headers = { authorization: `Bearer ${secret}` };
    const req = request({ port, host: '127.0.0.1', path, agent, headers, timeout: PATIENCE_MS });
    const failed = (error: NodeJS.ErrnoException) => end(0, error.code ?? error.message);
    req.on('timeout', () => req.destroy(new Error('no answer')));
    req.on('error', failed);
    req.on('response', res => {
      res.on('error', failed);
      res.on('end', () => end(res.statusCode ?? 0));
      res.resume();
    });
    req.end();
  });
}

/** How often each status, or error, came. */
export function statusesOf(seen: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, error } of seen) {
    const name = error ?? String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export function percentile(seen: readonly { readonly ms: number }[], share: number): number {
  const sorted = seen.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
