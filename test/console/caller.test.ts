/** Top domains, the quota and the docs in the console: what somebody with a key sees and takes away. */

import { beforeAll, describe, expect, test } from 'vitest';
import { lastDays } from '../../src/core/quota.ts';
import { ACT } from '../support/act.ts';
import { hasBrowser, sharedConsole } from '../support/browser.ts';
import { spendOne } from '../support/spend.ts';
import {
  button,
  errorSaid,
  goTo,
  PATIENT,
  REFUSED,
  rowsOf,
  saved,
  signIn,
  signInField,
  soon,
} from './steps.ts';

const TOP = '**/v1/public/top-domains**';
const time = { now: Date.now() };

describe.runIf(hasBrowser())('somebody with a key', PATIENT, () => {
  const { service, visit } = sharedConsole({ clock: () => time.now });

  beforeAll(async () => {
    const { store } = service();
    const rest = { below: false, note: null, author: null, createdAt: time.now, expiresAt: null };
    await store.setOverride({ domain: 'role.example.net', action: 'role', ...rest }, ACT);
    const [day = ''] = lastDays(time.now, 1);
    const flag = { reason: 'role_account', score: 60, listed: false, day } as const;
    const keys = [(await service().key()).key.id, (await service().key()).key.id];
    await store.flag(
      keys.map(keyId => ({ ...flag, keyId, domain: 'role.example.net' })),
      day,
    );
  });

  test('loads the top domains once, filters, searches and takes them away, harmless for a spreadsheet', async () => {
    const { secret, key } = await service().key();
    const page = await visit('#/top', { expected: REFUSED });
    await page.getByText('Not loaded yet').waitFor();
    expect(await button(page, 'Load the list').count()).toBe(0);
    const failure = { error: 'internal_error', message: 'x', detail: null, request_id: 'r-1' };
    await page.route(TOP, route => route.fulfill({ status: 500, json: failure }), { times: 1 });
    await signIn(page, secret);
    await button(page, 'Load the list').click();
    expect(await errorSaid(page, 'The service failed')).toContain('r-1');
    await button(page, 'Try again').click();
    await page.getByText('1,000 domains', { exact: true }).waitFor();
    // The charts count what was flagged here, not the thousand that lists name.
    await page.getByText('Flagged here in the last 30 days: 1.').waitFor();
    const reasons = await page.getByRole('figure', { name: 'Flagged here, by reason' }).innerText();
    expect(reasons.replace(/\s+/g, ' ')).toContain('Disposable 0 Undeliverable 0 Role account 1');
    expect(await page.getByRole('figure', { name: /top TLDs/ }).innerText()).toMatch(/\.net\s+1$/);

    const table = page.getByRole('table', { name: 'Flagged domains' });
    expect(await rowsOf(table)).toHaveLength(100);
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('Role account');
    await page.getByText('1 domain', { exact: true }).waitFor();
    expect(await rowsOf(table)).toEqual([
      ['role.example.net', '1', '2', 'Flagged here', '60', 'Warn', 'Role account'],
    ]);
    await page.getByRole('combobox', { name: 'Source' }).selectOption('Lists only');
    await page.getByText('No matches').waitFor();
    await page.getByRole('combobox', { name: 'Source' }).selectOption('All sources');
    expect(await table.getByRole('link', { name: 'role.example.net' }).getAttribute('href')).toBe(
      '#/d/role.example.net',
    );
    await page.getByRole('searchbox', { name: 'Search' }).fill('mailinator');
    await page.getByText('No matches').waitFor();
    await page.getByRole('combobox', { name: 'Reason' }).selectOption('All reasons');
    await soon(() => table.innerText()).toContain('mailinator.com');

    const csv = await saved(page, 'CSV');
    expect(csv.name).toBe('top-domains.csv');
    const [head, first] = csv.text.split('\r\n');
    expect(head).toBe('rank,domain,risk_score,reason,flags,source');
    expect(first).toMatch(/^\d+,\S*mailinator\S*,\d+,disposable,0,lists$/);
    const json = JSON.parse((await saved(page, 'JSON')).text) as { domain: string }[];
    expect(json.length).toBeGreaterThan(0);
    expect(json.every(({ domain }) => domain.includes('mailinator'))).toBe(true);

    // Not asked again on the way back; only where the person wants it.
    await goTo(page, 'Docs');
    await goTo(page, 'Top domains');
    await page.getByText('1,000 domains', { exact: true }).waitFor();
    expect(await service().used(key)).toBe(1);
    // What was paid for stays when a refresh fails.
    await page.route(TOP, route => route.fulfill({ status: 500, json: failure }), { times: 1 });
    await button(page, 'Refresh').click();
    await errorSaid(page, 'The service failed');
    expect(await page.getByText('1,000 domains', { exact: true }).isVisible()).toBe(true);
    await button(page, 'Refresh').click();
    await soon(() => service().used(key)).toBe(2);

    const hostile = ['=cmd|"/c calc"!A1', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r=1', 'a,b"c\nd', '<b>x</b>'];
    const facts = { risk_score: 100, reason: 'disposable', flags: 0, source: 'lists' };
    const domains = hostile.map(domain => ({ domain, ...facts }));
    await page.route(TOP, route => route.fulfill({ json: { domains, count: domains.length } }));
    await button(page, 'Refresh').click();
    await page.getByText('8 domains', { exact: true }).waitFor();
    await page.getByText('Nothing flagged here in the last 30 days').waitFor();
    expect(await page.getByRole('table', { name: 'Flagged domains' }).innerText()).toContain('<b>x</b>');
    const { text } = await saved(page, 'CSV');
    const cells = [
      '"\'=cmd|""/c calc""!A1"',
      "'+1+1",
      "'-2+3",
      "'@SUM(A1)",
      "'\t=1",
      '"\'\r=1"',
      '"a,b""c\nd"',
      '<b>x</b>',
    ];
    const lines = cells.map((cell, at) => `${at + 1},${cell},100,disposable,0,lists\r\n`);
    expect(text).toBe(`rank,domain,risk_score,reason,flags,source\r\n${lines.join('')}`);
  });

  test('sees used, left and reset of a quota and 30 days as chart and table, uncounted', async () => {
    const { secret, key } = await service().key({ quota: 50 });
    const { secret: unlimited } = await service().key();
    const days = lastDays(time.now, 30);
    // Most of them in another month, so that the two numbers differ.
    for (const day of [days[0]!, days[0]!, days[29]!])
      await spendOne(service().store, { keyId: key.id, day, quota: null }, await service().store.revision());
    const thisMonth = days[0]!.slice(0, 7) === days[29]!.slice(0, 7) ? 3 : 1;

    const page = await visit('#/quota', { expected: REFUSED });
    await page.getByText('Enter an API key to see its usage').waitFor();
    await signIn(page, secret);
    await page.getByText(`${thisMonth} of 50 calls used, ${50 - thisMonth} left`).waitFor();
    const meter = page.getByRole('meter', { name: 'Quota used' });
    expect(await meter.textContent()).toBe(`${thisMonth} of 50`);
    const reset = new Date(
      Date.UTC(new Date(time.now).getUTCFullYear(), new Date(time.now).getUTCMonth() + 1),
    );
    expect(await page.getByText('Resets').innerText()).toContain(
      `${reset.getUTCDate()} ${reset.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' })}`,
    );
    await page.getByText('3 counted calls').waitFor();
    await page.getByRole('img', { name: 'Calls per day in the last 30 days, 3 calls in all' }).waitFor();
    await page.locator('canvas').waitFor();
    await page.getByText('As a table').click();
    const rows = await rowsOf(page.getByRole('table', { name: 'Calls per day' }));
    expect(rows).toHaveLength(30);
    expect(rows.map(([, calls]) => Number(calls))).toEqual([2, ...Array(28).fill(0), 1]);

    await signIn(page, unlimited);
    await page.getByText('This key has no monthly limit').waitFor();
    expect(await meter.count()).toBe(0);
    await button(page, 'Sign out').click();
    await signInField(page).fill(`${unlimited.slice(0, -1)}${unlimited.endsWith('a') ? 'b' : 'a'}`);
    await signInField(page).press('Enter');
    await errorSaid(page, 'The key is not accepted');
    expect(await service().used(key)).toBe(thisMonth);
  });

  test('reads how to start with the own address and key, hidden until asked for, and the API reference', async () => {
    const { secret } = await service().key();
    const page = await visit('#/docs', { permissions: ['clipboard-read', 'clipboard-write'] });
    const code = page.getByRole('region', { name: 'curl example' });
    expect(await code.innerText()).toContain(`"Authorization: Bearer $API_KEY" "${service().base}/v1/`);
    await goTo(page, 'Quota');
    await signIn(page, secret);
    await goTo(page, 'Docs');
    await page.getByText('Yours is filled in below').waitFor();
    expect(await page.content()).not.toContain(secret);
    await button(page, 'Copy curl example').click();
    const read = () => page.evaluate<string>('navigator.clipboard.readText()');
    await soon(read).toContain(`Bearer ${secret}'`);
    const [, url = ''] = /"(http[^"]+)"$/.exec(await read()) ?? [];
    expect((await fetch(url, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200);
    await page.getByRole('checkbox', { name: /Show my key/ }).check();
    for (const [language, word] of [
      ['fetch', `'${service().base}/v1/public/domain/`],
      ['client', `baseUrl: '${service().base}'`],
    ] as const) {
      await page.getByRole('tab', { name: language }).click();
      const example = await page.getByRole('region', { name: `${language} example` }).innerText();
      expect(example).toContain(word);
      expect(example).toContain(secret);
    }

    const errors = await rowsOf(page.getByRole('table', { name: /Errors/ }));
    const statuses = errors.map(([code, status]) => `${status} ${code}`);
    const known = ['401 unauthorized', '403 forbidden', '422 validation_error', '429 quota_exceeded'];
    expect(statuses).toEqual(expect.arrayContaining([...known, '429 rate_limited', '500 internal_error']));
    expect(errors.every(([, , says, todo]) => says && todo)).toBe(true);

    const opened = async (name: string) => {
      const coming = page.context().waitForEvent('page');
      await page.getByRole('main').getByRole('link', { name }).click();
      return coming;
    };
    const paths = await (await opened('OpenAPI document')).evaluate<string>('document.body.innerText');
    expect(paths).toContain('/v1/usage');
    const reference = await opened('API reference');
    await reference.getByRole('heading', { name: 'API reference' }).waitFor();
    expect(new URL(reference.url()).pathname).toBe('/docs');
  });

  test('finds no operator here, and how to get one', async () => {
    const page = await visit('#/operator', {
      expected: REFUSED,
      // As a service without them writes it.
      before: one =>
        one.route(`${service().base}/`, async route => {
          const page = await (await route.fetch()).text();
          const body = page.replace('<html', '$& data-without="/docs /openapi.json /metrics"');
          await route.fulfill({ body, contentType: 'text/html' });
        }),
    });
    expect(await page.getByRole('contentinfo').getByRole('link').allTextContents()).toEqual([
      'Readiness (new tab)',
    ]);
    await signInField(page).fill('x'.repeat(40));
    await button(page, 'Sign in').click();
    expect(await errorSaid(page, 'Operator sign-in is not enabled')).toContain('set ADMIN_TOKEN');
  });
});
