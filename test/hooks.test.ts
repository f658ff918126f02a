/** The recipes of docs/hooks.md, each given what its platform passes in. */

import { execFile, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bareEnvironment } from './support/environment.ts';
import { hasTool, ROOT } from './support/process.ts';
import { sharedService, temporaryFolder } from './support/service.ts';

const service = sharedService();
const text = readFileSync(join(ROOT, 'docs/hooks.md'), 'utf8');
const recipes = new Map(
  [...text.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, file, code]) => [file!, code!] as const),
);
const MESSAGE = 'Please use another email address.';
const [BAD, GOOD] = ['jane+x/y@mailinator.com', 'jane.doe@gmail.com'];
const AWAY = 'http://127.0.0.1:1';

interface Access {
  readonly DOMAIN_RISK_URL: string;
  readonly DOMAIN_RISK_KEY: string;
}

/** Whether a sign-up was refused. */
type IsRefused = (email: string) => Promise<boolean>;

/** A disk that is busy may keep a count for longer than visitors are to wait. */
const patient = (code: string) =>
  code.replaceAll('(2500)', '(90_000)').replaceAll('timeout=2.5', 'timeout=90');

function write(file: string): string {
  const path = join(temporaryFolder(), file);
  writeFileSync(path, patient(recipes.get(file)!));
  return path;
}
const load = (file: string) => import(pathToFileURL(write(file)).href);

const SECRET = Buffer.from('a secret of the hook').toString('base64');

const PLATFORMS: Readonly<Record<string, (access: Access) => Promise<IsRefused>>> = {
  async 'auth0.cjs'(secrets) {
    const { onExecutePreUserRegistration } = createRequire(import.meta.url)(write('auth0.cjs'));
    return async email => {
      const deny = vi.fn();
      await onExecutePreUserRegistration({ secrets, user: { email } }, { access: { deny } });
      if (deny.mock.calls.length > 0) expect(deny.mock.calls).toEqual([['risky_email_domain', MESSAGE]]);
      return deny.mock.calls.length > 0;
    };
  },

  async 'supabase.mjs'(access) {
    let handler: ((request: Request) => Promise<Response>) | undefined;
    const env: Record<string, string> = { ...access, HOOK_SECRET: `v1,whsec_${SECRET}` };
    const serve = (given: typeof handler) => {
      handler = given;
    };
    vi.stubGlobal('Deno', { env: { get: (name: string) => env[name] }, serve });
    await load('supabase.mjs');
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
    return async email => {
      const answer = await post(email, now);
      const { error } = (await answer.json()) as { error?: unknown };
      if (error) expect(error).toEqual({ http_code: 403, message: MESSAGE });
      expect(answer.status).toBe(200);
      return error !== undefined;
    };
  },

  async 'authjs.mjs'(access) {
    const { withDomainRisk } = await load('authjs.mjs');
    const { callbacks } = withDomainRisk(async (email: string) => email.startsWith('known'));
    const signIn = (email: string) =>
      callbacks.signIn({ user: { id: '1', email }, account: { provider: 'email', type: 'email' } });
    vi.stubEnv('DOMAIN_RISK_URL', access.DOMAIN_RISK_URL);
    vi.stubEnv('DOMAIN_RISK_KEY', access.DOMAIN_RISK_KEY);
    expect(await signIn('known@mailinator.com')).toBe(true);
    return async email => !(await signIn(email));
  },

  async 'worker.mjs'(access) {
    const { default: worker } = await load('worker.mjs');
    const real = fetch;
    const origin = async (request: Request) =>
      new Response(`welcome ${(await request.formData()).get('email')}`);
    vi.stubGlobal('fetch', (target: Request | string, init?: RequestInit) =>
      target instanceof Request ? origin(target) : real(target, init),
    );
    return async email => {
      const body = new URLSearchParams({ email });
      const answer: Response = await worker.fetch(
        new Request('https://a.example/signup', { method: 'POST', body }),
        access,
      );
      expect(await answer.text()).toBe(answer.status === 422 ? MESSAGE : `welcome ${email}`);
      return answer.status === 422;
    };
  },

  async 'django_check.py'(access) {
    const path = write('django_check.py');
    const folder = join(path, '..', 'django');
    mkdirSync(join(folder, 'core'), { recursive: true });
    const settings = Object.entries(access).map(([name, value]) => `    ${name} = ${JSON.stringify(value)}`);
    writeFileSync(join(folder, 'conf.py'), `class settings:\n${settings.join('\n')}\n`);
    writeFileSync(
      join(folder, 'core', 'exceptions.py'),
      'class ValidationError(Exception):\n    def __init__(self, message, code=None):\n        self.message = message\n',
    );
    const ask = [
      'import sys, django_check as it',
      'try:\n    print(it.acceptable_domain(sys.argv[1]))',
      'except it.ValidationError as error:\n    print(error.message)\n',
    ].join('\n');
    const env = bareEnvironment({ PYTHONPATH: join(path, '..') });
    return async email => {
      const said = (await promisify(execFile)('python3', ['-c', ask, email], { env })).stdout.trim();
      expect(['None', MESSAGE]).toContain(said);
      return said === MESSAGE;
    };
  },
};

const NOT_RUN = ['DomainRisk.java', 'wordpress.php', 'AcceptableDomain.php'];

test('every recipe of the page is known here, and has a timeout', () => {
  expect([...recipes.keys()]).toEqual([...Object.keys(PLATFORMS), ...NOT_RUN]);
  for (const [file, code] of recipes) expect([file, /imeout\D+2/.test(code)]).toEqual([file, true]);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

describe.each(Object.keys(PLATFORMS))('%s', file => {
  const isThere = !file.endsWith('.py') || hasTool('python3');
  test.skipIf(!isThere)(
    'refuses, accepts, and lets everybody through over quota and while away',
    async () => {
      vi.spyOn(console, 'log').mockImplementation(() => {});
      vi.spyOn(console, 'error').mockImplementation(() => {});
      const { key, secret } = await service().key({ quota: 2 });
      const here = await PLATFORMS[file]!({ DOMAIN_RISK_URL: service().base, DOMAIN_RISK_KEY: secret });
      expect([await here(BAD), await here(GOOD), await here(BAD)]).toEqual([true, false, false]);
      expect(await service().used(key)).toBe(2);
      vi.unstubAllGlobals();
      const away = await PLATFORMS[file]!({ DOMAIN_RISK_URL: AWAY, DOMAIN_RISK_KEY: secret });
      expect(await away(BAD)).toBe(false);
      vi.restoreAllMocks();
    },
  );
});

const hasPhp = spawnSync('php', ['--version'], { stdio: 'ignore' }).error === undefined;
test.skipIf(!hasPhp).each(NOT_RUN.filter(file => file.endsWith('.php')))('%s is PHP', async file => {
  await promisify(execFile)('php', ['-l', write(file)]);
});
