/** The recipes of docs/hooks.md, each given what its platform passes in. */

import { execFile, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bareEnvironment } from './support/environment.ts';
import { startOddService } from './support/odd-service.ts';
import { KEYCLOAK } from './support/platforms/keycloak.ts';
import { ROOT } from './support/process.ts';
import { sharedService, temporaryFolder } from './support/service.ts';

const service = sharedService();
const text = readFileSync(join(ROOT, 'docs/hooks.md'), 'utf8');
const recipes = new Map(
  [...text.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file, code]) => [file!, code!] as const),
);
const MESSAGE = 'Please use another email address.';
/** Before the @ is what a visitor may write, and no address has. */
const [BAD, GOOD] = ['"jane"..+x/y@mailinator.com', 'jane.doe@gmail.com'];
const AWAY = 'http://127.0.0.1:1';

interface Access {
  readonly DOMAIN_RISK_URL: string;
  readonly DOMAIN_RISK_KEY: string;
}

/** Whether each sign-up was refused, one after the other. */
type AreRefused = (emails: readonly string[]) => Promise<boolean[]>;
/** What a recipe needs to be run, with a deadline of so many seconds. */
type Platform = (access: Access, seconds: number) => Promise<AreRefused>;

/** A disk that is busy may keep a count for longer than visitors are to wait. */
const PATIENT_S = 90;
const HASTY_S = 1.5;
/** Whoever waits for that long at three addresses has ended long before. */
const HANGS_MS = 60_000;

const waiting = (code: string, seconds: number) =>
  code.replaceAll(/\b2500\b/g, `${seconds * 1_000}`).replaceAll(/\b2\.5\b|(?<=->timeout\()2/g, `${seconds}`);

function write(file: string, seconds: number): string {
  const path = join(temporaryFolder(), file);
  writeFileSync(path, waiting(recipes.get(file)!, seconds));
  return path;
}
const load = (file: string, seconds: number) => import(pathToFileURL(write(file, seconds)).href);

function oneByOne(isRefused: (email: string) => Promise<boolean>): AreRefused {
  return async emails => {
    const all: boolean[] = [];
    for (const email of emails) all.push(await isRefused(email));
    return all;
  };
}

/** A program of the platform's side, which says for each address what its user is told. */
function told(command: readonly string[], access: Access): AreRefused {
  return async emails => {
    const options = {
      env: bareEnvironment({ ...access }),
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    } as const;
    const args = [...command.slice(1), ...emails];
    const { stdout, stderr } = await promisify(execFile)(command[0]!, args, options);
    console.error(stderr);
    const lines = stdout.trim().split('\n');
    expect(new Set([...lines, 'None', MESSAGE])).toEqual(new Set(['None', MESSAGE]));
    return lines.map(line => line === MESSAGE);
  };
}
const beside = (name: string) => join(ROOT, 'test/support/platforms', name);

const SECRET = Buffer.from('a secret of the hook').toString('base64');

const PLATFORMS: Readonly<Record<string, Platform>> = {
  async 'auth0.cjs'(secrets, seconds) {
    const { onExecutePreUserRegistration } = createRequire(import.meta.url)(write('auth0.cjs', seconds));
    return oneByOne(async email => {
      const deny = vi.fn();
      await onExecutePreUserRegistration({ secrets, user: { email } }, { access: { deny } });
      if (deny.mock.calls.length > 0) expect(deny.mock.calls).toEqual([['risky_email_domain', MESSAGE]]);
      return deny.mock.calls.length > 0;
    });
  },

  async 'supabase.mjs'(access, seconds) {
    let handler: ((request: Request) => Promise<Response>) | undefined;
    const env: Record<string, string> = { ...access, HOOK_SECRET: `v1,whsec_${SECRET}` };
    const serve = (given: typeof handler) => {
      handler = given;
    };
    vi.stubGlobal('Deno', { env: { get: (name: string) => env[name] }, serve });
    await load('supabase.mjs', seconds);
    const post = (email: string, seconds: number, secret = SECRET) => {
      const body = JSON.stringify({ metadata: { name: 'before-user-created' }, user: { email } });
      const hmac = createHmac('sha256', Buffer.from(secret, 'base64'));
      const signature = hmac.update(`msg_1.${seconds}.${body}`).digest('base64');
      const headers = {
        ...{ 'webhook-id': 'msg_1', 'webhook-timestamp': `${seconds}` },
        'webhook-signature': `v1,bm90IHRoaXM= v1,${signature}`,
      };
      return handler!(new Request('https://hook.example', { method: 'POST', headers, body }));
    };
    const now = Math.floor(Date.now() / 1_000);
    const other = Buffer.from('another').toString('base64');
    const statuses = [await post(GOOD, now - 400), await post(GOOD, now, other)].map(({ status }) => status);
    expect(statuses).toEqual([401, 401]);
    return oneByOne(async email => {
      const answer = await post(email, now);
      const { error } = (await answer.json()) as { error?: unknown };
      if (error) expect(error).toEqual({ http_code: 403, message: MESSAGE });
      expect(answer.status).toBe(200);
      return error !== undefined;
    });
  },

  async 'authjs.mjs'(access, seconds) {
    const { withDomainRisk } = await load('authjs.mjs', seconds);
    const { callbacks } = withDomainRisk(async (email: string) => email.startsWith('known'));
    const signIn = (email: string) =>
      callbacks.signIn({ user: { id: '1', email }, account: { provider: 'email', type: 'email' } });
    vi.stubEnv('DOMAIN_RISK_URL', access.DOMAIN_RISK_URL);
    vi.stubEnv('DOMAIN_RISK_KEY', access.DOMAIN_RISK_KEY);
    expect(await signIn('known@mailinator.com')).toBe(true);
    return oneByOne(async email => !(await signIn(email)));
  },

  async 'worker.mjs'(access, seconds) {
    const { default: worker } = await load('worker.mjs', seconds);
    const real = fetch;
    const origin = async (request: Request) =>
      new Response(`welcome ${(await request.formData()).get('email')}`);
    vi.stubGlobal('fetch', (target: Request | string, init?: RequestInit) =>
      target instanceof Request ? origin(target) : real(target, init),
    );
    return oneByOne(async email => {
      const body = new URLSearchParams({ email });
      const answer: Response = await worker.fetch(
        new Request('https://a.example/signup', { method: 'POST', body }),
        access,
      );
      expect(await answer.text()).toBe(answer.status === 422 ? MESSAGE : `welcome ${email}`);
      return answer.status === 422;
    });
  },

  async 'django_check.py'(access, seconds) {
    const folder = dirname(write('django_check.py', seconds));
    return told(['python3', beside('django.py'), folder], access);
  },

  async 'DomainRisk.java'(access, seconds) {
    const folder = dirname(write('DomainRisk.java', seconds));
    for (const [file, code] of Object.entries(KEYCLOAK)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), code);
    }
    await promisify(execFile)('javac', ['-cp', '.', 'Ask.java'], { cwd: folder });
    return told(['java', '-cp', folder, 'Ask'], access);
  },

  async 'wordpress.php'(access, seconds) {
    return told(['php', beside('wordpress.php'), write('wordpress.php', seconds)], access);
  },

  async 'AcceptableDomain.php'(access, seconds) {
    return told(['php', beside('laravel.php'), write('AcceptableDomain.php', seconds)], access);
  },
};

/** What succeeds where a recipe can be run. That in Java starts slowly: `npm run test:runtimes` runs it. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  py: ['python3', '--version'],
  php: ['php', '-r', 'exit((int) !extension_loaded("curl"));'],
  java: ['javac', '--version'],
};

function isRunnable(file: string): boolean {
  const [program, ...args] = NEEDS[file.split('.')[1]!] ?? [];
  if (program === undefined) return true;
  if (program === 'javac' && process.env.CALLERS !== 'all') return false;
  const found = spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (!found) process.stderr.write(`not tested here: ${file}, what it needs is not installed\n`);
  return found;
}
const runnable = Object.keys(PLATFORMS).filter(isRunnable);

test('every recipe of the page is known here, and has a deadline', () => {
  expect([...recipes.keys()]).toEqual(Object.keys(PLATFORMS));
  for (const [file, code] of recipes) expect([file, waiting(code, PATIENT_S)]).not.toEqual([file, code]);
});

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test.each(runnable)(
  '%s refuses, accepts, and lets everybody through over quota and while away',
  async file => {
    const { key, secret } = await service().key({ quota: 2 });
    const ask = async (url: string, emails: readonly string[]) => {
      const access = { DOMAIN_RISK_URL: url, DOMAIN_RISK_KEY: secret };
      const areRefused = await PLATFORMS[file]!(access, PATIENT_S);
      return areRefused(emails).finally(() => vi.unstubAllGlobals());
    };
    expect(await ask(service().base, [BAD, GOOD, BAD])).toEqual([true, false, false]);
    expect(await service().used(key)).toBe(2);
    expect(await ask(AWAY, [BAD])).toEqual([false]);
  },
);

test('a server that stops, drips, redirects or answers something else holds up, breaks and robs no recipe', async () => {
  const ask = async (file: string) => {
    const odd = await startOddService();
    const access = { DOMAIN_RISK_URL: odd.base, DOMAIN_RISK_KEY: 'drk_secret' };
    const areRefused = await PLATFORMS[file]!(access, HASTY_S);
    const refused = await areRefused(odd.emails);
    expect([file, refused]).toEqual([file, odd.emails.map(() => false)]);
    const asked = new Set([odd.domains[0], ...odd.asked]);
    expect([file, [...asked], odd.stolen]).toEqual([file, odd.domains, []]);
  };
  await Promise.all(runnable.map(ask));
  // What is to be fixed is logged by each, and nobody's address by any.
  const calls = [console.log, console.error].flatMap(one => vi.mocked(one).mock.calls);
  const logged = calls.map(one => one.join(' ')).join('\n');
  expect(logged.match(/domain-risk: .*\b403\b/g)).toHaveLength(runnable.length);
  expect(logged).not.toContain('jane');
});

test('a form with two addresses does not pass the worker by the first', async () => {
  const { default: worker } = await load('worker.mjs', HASTY_S);
  const body = new URLSearchParams([
    ['email', GOOD],
    ['email', BAD],
  ]);
  const request = new Request('https://a.example/signup', { method: 'POST', body });
  expect((await worker.fetch(request, {})).status).toBe(422);
});

test.runIf(runnable.includes('django_check.py'))(
  'half of a character in an address breaks no form',
  async () => {
    const ask = await PLATFORMS['django_check.py']!({ DOMAIN_RISK_URL: AWAY, DOMAIN_RISK_KEY: 'x' }, HASTY_S);
    expect(await ask(['jane\\ud800@mailinator.com'])).toEqual([false]);
  },
);
