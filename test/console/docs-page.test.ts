/** The API reference in a real browser: on a phone and at a desk, with the visitor's own address and key, to copy from. */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  accessibilityProblems,
  BY_LAYOUT,
  hasBrowser,
  resize,
  sharedConsole,
  type VisitOptions,
} from '../support/browser.ts';
import { temporaryFolder } from '../support/service.ts';
import { button, PATIENT, signIn, signInField, soon } from './steps.ts';

interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly responses: Record<string, Response> };
}
interface Described {
  readonly operationId: string;
  readonly responses: Record<string, Response>;
}
interface Response {
  readonly $ref?: string;
  readonly headers: Record<string, unknown>;
  readonly content?: Record<string, { examples: Record<string, { value: unknown }> }>;
}

/** With every sign that a shell or a string could trip over. */
const TOKEN = `~!"#$%&'()*+,-./:;<=>?@[]^_{|}-token-canary`;
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
const SMALLEST = { width: 320, height: 568 };
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

const SIDEWAYS =
  "document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways at ' + innerWidth] : []";

const UNFOLDED = 'nav details, #getDomain details, #setOverride details';
const ONE_OF_A_KIND = ['duplicate-id-aria', 'landmark-unique', 'heading-order', 'table-duplicate-name'];
const ALIKE = '.operation:not(#getDomain, #setOverride, #removeOverride)';

/** Chooses every status of every operation, one after the other, and reads what is there then. */
const EVERY_STATUS = `(async () => {
  const read = [];
  for (const card of document.querySelectorAll('.operation')) {
    const answers = {};
    const [, list] = card.querySelectorAll('[role=tablist]');
    for (const tab of list.querySelectorAll('[role=tab]')) {
      tab.click();
      await new Promise(done => setTimeout(done));
      const panel = [...card.querySelectorAll('[role=tabpanel]')].at(-1);
      const texts = selector => [...panel.querySelectorAll(selector)].map(node => node.textContent);
      answers[tab.textContent] = {
        says: panel.textContent,
        samples: texts('pre').map(text => JSON.parse(text)),
        headers: texts('details:last-of-type dt').map(line => line.split(':')[0]),
      };
    }
    read.push({ id: card.id, target: card.querySelector('.target').textContent, answers });
  }
  return read;
})()`;

describe.runIf(hasBrowser())('the API reference', PATIENT, () => {
  const { service, visit: visitSoon } = sharedConsole({ env: { ADMIN_TOKEN: TOKEN } });
  /** When every card has come. */
  const visit = async (path: string, options: VisitOptions = {}) => {
    const page = await visitSoon(path, options);
    await page.locator('main[aria-busy=false]').waitFor();
    return page;
  };

  const operation = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  async function copied(page: Page, what: string): Promise<string> {
    await page.evaluate("navigator.clipboard.writeText('')");
    await button(page, `Copy ${what}`).click();
    const read = () => page.evaluate<string>('navigator.clipboard.readText()');
    await soon(read).not.toBe('');
    return read();
  }

  test('has nothing to complain of for axe and never scrolls sideways, light and wide, dark and narrow', async () => {
    const page = await visit('docs');
    await page.evaluate(`document.querySelectorAll('${UNFOLDED}').forEach(one => { one.open = true; })`);
    // Of all of them what must be one of its kind, and the colours; after that a few stand for the rest, which keep axe
    // busy for long.
    await resize(page, WIDE);
    const found = await accessibilityProblems(page, ONE_OF_A_KIND);
    found.push(...(await page.evaluate<string[]>(SIDEWAYS)));
    await page.evaluate(`document.querySelectorAll('${ALIKE}').forEach(one => one.remove())`);
    for (const [theme, size, rules] of [
      ['light', WIDE, undefined],
      ['dark', PHONE, BY_LAYOUT],
    ] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await resize(page, size);
      const inThis = [
        ...(await accessibilityProblems(page, rules)),
        ...(await page.evaluate<string[]>(SIDEWAYS)),
      ];
      found.push(...inThis.map(problem => `${theme} ${size.width}: ${problem}`));
    }
    await resize(page, SMALLEST);
    found.push(...(await page.evaluate<string[]>(SIDEWAYS)));
    expect(found).toEqual([]);
  });

  test('shows every operation of the document, each status with its example and its headers', async () => {
    const page = await visit('docs');
    const { paths, components } = (await (await service().get('/openapi.json')).json()) as Document;
    const expected = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => {
        const answers = Object.entries(responses).map(([status, one]) => {
          const { headers, content } = one.$ref ? components.responses[one.$ref.split('/').at(-1)!]! : one;
          const examples = Object.values(content?.['application/json']?.examples ?? {});
          const says = examples.length > 0 ? expect.any(String) : expect.stringContaining('No body.');
          const samples = examples.map(({ value }) => value);
          return [status === 'default' ? 'other' : status, { says, samples, headers: Object.keys(headers) }];
        });
        const target = `${method.toUpperCase()} ${path}`;
        return { id: operationId, target, answers: Object.fromEntries(answers) };
      }),
    );
    expect(await page.evaluate(EVERY_STATUS)).toEqual(expected);
  });

  test("fills in the visitor's address and key, masked on screen and whole when copied, and keeps them nowhere", async () => {
    const { secret } = await service().key();
    const page = await visit('docs', CLIPBOARD);
    const code = page.getByRole('region', { name: 'curl sample: Look up a domain' });
    expect(await code.innerText()).toBe(
      `curl "${service().base}/v1/public/domain/gmail.com" \\\n  -H "Authorization: Bearer $API_KEY"`,
    );
    await signInField(page).fill(secret.slice(0, 20));
    await page.getByText('This key looks incomplete.').waitFor();
    expect(await code.innerText()).toContain('$API_KEY');
    await signIn(page, secret);
    await soon(() => code.innerText()).toContain(`Bearer ${secret.slice(0, 8)}••••••••`);
    expect(await page.content()).not.toContain(secret);
    expect(await copied(page, 'curl sample: Look up a domain')).toContain(`Bearer ${secret}`);
    // The token of operators is another one.
    expect(await copied(page, 'curl sample: List keys')).toContain('$ADMIN_TOKEN');
    expect(page.url()).not.toContain('drk_');
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(stored)).not.toContain('drk_');
  });

  test('gives samples that work as they are copied: curl, fetch and the client', async () => {
    const { secret } = await service().key({ quota: 100 });
    const page = await visit('docs', CLIPBOARD);
    await signIn(page, secret);
    await signInField(page).fill(TOKEN);
    await signInField(page).press('Enter');
    await signInField(page).waitFor({ state: 'detached' });
    const shell = async (line: string) =>
      JSON.parse(
        (await promisify(execFile)('sh', ['-c', `${line} --silent --show-error --max-time 60`])).stdout,
      );

    expect(await shell(await copied(page, 'curl sample: Look up a domain'))).toMatchObject({
      domain: 'gmail.com',
    });
    expect(await shell(await copied(page, 'curl sample: Create a key'))).toMatchObject({
      name: 'signup',
      quota: 10_000,
    });
    expect(await shell(await copied(page, 'curl sample: Set an override'))).toMatchObject({
      domain: 'partner.example.org',
    });

    const folder = temporaryFolder();
    const client = pathToFileURL(join(import.meta.dirname, '../../client/src/index.ts')).href;
    let made = 0;
    const run = async (text: string) => {
      const file = join(folder, `${made++}.mts`);
      writeFileSync(file, text.replace("'@domain-risk/client'", `'${client}'`));
      return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { given: unknown };
    };
    await operation(page, 'Look up a domain').getByRole('tab', { name: 'fetch' }).click();
    for (const [name, answer] of [
      ['Look up a domain', { domain: 'gmail.com' }],
      ['List top domains', { count: 100 }],
      ['Get the usage of your key', { monthly_limit: 100 }],
      ['List keys', { keys: expect.any(Array) }],
      ['Create a key', { name: 'signup-2' }],
    ] as const) {
      // Of names that are not revoked there is one each.
      const text = (await copied(page, `fetch sample: ${name}`)).replace('"signup"', '"signup-2"');
      // What a busy machine sheds, and nothing was done for, is told from what is wrong by asking again.
      await soon(async () => (await run(`${text}\nexport const given = answer;`)).given).toMatchObject(
        answer,
      );
    }
    const removed = await copied(page, 'fetch sample: Remove an override');
    expect((await run(`${removed}\nexport const given = response.status;`)).given).toBe(204);

    await operation(page, 'Look up a domain').getByRole('tab', { name: 'client' }).click();
    for (const name of ['Look up a domain', 'List top domains', 'Get the usage of your key']) {
      const text = await copied(page, `client sample: ${name}`);
      const code = `${text.replace(/^if .*$/m, '')}\nexport const given = result;`;
      // The client waits for no more than its timeout, which a machine with much else to do may not keep.
      await soon(async () => (await run(code)).given).toMatchObject({ ok: true });
    }
    // The client has nothing for operators.
    const tabs = operation(page, 'List keys').getByRole('tablist', { name: 'Request: List keys' });
    expect(await tabs.getByRole('tab').allInnerTexts()).toEqual(['curl', 'fetch']);
  });

  test('can be linked to, read by keyboard and left for the console', async () => {
    const page = await visit('docs#rotateKey');
    const top = "document.getElementById('rotateKey').getBoundingClientRect().top";
    await soon(async () => Math.abs(await page.evaluate<number>(top))).toBeLessThan(100);
    await page.goto(`${service().base}/docs`);
    await page.keyboard.press('Tab');
    await soon(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await soon(() => page.evaluate('document.activeElement.id')).toBe('content');
    const contents = page.getByRole('navigation', { name: 'Contents' });
    await contents.getByRole('link', { name: 'Set an override' }).click();
    expect(new URL(page.url()).hash).toBe('#setOverride');
    const tab = page.getByRole('tablist', { name: 'Response: Set an override' }).getByRole('tab').first();
    await tab.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: '401 sample: Set an override' }).waitFor();
    await button(page, 'Switch to the dark theme').click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Console' }).click();
    await page.getByRole('button', { name: 'Switch to the light theme' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    // The search is one key away here too.
    await page.goBack();
    await page.getByRole('heading', { name: 'API reference' }).waitFor();
    await page.keyboard.press('/');
    await soon(() => page.evaluate('document.activeElement?.tagName')).toBe('TEXTAREA');
    expect(page.url()).toBe(`${service().base}/#/`);
  });

  test('says without JavaScript where the same can be read', async () => {
    const page = await visitSoon('docs', { javaScriptEnabled: false });
    expect(await page.getByRole('link', { name: 'OpenAPI document' }).getAttribute('href')).toBe(
      '/openapi.json',
    );
  });
});
