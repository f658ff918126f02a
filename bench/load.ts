/** Puts load on one address and reads off the figures: wrk where it is installed, else autocannon. */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { has, pinned } from './pinned.ts';

export interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Load {
  readonly url: string;
  /** Paths that are asked for in turn. */
  readonly paths: readonly string[];
  /** Sent in turn with the paths, as JSON. */
  readonly bodies?: readonly string[];
  /** Header values, in turn with the paths. */
  readonly authorizations: readonly string[];
  readonly seconds: number;
  readonly connections: number;
  /** False where it may use every core, beside the server. */
  readonly isPinned?: boolean;
}

export const hasWrk = has('wrk');

export function put(load: Load): Promise<Figures> {
  return hasWrk ? putByWrk(load) : putByAutocannon(load);
}

async function putByWrk(load: Load): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const script = join(folder, 'load.lua');
  writeFileSync(
    script,
    `local paths = { ${load.paths.map(path => JSON.stringify(path)).join(', ')} }
local keys = { ${load.authorizations.map(value => JSON.stringify(value)).join(', ')} }
local bodies = { ${(load.bodies ?? []).map(body => `[==[${body}]==]`).join(', ')} }
local prepared, at = {}, 0
function init()
  for i = 1, math.max(#paths, #keys, #bodies) do
    local headers = { ["Authorization"] = keys[(i - 1) % #keys + 1], ["Content-Type"] = #bodies > 0 and "application/json" or nil }
    local body = #bodies > 0 and bodies[(i - 1) % #bodies + 1] or nil
    prepared[i] = wrk.format(body and "POST" or "GET", paths[(i - 1) % #paths + 1], headers, body)
  end
end
function request()
  at = at % #prepared + 1
  return prepared[at]
end
function done(summary, latency)
  io.write(string.format("FIGURES %f %f %f\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end`,
  );
  const [program, ...args] = [
    ...(load.isPinned === false ? [] : pinned(1)),
    'wrk',
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '-s',
    script,
    load.url,
  ];
  // Not in one go: the DNS server that the names are asked from may be in this process.
  const { stdout, stderr } = await promisify(execFile)(program!, args);
  rmSync(folder, { recursive: true });
  const [, perSecond, p50, p99] = /FIGURES (\S+) (\S+) (\S+)/.exec(stdout) ?? [];
  if (!perSecond) throw new Error(`wrk gave no figures: ${stderr}`);
  return { perSecond: Number(perSecond), p50: Number(p50), p99: Number(p99) };
}

async function putByAutocannon(load: Load): Promise<Figures> {
  const { bodies = [] } = load;
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    requests: Array.from(
      { length: Math.max(load.paths.length, load.authorizations.length, bodies.length) },
      (_, at) => {
        const path = load.paths[at % load.paths.length]!;
        const authorization = load.authorizations[at % load.authorizations.length]!;
        const body = bodies[at % bodies.length];
        return body === undefined
          ? { method: 'GET' as const, path, headers: { authorization } }
          : {
              method: 'POST' as const,
              path,
              headers: { authorization, 'content-type': 'application/json' },
              body,
            };
      },
    ),
  });
  return { perSecond: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}
