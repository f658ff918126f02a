/**
 * Every recipe, run with the library that it is for and against the service: refused, accepted, and failing open. Those that
 * need a library are run by `npm run test:runtimes`, which installs them (20 s of a core, 2026-11-17).
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CLIENT } from '../../scripts/build-client.ts';
import { installIn } from '../../scripts/install-in.ts';
import { nobodysBase } from '../support/bad-server.ts';
import { sharedService } from '../support/service.ts';

const EXAMPLES = join(CLIENT, 'examples');
const MESSAGE = 'Please use another email address.';

interface Access {
  readonly url: string;
  readonly key: string;
}

/** Signs up by a recipe: undefined when that worked, else what the visitor is told. */
type SignUp = (email: string) => Promise<string | undefined>;
type Recipe = (access: Access) => Promise<SignUp>;

const require = createRequire(join(EXAMPLES, 'package.json'));

/** By variables, since the packages below it may not be installed when types are checked. */
// biome-ignore lint/suspicious/noExplicitAny: what a recipe exports is checked by its own compiler run
async function load(file: string, { url, key }: Access): Promise<any> {
  vi.resetModules();
  Object.assign(process.env, {
    DOMAIN_RISK_URL: url,
    DOMAIN_RISK_KEY: key,
    BETTER_AUTH_SECRET: 'only-for-tests-and-long-enough-for-them',
  });
  return import(join(EXAMPLES, file));
}

const asJson = (email: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ email }),
});

async function told(response: Response): Promise<string | undefined> {
  const body = (await response.json()) as { error?: string; welcome?: string };
  expect(response.status).toBe(body.error ? 422 : 201);
  return body.error;
}

async function express(access: Access): Promise<SignUp> {
  const { app } = await load('express.ts', access);
  const server = app.listen(0, '127.0.0.1');
  await new Promise(done => server.once('listening', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async email => told(await fetch(`http://127.0.0.1:${port}/sign-up`, asJson(email)));
}

async function fastify(access: Access): Promise<SignUp> {
  const { app } = await load('fastify.ts', access);
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return async email => told(await fetch(`${address}/sign-up`, asJson(email)));
}

/** A route handler is a function of a request: nothing of Next.js runs in it. */
async function nextRoute(access: Access): Promise<SignUp> {
  const { POST } = await load('next-route.ts', access);
  return async email => told(await POST(new Request('http://localhost/api/sign-up', asJson(email))));
}

async function zod(access: Access): Promise<SignUp> {
  const { SignUp } = await load('zod.ts', access);
  return async email => {
    const parsed = await SignUp.safeParseAsync({ name: 'Somebody', email });
    return parsed.error?.issues[0].message;
  };
}

async function betterAuth(access: Access): Promise<SignUp> {
  const { auth } = await load('better-auth.ts', access);
  return async email => {
    const body = { name: 'Somebody', email, password: 'long enough for it' };
    const [made, error] = await auth.api.signUpEmail({ body }).then(
      (user: unknown) => [user],
      (thrown: Error) => [undefined, thrown],
    );
    expect(made === undefined || made.user.email === email).toBe(true);
    return error?.message;
  };
}

/** A page with its own window; React and the forms look for it under the global names. */
function openPage(html: string) {
  const { Window } = require('happy-dom');
  const window = new Window({ url: 'http://localhost/' });
  window.document.write(html);
  for (const name of ['window', 'document', 'HTMLElement', 'Event', 'Node']) {
    vi.stubGlobal(name, name === 'window' ? window : window[name]);
  }
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await window.happyDOM.abort();
  });
  return window;
}

async function reactHookForm({ url, key }: Access): Promise<SignUp> {
  const { document, Event, HTMLInputElement } = openPage('<main></main>');
  const { createSignUp } = await load('react-hook-form.tsx', { url, key });
  const { createElement } = require('react');
  const { createRoot } = require('react-dom/client');
  return async email => {
    const onSignUp = vi.fn();
    const root = createRoot(document.querySelector('main'));
    root.render(createElement(createSignUp({ riskUrl: url, riskKey: key, onSignUp })));
    const input = await vi.waitUntil(() => document.querySelector('input'));
    // React watches the property of the element; a visitor's key does not go through it.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input, email);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    document.querySelector('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    const message = () => document.querySelector('[role=alert]').textContent;
    await vi.waitUntil(() => message() !== '' || onSignUp.mock.calls.length > 0, 10_000);
    const shown = message();
    expect(onSignUp.mock.calls).toEqual(shown === '' ? [[email]] : []);
    root.unmount();
    // React's last work for the page is done a little later, and needs the window.
    await new Promise(done => setTimeout(done, 100));
    return shown || undefined;
  };
}

/** The script of the page, in a window of its own; `npm run test:runtimes` opens the page in a browser. */
async function htmlForm({ url, key }: Access): Promise<SignUp> {
  const html = readFileSync(join(EXAMPLES, 'html-form.html'), 'utf8');
  const [, script = ''] = /<script type="module">\n(.*)<\/script>/s.exec(html) ?? [];
  const { document, Event } = openPage(html.replace(/<script.*?<\/script>/gs, ''));
  const form = document.querySelector('form');
  Object.assign(form.dataset, { riskUrl: url, riskKey: key });
  const { createClient } = await import(join(CLIENT, 'dist/esm/index.js'));
  const calls: unknown[] = [];
  const watched = (options: object) =>
    createClient({ ...options, onCall: ({ result }: { result: unknown }) => calls.push(result) });
  const code = script.replace(/^import .*\n/, '');
  new Function('createClient', 'document', code)(watched, document);
  return async email => {
    const before = calls.length;
    for (const end of [email.length - 2, email.length - 1, email.length]) {
      form.elements.email.value = email.slice(0, end);
      form.elements.email.dispatchEvent(new Event('input', { bubbles: true }));
    }
    await vi.waitUntil(() => calls.length > before, 10_000);
    expect(calls.length, 'one call for three keys').toBe(before + 1);
    await Promise.resolve();
    return form.querySelector('output').textContent || undefined;
  };
}

const ALONE: Readonly<Record<string, Recipe>> = { 'Next.js route handler': nextRoute };
const WITH_LIBRARIES: Readonly<Record<string, Recipe>> = {
  Express: express,
  Fastify: fastify,
  'Zod refinement': zod,
  'React Hook Form': reactHookForm,
  'Better Auth': betterAuth,
  'plain HTML form': htmlForm,
};

function runRecipes(recipes: typeof ALONE): void {
  const service = sharedService();
  for (const [name, recipe] of Object.entries(recipes)) {
    it(`${name}: refuses a disposable domain and nothing else`, async () => {
      const { secret } = await service().key();
      const signUp = await recipe({ url: service().base, key: secret });
      expect(await signUp('somebody@mailinator.com')).toBe(MESSAGE);
      expect(await signUp('somebody@gmail.com')).toBeUndefined();
    });

    it(`${name}: lets everybody in while the service cannot be reached`, async () => {
      const signUp = await recipe({ url: await nobodysBase(), key: 'drk_some' });
      expect(await signUp('somebody@mailinator.com')).toBeUndefined();
    });
  }
}

export function describeRecipes(): void {
  describe('the recipes that need no library', () => runRecipes(ALONE));
  if (process.env.CALLERS !== 'all') return;

  describe('the recipes with their libraries', () => {
    beforeAll(() => installIn(EXAMPLES), 300_000);
    runRecipes(WITH_LIBRARIES);

    it('agree with the types of the package', () => {
      const tsc = join(CLIENT, '../node_modules/typescript/bin/tsc');
      const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', EXAMPLES], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    });
  });
}
