import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasTool, startChild, startServer } from '../support/process.ts';
import { eventually, sized } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

const CALLS = sized(50, 200);

/** In the order of completion: the journal's fsync has returned, or the first bytes of an answer go out. */
function events(trace: string): ('synced' | 'answered')[] {
  const open = new Map<string, string>();
  return trace.split('\n').flatMap(line => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const unfinished = rest.endsWith('<unfinished ...>');
    if (unfinished) open.set(thread, rest);
    const call = rest.startsWith('<...') ? (open.get(thread) ?? '') + rest : rest;
    if (/^f(data)?sync\(/.test(call) && call.includes('-wal'))
      return unfinished || !/= 0$/.test(call) ? [] : ['synced' as const];
    // An answer counts from the moment its write begins.
    if (rest.startsWith('<...') || !rest.includes('HTTP/1.1 200')) return [];
    return ['answered' as const];
  });
}

/** Workers hand their counts to the same thread, which is traced in the full form; killed with two, none is lost (crash.test.ts). */
test.skipIf(!hasTool('strace')).each(sized(['1'], ['1', '2']))(
  `with %s workers the count of each of ${CALLS} calls is on the disk before the first byte of its answer`,

  async WORKERS => {
    const server = await startServer({ env: { WORKERS } });
    const file = join(temporaryFolder(), 'trace');
    const calls = 'trace=fsync,fdatasync,write,writev,sendto,sendmsg';
    const command = ['strace', '-f', '-y', '-s', '64', '-e', calls, '-o', file, '-p', `${server.pid}`];
    const tracer = startChild(command, { PATH: process.env.PATH });
    onTestFinished(async () => {
      tracer.child.kill('SIGINT');
      await tracer.exited;
    });
    await eventually('the tracer is attached', () => /attached/.test(tracer.stderr()));
    for (let i = 0; i < CALLS; i++) {
      const response = await server.get('/v1/public/domain/gmail.com', server.firstKey);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    const answers = () => events(readFileSync(file, 'utf8')).filter(event => event === 'answered').length;
    await eventually('the trace is written', () => answers() >= CALLS);
    const seen = events(readFileSync(file, 'utf8'));
    for (const [at, event] of seen.entries()) {
      if (event === 'answered') expect([at, seen[at - 1]]).toEqual([at, 'synced']);
    }
  },
);
