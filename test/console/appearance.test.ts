/** How the console looks and handles: light and dark, wide and narrow, by keyboard, its weight and its guards. */

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { GraphHost } from '../../console/src/graph.ts';
import { TAB_NAMES } from '../../console/src/operator-path.ts';
import { ACT } from '../support/act.ts';
import { accessibilityProblems, BY_LAYOUT, hasBrowser, resize, sharedConsole } from '../support/browser.ts';
import { mx } from '../support/dns.ts';
import { sized } from '../support/scale.ts';
import {
  answerAbout,
  button,
  chooseTab,
  errorSaid,
  goTo,
  lookUp,
  namesField,
  openOperator,
  PATIENT,
  REFUSED,
  rowsOf,
  signIn,
  soon,
  whoIsSignedIn,
} from './steps.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** What a page of 1280 pixels has left at 200 %. */
const ZOOMED = { width: 640, height: 400 };
const SMALLEST = { width: 320, height: 568 };

const GRAPH: readonly [GraphHost] = [
  {
    host: 'mx.burner.example.net',
    addresses: ['192.0.2.1', '192.0.2.2'],
    listed_guests: 41,
    guests: Array.from({ length: 25 }, (_, at) => `guest-0-${at}.com`),
  },
];

describe.runIf(hasBrowser())('the console', PATIENT, () => {
  const { service, visit } = sharedConsole({ env: { ADMIN_TOKEN: TOKEN } });

  beforeAll(async () => {
    const { store } = service();
    const rest = {
      below: true,
      note: 'asked for by sales, who know them',
      author: 'Ann',
      createdAt: Date.now(),
    };
    const domain = 'a-rather-long-name-of-a-partner.example.net';
    await store.setOverride({ domain, action: 'deny', expiresAt: null, ...rest }, ACT);
  });

  /** What is wrong with what is shown now: in light and wide, in dark and narrow. Each size is laid out and painted anew. */
  async function problems(page: Page): Promise<string[]> {
    const overflow =
      "document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways at ' + innerWidth] : []";
    const found: string[] = [];
    for (const [theme, size, rules] of [
      ['light', WIDE, undefined],
      ['dark', SMALLEST, BY_LAYOUT],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await resize(page, size);
      const inThis = [
        ...(await accessibilityProblems(page, rules)),
        ...(await page.evaluate<string[]>(overflow)),
      ];
      found.push(...inThis.map(problem => `${theme} ${size.width}: ${problem}`));
    }
    for (const size of sized([ZOOMED], [PHONE, ZOOMED])) {
      await resize(page, size);
      found.push(...(await page.evaluate<string[]>(overflow)));
    }
    await resize(page, WIDE);
    return found;
  }

  /** What is told by colour alone while the system's own colours are forced upon the page. */
  async function unseen(page: Page): Promise<string[]> {
    await page.emulateMedia({ forcedColors: 'active' });
    const found = await page.evaluate<string[]>(`(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      const system = name => (probe.style.color = name, getComputedStyle(probe).color);
      const [canvas, text, highlight] = ['Canvas', 'CanvasText', 'Highlight'].map(system);
      probe.remove();
      const is = (selector, property, ...colors) =>
        [...document.querySelectorAll(selector)].length > 0 &&
        [...document.querySelectorAll(selector)].every(node => colors.includes(getComputedStyle(node)[property]));
      return Object.entries({
        'the scale': is('.step i', 'borderTopColor', text),
        'the step of the score': is('.step:not(.faded) i', 'backgroundColor', highlight),
        'the needle': is('.needle', 'backgroundColor', text),
        'the current view': is('nav [aria-current]', 'outlineColor', highlight),
        'the chosen tab': is('[aria-selected=true]', 'outlineColor', highlight),
        'edges of the graph': is('.graph .edge', 'stroke', text),
        'nodes of the graph': is('.graph .node rect', 'stroke', text, highlight),
        'the ground of nodes': is('.graph .node rect', 'fill', canvas),
      }).filter(([, isSeen]) => !isSeen).map(([name]) => name);
    })()`);
    await page.emulateMedia({ forcedColors: 'none' });
    return found;
  }

  test('has nothing to complain of for axe and never scrolls sideways, in every view a caller sees', async () => {
    const { secret } = await service().key({ quota: 100 });
    const page = await visit('', { expected: REFUSED });
    const found: Record<string, string[]> = {};
    await page.route('**/mailinator.com**', async route => {
      const json = await (await route.fetch()).json();
      json.evidence.graph = GRAPH;
      await route.fulfill({ json });
    });
    // The front has the same form and an answer of the same parts.
    await lookUp(page, 'mailinator.com', secret);
    await answerAbout(page, 'mailinator.com');
    await page.locator('.graph svg').waitFor();
    for (const summary of ['Raw JSON', 'As a table']) await page.getByText(summary).click();
    found.domain = await problems(page);
    expect(await unseen(page)).toEqual([]);
    // The table of the graph too is cards on a phone, with each name on one line.
    await resize(page, PHONE);
    const rest =
      "(node => [node.scrollWidth - node.clientWidth, node.clientHeight])($('.graph + details .table'))";
    const [beyond, tall] = await page.evaluate<[number, number]>(rest.replace('$', 'document.querySelector'));
    expect(beyond).toBe(0);
    expect(tall).toBeLessThan(40 * GRAPH[0].guests.length);
    await resize(page, WIDE);
    await lookUp(page, 'co.uk');
    await errorSaid(page, 'Not a valid domain');
    found.refusal = await problems(page);
    const long = `${'long-'.repeat(11)}name.mailinator.com`;
    await lookUp(page, `who,domain\na,gmail.com\nb,nothing.invalid\nc,${long}\nd,co.uk\ne,none`);
    await page.getByText('Done: 3 results, 1 invalid').waitFor();
    found.list = await problems(page);
    await page.evaluate("location.hash = '#/nothing'");
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    found.nothing = await problems(page);
    await goTo(page, 'Top domains');
    await button(page, 'Load the list').click();
    // A hundred rows would only keep axe busy.
    await page.getByRole('searchbox', { name: 'Search' }).fill('mailinator');
    await page.getByText(/^\d\d? domains?$/).waitFor();
    found.top = await problems(page);
    await goTo(page, 'Quota');
    await page.locator('canvas').waitFor();
    await page.getByText('As a table').click();
    found.quota = await problems(page);
    await goTo(page, 'Docs');
    found.docs = await problems(page);
    const menu = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    expect(await menu.allInnerTexts()).toEqual(['Look up', 'Top domains', 'Quota', 'Operator', 'Docs']);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map(name => [name, []])));
  });

  test('nor in any view that an operator sees', async () => {
    const { key } = await service().key({
      name: 'a key with a rather long name for a narrow screen',
      quota: 1_000,
    });
    // The link of the first start, and the same a second time.
    const code = service().invite((await service().key()).secret);
    const page = await visit(`#/welcome/${code}`, { expected: REFUSED });
    const found: Record<string, string[]> = {};
    await page.getByText('You are signed in').waitFor();
    found.welcome = await problems(page);
    await button(page, 'Sign out').click();
    await page.goto(`${service().base}/?again#/welcome/${code}`);
    await errorSaid(page, 'This link does not work any more');
    found['not welcome'] = await problems(page);
    await page.getByRole('banner').getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    found['sign in'] = await problems(page);
    await goTo(page, 'Operator');
    await page.getByText('Operator sign-in').waitFor();
    found.outside = await problems(page);
    await openOperator(page, TOKEN, 'Ann');
    const [{ host, addresses, guests }] = GRAPH;
    const rest = { flagged: 41, innocent: 1, sum: 40.3, last_seen: '2026-11-16', state: 'disposable' };
    await page.route(/\/admin\/infra/, route =>
      route.fulfill({ json: { hosts: [{ ...rest, host, addresses, neighbours: guests }] } }),
    );
    for (const name of Object.values(TAB_NAMES)) {
      const panel = await chooseTab(page, name);
      if (name === 'Health' || name === 'Home') await panel.locator('canvas').first().waitFor();
      if (name === 'Learned hosts') {
        // Its page has the same graph.
        await panel.getByRole('table').getByRole('link', { name: host }).click();
        await panel.locator('.graph svg').waitFor();
      }
      found[name] = await problems(page);
    }
    await chooseTab(page, 'Keys');
    await page.getByRole('link', { name: key.name }).click();
    await page.locator('canvas').waitFor();
    found.key = await problems(page);
    await page.goBack();
    for (const what of [`Edit ${key.name}`, `Revoke ${key.name}`]) {
      await button(page, what).click();
      await page.getByRole('dialog', { name: what }).waitFor();
      found[what] = await problems(page);
      await page.keyboard.press('Escape');
    }
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map(name => [name, []])));
  });

  test('keeps everything in sight, however long the names that others chose', async () => {
    const label = 'm'.repeat(60);
    const { dns, store } = service();
    dns.zones.set('strange.example.net', {
      records: [mx('strange.example.net', 10, `${label}.${label}.${label}.example.com`)],
    });
    const { secret, key } = await service().key({ name: 'k'.repeat(200), quota: 100 });
    const domain = `${label}.${label}.${label}.example.net`;
    const rest = { below: true, note: null, author: 'Ann', createdAt: Date.now(), expiresAt: null };
    for (const subject of [domain, key.id])
      await store.setOverride({ domain, action: 'deny', ...rest }, { ...ACT, subject });

    const page = await visit();
    const hidden = (selector: string) =>
      page.evaluate<number>(
        `(node => Math.max(0, node.scrollWidth - node.clientWidth))(document.querySelector('${selector}'))`,
      );
    await lookUp(page, 'strange.example.net', secret);
    const answer = await answerAbout(page, 'strange.example.net');
    await answer.getByRole('listitem').filter({ hasText: label }).waitFor();
    expect(await hidden('html')).toBe(0);
    await resize(page, PHONE);
    expect(await hidden('html')).toBe(0);
    const lines = "new Set([...document.querySelectorAll('nav li')].map(node => node.offsetTop)).size";
    expect(await page.evaluate(lines)).toBe(1);
    const edges = `[...document.querySelectorAll('.step i')].map(bar => bar.getBoundingClientRect())
      .map(({ left, right }) => [left, right])`;
    const bars = (await page.evaluate<[number, number][]>(edges)).flat();
    expect(bars).toHaveLength(10);
    expect(bars).toEqual(bars.toSorted((a, b) => a - b));

    await namesField(page).fill(Array.from({ length: 5 }, (_, at) => `name${at}.example.com`).join(' '));
    const rows = "(box => [box.scrollHeight > box.clientHeight, box.clientHeight > 80])($('textarea'))";
    expect(await page.evaluate(rows.replace('$', 'document.querySelector'))).toEqual([false, true]);

    await goTo(page, 'Operator');
    await openOperator(page, TOKEN, 'Ann');
    const found: Record<string, number> = {};
    const isWhole = async (name: string) => {
      for (const width of [1180, 800, 360]) {
        await resize(page, { width, height: 800 });
        found[`${name} ${width}`] = (await hidden('.table')) + (await hidden('html'));
      }
    };
    for (const name of ['Keys', 'Overrides', 'Audit']) {
      await (await chooseTab(page, name)).getByRole('table').waitFor();
      await isWhole(name);
    }
    await chooseTab(page, 'Keys');
    await page.getByRole('link', { name: 'k'.repeat(200) }).click();
    await page.getByRole('heading', { name: 'k'.repeat(200) }).waitFor();
    await isWhole('a key');
    await chooseTab(page, 'Audit');
    const chosen = "document.querySelector('[aria-selected=true]').getBoundingClientRect().right";
    expect(await page.evaluate<number>(chosen)).toBeLessThanOrEqual(360);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map(name => [name, 0])));
    // On a phone each row is a card with all of its columns.
    await resize(page, PHONE);
    expect(await hidden('.table')).toBe(0);
    expect(await page.getByRole('table').innerText()).toContain('Subject');
    // The tab that a link leads to is in sight, though the strip of tabs is longer than the screen.
    for (const tab of ['home', 'audit']) {
      await page.evaluate(`location.hash = '#/operator/${tab}'`);
      await page.locator(`[role=tab][aria-selected=true]`).getByText(tab, { exact: false }).waitFor();
      const box = await page.locator('[role=tab][aria-selected=true]').boundingBox();
      expect([box!.x >= 0, box!.x + box!.width <= PHONE.width], tab).toEqual([true, true]);
    }
    // Of other tables some columns are beyond the edge: a shadow that stays while the rest moves tells so.
    await goTo(page, 'Docs');
    expect(await hidden('.listing')).toBeGreaterThan(0);
    const shadow = "getComputedStyle(document.querySelector('.table')).backgroundAttachment";
    expect(await page.evaluate(shadow)).toBe('local, local, scroll, scroll');
  });

  /** What the charts of a page have written so far. */
  const WRITTEN = `globalThis.written = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      written.push(text);
      return fillText.call(this, text, ...rest);
    };`;

  test('writes whole and short numbers at its charts, and times that differ', async () => {
    const { secret } = await service().key();
    let most = 1;
    const held: (() => void)[] = [];
    let isHeld = false;
    const page = await visit('#/quota', {
      before: async one => {
        await one.addInitScript(WRITTEN);
        await one.route('**/v1/usage*', async route => {
          const usage = await (await route.fetch()).json();
          usage.days[0].count = most;
          await route.fulfill({ json: usage });
        });
        await one.route('**/metrics', async route => {
          if (isHeld) await new Promise<void>(done => held.push(done));
          await route.continue();
        });
      },
    });
    const written = async () => new Set(await page.evaluate<string[]>('written'));
    await signIn(page, secret);
    await soon(written).toContain('1');
    expect([...(await written())].filter(text => text.includes('.'))).toEqual([]);
    most = 12_345_678;
    await button(page, 'Refresh').click();
    await soon(written).toContain('10M');

    await goTo(page, 'Operator');
    await openOperator(page, TOKEN);
    const health = await chooseTab(page, 'Health');
    const intervals = health.getByRole('table', { name: 'Every five seconds', includeHidden: true });
    const look = "document.dispatchEvent(new Event('visibilitychange'))";
    await health.locator('canvas').nth(1).waitFor();
    await page.evaluate(`written.length = 0; ${look}`);
    await soon(async () => (await rowsOf(intervals)).length).toBe(1);
    const times = async () => [...(await written())].filter(text => /^\d\d:\d\d:\d\d$/.test(text));
    await soon(async () => (await times()).length).toBeGreaterThanOrEqual(3);

    // An answer that is late is waited for: a second question would overtake it.
    isHeld = true;
    for (let looks = 0; looks < 3; looks++) await page.evaluate(look);
    await soon(() => held.length).toBe(1);
    await page.evaluate(`new Promise(done => setTimeout(done, 100))`);
    expect(held).toHaveLength(1);
    isHeld = false;
    held[0]!();
    await soon(async () => (await rowsOf(intervals)).length).toBe(2);
  });

  test('says so when a chart cannot be loaded', async () => {
    const { secret } = await service().key();
    const page = await visit('#/quota', {
      expected: REFUSED,
      before: one => one.route(/uPlot.*\.js$/, route => route.fulfill({ status: 404 })),
    });
    await signIn(page, secret);
    await page.getByText('The chart could not be loaded').waitFor();
    await page.getByText('The last 30 days').waitFor();
  });

  test('follows the system between light and dark until a person chooses, and keeps the choice', async () => {
    const page = await visit('', { colorScheme: 'dark' });
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const dark = await background();
    await page.emulateMedia({ colorScheme: 'light' });
    await soon(background).not.toBe(dark);
    await button(page, 'Switch to the dark theme').click();
    await soon(background).toBe(dark);
    await page.reload();
    expect(await background()).toBe(dark);
    await button(page, 'Switch to the light theme').click();
    await soon(background).not.toBe(dark);
  });

  test('loads at most 60 kB, from its own origin, under a strict policy', async () => {
    const sizes: Promise<{ responseBodySize: number; responseHeadersSize: number }>[] = [];
    const page = await visit('', {
      before: async one => one.on('requestfinished', request => sizes.push(request.sizes())),
    });
    await page.getByText('Example answer').waitFor();
    const loaded = await Promise.all(sizes);
    const bytes = loaded.reduce((sum, one) => sum + one.responseBodySize + one.responseHeadersSize, 0);
    expect(loaded.length).toBeGreaterThanOrEqual(3);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(60_000);

    const policy = (await service().get('/')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  // On a phone everything moves further.
  test.each(sized([PHONE], [WIDE, PHONE]))(
    'does not jump while it loads and looks up, $width pixels wide',
    async viewport => {
      const { secret } = await service().key();
      const observe = `const shifts = [];
      const note = ({ value, sources }) =>
        shifts.push({ value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 80)) });
      const observer = new PerformanceObserver(list => list.getEntries().forEach(note));
      observer.observe({ type: 'layout-shift', buffered: true });
      globalThis.shifted = async () => {
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        observer.takeRecords().forEach(note);
        return shifts;
      };`;
      const page = await visit('', { viewport, before: one => one.addInitScript(observe) });
      await page.getByText('Example answer').waitFor();
      // What moves under the hand counts too, though browsers forgive that for half a second.
      await lookUp(page, 'gone.example.net', secret);
      await answerAbout(page, 'gone.example.net');
      // After the tap the answer is in sight, not below the form.
      const top = "document.querySelector('#result-title').getBoundingClientRect().top";
      expect(await page.evaluate<number>(top)).toBeLessThan(viewport.height / 2);
      const shifted = () => page.evaluate<{ value: number }[]>('shifted()');
      const shifts = await shifted();
      expect(
        shifts.reduce((sum, { value }) => sum + value, 0),
        JSON.stringify(shifts),
      ).toBeLessThan(0.1);
      // And it would have been noticed.
      await page.evaluate("document.querySelector('main').style.marginTop = '300px'");
      expect((await shifted()).length).toBeGreaterThan(shifts.length);
    },
  );

  /** Goes on with the Tab key until it is there; everything on the way shows that it has the focus. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    const where = `(() => {
      const it = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(it);
      const label = it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent;
      return { name: label.trim(), isVisible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
    })()`;
    const passed: string[] = [];
    for (let steps = 0; steps < 60; steps++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate<{ name: string; isVisible: boolean }>(where);
      if (at.name !== '') expect(at.isVisible, at.name.slice(0, 80)).toBe(true);
      if (name.test(at.name)) return;
      passed.push(at.name.slice(0, 30));
    }
    throw new Error(`no way to ${name} by keyboard, only to ${passed.join(' | ')}`);
  }

  test('can be used without a mouse: a lookup with its evidence', async () => {
    const { secret } = await service().key();
    const page = await visit();
    await tabTo(page, /^Skip to content$/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Domain or list/);
    await page.keyboard.type('gmail.com');
    await page.keyboard.press('Enter');
    await page.getByText('Enter an API key. Lookups').waitFor();
    await page.keyboard.insertText(secret);
    await page.keyboard.press('Enter');
    await answerAbout(page, 'gmail.com');
    await tabTo(page, /^Raw JSON$/);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('region', { name: 'JSON' }).innerText()).toContain('"gmail.com"');
    await tabTo(page, /^Copy JSON$/);
    await soon(() => namesField(page).inputValue()).toBe('gmail.com');
    expect(await whoIsSignedIn(page).innerText()).toContain(secret.slice(0, 8));
  });

  test('can be used without a mouse: an operator makes a key, and the focus comes back from the dialog', async () => {
    const page = await visit();
    await tabTo(page, /^Operator$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Operator', level: 1 }).waitFor();
    await soon(() => page.evaluate('document.activeElement?.textContent')).toBe('Operator');
    await tabTo(page, /^API key or operator token$/);
    await page.keyboard.insertText(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();

    await tabTo(page, /^Home$/);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('table', { name: 'Overrides' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('table', { name: /Changes/ }).waitFor();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('table', { name: 'API keys' }).waitFor();

    await tabTo(page, /^Create a key$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create a key' }).waitFor();
    await soon(() => page.evaluate('document.activeElement?.labels?.[0]?.textContent')).toBe('Name');
    await page.keyboard.type('made by keyboard');
    await page.keyboard.press('Enter');
    const secret = page.getByRole('dialog', { name: 'Key created: made by keyboard' });
    await secret.waitFor();
    await tabTo(page, /^I have copied it$/);
    await page.keyboard.press('Enter');
    await secret.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^made by keyboard/ }).waitFor();
    await soon(() => page.evaluate('document.activeElement?.textContent')).toBe('Create a key');

    await tabTo(page, /^Revoke made by keyboard$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Revoke made by keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await soon(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe(
      'Revoke made by keyboard',
    );
  });
});
