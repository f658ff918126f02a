/** A real Chromium for tests of the console. Whatever a page complains of, or loads from elsewhere, fails the test. */

import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { findBrowser } from '../../client/runtimes/browser.mjs';
import { sharedService, type TestService, type TestServiceOptions } from './service.ts';

/** Whether there is one; says so where not, and fails where everything must be tested. */
export function hasBrowser(): boolean {
  const found = findBrowser() !== undefined;
  const why = 'no browser: install chromium-headless-shell, or set CHROME_PATH';
  if (!found && process.env.CI) throw new Error(`${why}; CI must test everything`);
  if (!found) process.stderr.write(`NOT RUN: tests of the console (${why})\n`);
  return found;
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no browser');
  return chromium.launch({
    executablePath,
    // As root there is no sandbox; nothing may be fetched behind the tests' back.
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
}

export interface VisitOptions extends BrowserContextOptions {
  /** Console errors that belong to the test, such as those of an answer with an error status. */
  readonly expected?: RegExp;
  /** What happens with the page before it is loaded. */
  readonly before?: (page: Page) => Promise<unknown>;
}

export type Visit = (url: string, options?: VisitOptions) => Promise<Page>;

/** One browser for all tests of a file; each visit has a fresh context, and its complaints are looked at in the end. */
function sharedBrowser(): Visit {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  return async (url, { expected, before, ...options } = {}) => {
    const context = await browser.newContext({ acceptDownloads: true, ...options });
    // Whatever is waited for takes at most 4 s on a machine with nothing else to do (November 2026).
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    const { origin } = new URL(url);
    page.on('pageerror', error => complaints.push(String(error)));
    page.on('console', message => {
      if (message.type() === 'error' && !expected?.test(message.text())) complaints.push(message.text());
    });
    page.on('dialog', dialog => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', request => {
      const to = request.url();
      if (!to.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(to)) complaints.push(`asked ${to}`);
    });
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    await before?.(page);
    await page.goto(url);
    return page;
  };
}

export interface SharedConsole {
  /** Inside tests. */
  service(): TestService;
  /** The console at a path such as `#/top`. */
  visit(path?: string, options?: VisitOptions): Promise<Page>;
}

/** The console as it is now, a service that serves it and a browser to visit it: one of each for all tests of a file. */
export function sharedConsole(options: TestServiceOptions = {}): SharedConsole {
  beforeAll(async () => {
    // Loading it builds it where its sources have changed.
    await import('../../scripts/build-console.ts');
  });
  const service = sharedService(options);
  const visit = sharedBrowser();
  return { service, visit: (path = '', visiting = {}) => visit(`${service().base}/${path}`, visiting) };
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: unknown }[];
}

/** What axe finds by WCAG 2.2 AA and its own best practices, in words. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // Once in a page it is there for every view. Without `resultTypes` it gathers what is good as well, for three times as
  // long (November 2026).
  if (!(await page.evaluate("typeof axe !== 'undefined'"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help} (${target})`));
}
