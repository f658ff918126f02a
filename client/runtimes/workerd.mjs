/** Runs the checks in workerd, the runtime of Cloudflare's Workers, and visits that end before their lookups do. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const HERE = import.meta.dirname;
const BUILT = join(HERE, '../dist/esm');
const LONGEST_MS = 180_000;

/** Copies what the Worker is made of into a folder, since a configuration names nothing outside of its own. */
function writeConfig(folder, port) {
  const built = readdirSync(BUILT).filter(name => name.endsWith('.js'));
  const files = {
    'visits.mjs': HERE,
    'suite.mjs': HERE,
    ...Object.fromEntries(built.map(name => [`client/${name}`, BUILT])),
  };
  const modules = Object.entries(files).map(([name, from]) => {
    cpSync(join(from, basename(name)), join(folder, name));
    return `(name = "${name}", esModule = embed "${name}")`;
  });
  const path = join(folder, 'config.capnp');
  writeFileSync(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [${modules.join(', ')}], compatibilityDate = "2025-01-01")),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  );
  return path;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether two visits of the same name end in time after one that was over before its lookup. */
async function visitsOf(ask) {
  const visit = path => ask(path, 10_000).catch(error => ({ cause: `${error}` }));
  await visit('/leave');
  const first = await visit('/stay');
  const second = await visit('/stay');
  const isGood = (first.ok || first.cause === 'timeout') && second.ok;
  const failed = isGood ? [] : [`visits after one that ended early: ${JSON.stringify([first, second])}`];
  return { passed: 1 - failed.length, failed, latest: 0 };
}

export async function runInWorkerd(program, tools) {
  const folder = mkdtempSync(join(tmpdir(), 'domain-risk-workerd-'));
  const port = await freePort();
  const child = spawn(program, ['serve', writeConfig(folder, port)], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const ask = async (path, ms = LONGEST_MS) => {
    const asked = { method: 'POST', body: JSON.stringify(tools), signal: AbortSignal.timeout(ms) };
    return (await fetch(`http://127.0.0.1:${port}${path}`, asked)).json();
  };
  try {
    for (let tries = 0; ; tries++) {
      const isThere = await ask('/leave').catch(() => undefined);
      if (isThere !== undefined) break;
      if (tries > 100 || child.exitCode !== null) throw new Error('workerd does not start');
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    return { suite: await ask('/suite'), visits: await visitsOf(ask) };
  } finally {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true });
  }
}
