/**
 * `npm run screenshots`: every view of the console, light, dark and on a phone, into `docs/screenshots`. What is
 * committed of it is written only where the page looks different.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import './build-console.ts';
import { NOW, openShowcase, type Showcase, TOKEN, UNLISTED } from './showcase.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'screenshots');
/** What the README shows; the rest is not committed. */
const SHOWN: Readonly<Record<string, string>> = {
  'light/lookup': 'lookup-light.png',
  'light/graph': 'graph-light.png',
  'dark/operator-keys': 'operator-dark.png',
};
const MOST_BYTES = 160_000;
/** In pixels. */
const LONGEST = 2_200;

const WIDE = { viewport: { width: 1180, height: 800 } };
const MODES: Readonly<Record<string, BrowserContextOptions>> = {
  light: { ...WIDE, colorScheme: 'light' },
  dark: { ...WIDE, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
};

/** Each machine has other fonts for the page's own names of them. */
const FONTS = `* { font-family: "DejaVu Sans", sans-serif !important; }
  code, pre, textarea, .mono, .mono * { font-family: "DejaVu Sans Mono", monospace !important; }`;

/** Lists change by the day, and the page does not with them. */
const SAME = `for (const line of document.querySelectorAll('.lists-used'))
  line.textContent = 'Lists: 172,026 domains, checked 3 hours ago (snapshot aa6756337948)';`;

/** Five seconds each, in the page's own time. */
const MOMENTS = 24;
const TABS = ['Home', 'Keys', 'Overrides', 'Feeds', 'Learned hosts', 'Health', 'Audit'] as const;

/** Of the page, or of a part of it. */
type Shoot = (name: string, part?: Locator) => Promise<void>;

async function visitAll(page: Page, { service, secret, traffic }: Showcase, shoot: Shoot): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const goTo = async (view: string) => {
    await page.getByRole('navigation').getByRole('link', { name: view, exact: true }).click();
    await page.getByRole('link', { name: view, exact: true }).and(page.locator('[aria-current]')).waitFor();
  };
  const lookUp = async (names: string) => {
    const field = page.getByRole('textbox', { name: 'Domain or list' });
    await field.fill(names);
    await field.press('Control+Enter');
  };

  await page.goto(service.base);
  await shoot('first');
  const signIn = (text: string) => page.getByRole('textbox', { name: 'API key or operator' }).fill(text);
  await signIn(secret);
  await button('Sign in').click();
  await button('Sign out').waitFor();
  await lookUp(UNLISTED);
  await page.locator('.graph svg').waitFor();
  await shoot('lookup');
  await shoot('graph', page.getByRole('region', { name: 'Who shares its mail servers' }));
  await lookUp(LIST.join('\n'));
  await page.getByText('Done:').waitFor();
  await shoot('list');
  await goTo('Top domains');
  await button('Load the list').click();
  await page.getByText('1,000 domains', { exact: true }).waitFor();
  await shoot('top');
  await goTo('Quota');
  await page.locator('canvas').waitFor();
  await shoot('quota');
  await goTo('Docs');
  await shoot('docs');

  await goTo('Operator');
  await shoot('operator-outside');
  await signIn(TOKEN);
  await page.getByRole('textbox', { name: 'Your name' }).fill('Ann');
  await button('Sign in').click();
  for (const tab of TABS) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    const panel = page.getByRole('tabpanel', { name: tab });
    if (tab === 'Health') await watch(page, traffic);
    else if (tab === 'Home') await panel.locator('canvas').nth(1).waitFor();
    else await panel.getByRole('table').waitFor();
    await shoot(`operator-${tab.toLowerCase().replaceAll(' ', '-')}`);
  }
}

const LIST = [
  ...['gmail.com', 'example.com', 'example.org', 'example.net', 'mailinator.com'],
  ...['gmail.con', 'noreply.example.com', 'a_b.example'],
];

/** Two minutes of traffic pass in a few seconds. */
async function watch(page: Page, traffic: () => Promise<void>): Promise<void> {
  for (let moment = 0; moment < MOMENTS; moment++) {
    await traffic();
    const answered = page.waitForResponse(response => response.url().endsWith('/metrics'));
    await page.clock.runFor(5_000);
    await answered;
  }
  await page.locator('canvas').nth(1).waitFor();
}

/** The README's end a little below the answer or the last card, and no other is longer than a few screens. */
async function partOf(page: Page, isShown: boolean, part?: Locator) {
  const box = await part?.boundingBox();
  if (box) return { x: 0, y: box.y - 14, width: page.viewportSize()!.width, height: box.height + 28 };
  const { width } = page.viewportSize()!;
  const whole = 'document.documentElement.scrollHeight';
  const last = "document.querySelector('main > .columns, main > :last-child')";
  const cards = `${last}.getBoundingClientRect().bottom + 14`;
  const height = Math.ceil(await page.evaluate<number>(isShown ? cards : whole));
  return { x: 0, y: 0, width, height: Math.min(height, LONGEST) };
}

/** The picture of what is shown now. */
function shooter(page: Page, mode: string): Shoot {
  return async (name, part) => {
    await page.evaluate(`document.activeElement?.blur(); scrollTo(0, 0); ${SAME}`);
    await page.clock.runFor(2_500);
    const shown = SHOWN[`${mode}/${name}`];
    const path = join(FOLDER, shown ?? `all/${mode}-${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await page.addStyleTag({ content: FONTS });
    const clip = await partOf(page, shown !== undefined, part);
    const picture = await page.screenshot({ clip, fullPage: true, animations: 'disabled', caret: 'hide' });
    const isSame = shown !== undefined && existsSync(path) && (await looksLike(page, picture, path));
    if (!isSame) writeFileSync(path, picture);
    const size = `${Math.round(picture.length / 1000)} kB`;
    process.stdout.write(`${path.slice(FOLDER.length + 1)} ${size}${isSame ? ', as before' : ''}\n`);
    if (shown && picture.length > MOST_BYTES) throw new Error(`${path} is too large for the README`);
  };
}

/** Pixel by pixel: another version of the browser may write the same ones as other bytes. */
function looksLike(page: Page, picture: Buffer, path: string): Promise<boolean> {
  const [one, other] = [picture, readFileSync(path)].map(
    bytes => `data:image/png;base64,${bytes.toString('base64')}`,
  );
  return page.evaluate<boolean>(`(async () => {
    const pixels = async url => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      return new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
    };
    const [one, other] = [await pixels('${one}'), await pixels('${other}')];
    return one.length === other.length && one.every((pixel, at) => pixel === other[at]);
  })()`);
}

/** Each mode has a service of its own, so that what one does is not seen in the next. */
async function shootAll(browser: Browser, mode: string): Promise<void> {
  const ends: (() => void | Promise<void>)[] = [];
  const showcase = await openShowcase(end => void ends.push(end));
  // The fonts come from here, not from the service, as its policy (CSP) demands.
  const context = await browser.newContext({ ...MODES[mode], reducedMotion: 'reduce', bypassCSP: true });
  try {
    const page = await context.newPage();
    await page.clock.install({ time: NOW });
    await visitAll(page, showcase, shooter(page, mode));
  } finally {
    await context.close();
    for (const end of ends.reverse()) await end();
  }
}

const browser = await launchBrowser();
try {
  rmSync(join(FOLDER, 'all'), { recursive: true, force: true });
  for (const mode of Object.keys(MODES)) await shootAll(browser, mode);
} finally {
  await browser.close();
}
