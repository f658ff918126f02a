import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../support/process.ts';
import { eventually, sized } from '../support/scale.ts';
import { temporaryFolder } from '../support/service.ts';

/** In the short form workers.test.ts has a token reloaded by several workers. */
test.each(sized(['1'], ['1', '2']))(
  'SIGHUP, as when nohup is left alone, ends no server: it reloads the token and the log level (WORKERS=%s)',
  async WORKERS => {
    const folder = temporaryFolder();
    const token = join(folder, 'token');
    const settings = join(folder, 'settings.env');
    const [before, after] = ['a'.repeat(40), 'b'.repeat(40)];
    writeFileSync(token, before);
    writeFileSync(settings, 'LOG_LEVEL=info\n');
    const env = { WORKERS, ADMIN_TOKEN_FILE: token, DOMAIN_RISK_ENV_FILE: settings };
    const server = await startServer({ env });
    const reloads = () => server.stdout().split('"settings reloaded"').length - 1;
    const status = async (secret: string) => (await server.get('/admin/keys', secret)).status;
    expect([await status(before), await status(after)]).toEqual([200, 401]);
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) server.signal(signal);

    writeFileSync(token, 'short');
    server.signal('SIGHUP');
    await eventually('it says why not', () => server.stdout().includes('all stays as it was'));
    expect(await status(before)).toBe(200);

    rmSync(token);
    execFileSync('mkfifo', [token]);
    server.signal('SIGHUP');
    await eventually('a pipe holds nobody', () => server.stdout().includes('must name a regular file'));
    expect(await status(before)).toBe(200);

    rmSync(token);
    writeFileSync(token, after);
    writeFileSync(settings, 'LOG_LEVEL=debug\nDOCS=off\n');
    server.signal('SIGHUP');
    await eventually('reloaded', () => reloads() === 1);
    expect(server.stdout()).toMatch(/"changed":\[[^\]]*"ADMIN_TOKEN_FILE"/);
    await eventually('the new token counts', async () => (await status(after)) === 200);
    expect(await status(before)).toBe(401);
    expect(server.stdout()).toMatch(
      /"settings":\["DOCS"\],"msg":"these settings count from the next start on"/,
    );
    expect(server.stderr()).not.toContain('Debugger');
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);
