/** A real Chromium for tests of the console. Whatever a page complains of, or loads from elsewhere, fails the test. */

import axe from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type ViewportSize,
} from 'playwright-core';
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

/** A service that serves the console and a browser to visit it: one of each for all tests of a file. */
export function sharedConsole(options: TestServiceOptions = {}): SharedConsole {
  const service = sharedService(options);
  const visit = sharedBrowser();
  return { service, visit: (path = '', visiting = {}) => visit(`${service().base}/${path}`, visiting) };
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: unknown }[];
}

/**
 * Contrast takes axe three times as long as all else, and pages say most things in few colours: it looks at the first two
 * texts of each kind that this page has shown, in whatever view.
 */
const NEW_COLORS = `(() => {
  const seen = (globalThis.seenColors ??= new Map());
  const hasText = node =>
    /^(?:INPUT|TEXTAREA|SELECT)$/.test(node.tagName) ||
    [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim() !== '');
  const grounds = new Map();
  const groundOf = node => {
    if (!node) return '';
    if (!grounds.has(node)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
      const own = [backgroundColor, backgroundImage, opacity].join();
      const behind = groundOf(node.parentElement);
      grounds.set(node, own === 'rgba(0, 0, 0, 0),none,1' ? behind : behind + ';' + own);
    }
    return grounds.get(node);
  };
  return [...document.body.querySelectorAll('*')].filter(node => {
    if (!hasText(node) || !node.checkVisibility()) return false;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
    const kind = [node.tagName, color, fontSize, fontWeight, textShadow, groundOf(node)].join();
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    return seen.get(kind) <= 2;
  });
})()`;

/** Another size of the window, and the wait for two frames: charts take their new width when a frame is drawn. */
export async function resize(page: Page, size: ViewportSize): Promise<void> {
  await page.setViewportSize(size);
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** What may be another thing in another layout: what is hidden there, and what scrolls. */
export const BY_LAYOUT = [
  ...['link-in-text-block', 'scrollable-region-focusable', 'aria-hidden-focus', 'heading-order', 'region'],
  ...['td-has-header', 'td-headers-attr', 'th-has-data-cells', 'empty-table-header', 'list', 'label'],
  ...[
    'aria-required-children',
    'aria-required-parent',
    'button-name',
    'link-name',
    'skip-link',
    'target-size',
  ],
];
const BUT_COLORS = { rules: { 'color-contrast': { enabled: false }, 'target-size': { enabled: true } } };

/**
 * What axe finds by WCAG 2.2 AA and its own best practices, in words; by some rules only where they are named, such as
 * where another layout of the same was looked at just now. Colours are always looked at.
 */
export async function accessibilityProblems(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  // Once in a page it is there for every view. Without `resultTypes` it gathers what is good as well, for three times as
  // long (November 2026).
  if (!(await page.evaluate("typeof axe !== 'undefined'"))) await page.evaluate(axe.source);
  const violations = await page.evaluate<readonly Violation[]>(`(async () => {
    const resultTypes = ['violations'];
    const { violations } = await axe.run(document, { resultTypes, ...${JSON.stringify(runOnly ? { runOnly } : BUT_COLORS)} });
    const include = ${NEW_COLORS};
    if (include.length === 0) return violations;
    const inColor = await axe.run({ include }, { resultTypes, runOnly: ['color-contrast'] });
    return [...violations, ...inColor.violations];
  })()`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help} (${target})`));
}
