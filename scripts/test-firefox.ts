/**
 * `npm run test:firefox`: the console in an installed Firefox (Debian's `firefox-esr`, or `FIREFOX_PATH`): signing in, a
 * domain, a list, the charts, the operator's view and the reference, and what axe finds in each, wide and narrow.
 * Spoken to by WebDriver BiDi itself: Playwright 1.65 starts it, but asks for a command that Firefox 153 ESR does not know
 * (`emulation.setMediaFeaturesOverride`).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { bareEnvironment } from '../test/support/environment.ts';
import './build-console.ts';
import { openShowcase, TOKEN, UNLISTED } from './showcase.ts';

const PATHS = [process.env.FIREFOX_PATH, '/usr/bin/firefox-esr', '/usr/bin/firefox'];
const SIZES = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
];

type Send = (method: string, params: object) => Promise<Record<string, unknown>>;

/** Its address is the first thing that it says. */
function addressOf(browser: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    browser.stderr?.on('data', (more: Buffer) => {
      said += more.toString();
      const [, url] = /listening on (ws:\S+)/.exec(said) ?? [];
      if (url) resolve(url);
    });
    browser.on('exit', () => reject(new Error(`Firefox ended:\n${said}`)));
  });
}

async function connect(url: string, onError: (text: string) => void): Promise<Send> {
  const socket = new WebSocket(`${url}/session`);
  const waiting = new Map<number, (answer: Record<string, unknown>) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, params, ...rest } = JSON.parse(String(data));
    if (id !== undefined) waiting.get(id)?.(rest);
    else if (params?.level === 'error') onError(params.text);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let last = 0;
  return async (method, params) => {
    const id = ++last;
    const answer = new Promise<Record<string, unknown>>(resolve => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { type, result, message } = await answer;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result as Record<string, unknown>;
  };
}

/** What a person does, by what they see. */
const HANDS = `
  const until = async (find, what) => {
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise(done => setTimeout(done, 50))) {
      const found = find();
      if (found) return found;
    }
    throw new Error('never came: ' + what);
  };
  const all = selector => [...document.querySelectorAll(selector)];
  const text = wanted => until(() => document.body.innerText.includes(wanted), wanted);
  const there = selector => until(() => document.querySelector(selector), selector);
  const named = (selector, name) =>
    until(() => all(selector).find(one => one.textContent.trim() === name && !one.disabled), name);
  const press = async name => (await named('button', name)).click();
  const goTo = async name => (await named('nav a', name)).click();
  const type = async (selector, value) => {
    const field = await there(selector);
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise(done => setTimeout(done, 50));
  };
  const signIn = async secret => { await type('.sign-in input.mono', secret); await press('Sign in'); };`;

const steps = (base: string, secret: string): readonly (readonly [string, string, string])[] => [
  ['front', `${base}/`, `await text('Example answer')`],
  [
    'a domain',
    '',
    `await signIn('${secret}'); await text('Signed in');
     await type('textarea', '${UNLISTED}'); await press('Look up'); await there('.graph svg')`,
  ],
  [
    'a list',
    '',
    `await type('textarea', 'gmail.com mailinator.com example.com'); await press('Look up 3 domains');
     await text('Done: 3 results')`,
  ],
  ['top domains', '', `await goTo('Top domains'); await press('Load the list'); await text('1,000 domains')`],
  ['quota', '', `await goTo('Quota'); await there('canvas')`],
  [
    'operator',
    '',
    `await goTo('Operator'); await signIn('${TOKEN}');
     await until(() => all('[role=tabpanel] canvas').length > 1, 'charts')`,
  ],
  ['reference', `${base}/docs`, `await there('main[aria-busy=false]')`],
];

async function visitAll(send: Send, base: string, secret: string): Promise<string[]> {
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = await send('browsingContext.getTree', {});
  const [{ context }] = contexts as [{ context: string }];
  const evaluate = async (expression: string): Promise<unknown> => {
    const target = { context };
    const answer = await send('script.evaluate', { expression, target, awaitPromise: true });
    const details = answer.exceptionDetails as { text: string } | undefined;
    if (details) throw new Error(details.text);
    return (answer.result as { value?: unknown }).value;
  };
  const found: string[] = [];
  for (const [name, url, work] of steps(base, secret)) {
    if (url) await send('browsingContext.navigate', { context, url, wait: 'complete' });
    await evaluate(`(async () => { ${HANDS} ${work}; })()`);
    for (const viewport of SIZES) {
      await send('browsingContext.setViewport', { context, viewport });
      const seen = await evaluate(`(async () => {
        ${axe.source};
        const { violations } = await axe.run(document, { resultTypes: ['violations'] });
        const sideways = document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : [];
        return JSON.stringify([...violations.map(({ id, help }) => id + ': ' + help), ...sideways]);
      })()`);
      const problems = JSON.parse(String(seen)) as string[];
      found.push(...problems.map(problem => `${name}, ${viewport.width}: ${problem}`));
    }
    process.stdout.write(`${name}\n`);
  }
  return found;
}

const path = PATHS.find(one => one && existsSync(one));
if (!path) throw new Error('no Firefox: install firefox-esr, or set FIREFOX_PATH');
const profile = mkdtempSync(join(tmpdir(), 'domain-risk-firefox-'));
const ends: (() => void | Promise<void>)[] = [];
const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'];
const browser = spawn(path, args, { env: bareEnvironment({ HOME: profile }) });
try {
  const { service, secret } = await openShowcase(end => void ends.push(end));
  const problems: string[] = [];
  const send = await connect(await addressOf(browser), error => problems.push(error));
  problems.push(...(await visitAll(send, service.base, secret)));
  process.stdout.write(`${problems.length} problems\n${problems.map(one => `${one}\n`).join('')}`);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  const ended = new Promise(resolve => browser.once('exit', resolve));
  browser.kill();
  await ended;
  for (const end of ends.reverse()) await end();
  rmSync(profile, { recursive: true, force: true });
}
// Its socket would keep the program for a while.
process.exit();
