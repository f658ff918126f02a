/** Looking up one domain and a list in the console: what a visitor sees of every answer and of every refusal. */

import type { Page, Route } from 'playwright-core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { newKey } from '../../src/operate.ts';
import { hasBrowser, sharedConsole } from '../support/browser.ts';
import { mx, type Zone } from '../support/dns.ts';
import { failNextSpend } from '../support/failing.ts';
import {
  answerAbout,
  button,
  errorSaid,
  goTo,
  keyField,
  lookUp,
  namesField,
  PATIENT,
  REFUSED,
  rowsOf,
  saved,
  soon,
} from './steps.ts';

/** It stands still, so that a limit of calls per second is met however slow the machine is. */
const time = { now: Date.now() };

const ZONES: Readonly<Record<string, Zone>> = {
  'firm.example.net': { records: [mx('firm.example.net', 10, 'aspmx.l.google.com')] },
  'noreply.firm.net': { records: [mx('noreply.firm.net', 10, 'aspmx.l.google.com')] },
  'silent.example.net': { fault: 'drop' },
  'noreply.quiet.net': { fault: 'servfail' },
};

/** What is shown of each. */
const ANSWERS: readonly (readonly [string, ...RegExp[]])[] = [
  [
    'firm.example.net',
    /Accept/,
    /Safe\. Nothing speaks against it/,
    /Google Workspace/,
    /aspmx\.l\.google\.com/,
  ],
  ['inbox.mailinator.com', /Confirmed/, /Disposable\. /, /mailinator\.com is in/],
  ['gone.example.net', /Block/, /Undeliverable\. It cannot receive mail/, /nxdomain/, /None known/],
  ['noreply.firm.net', /Warn/, /Role account\. /, /role_word/, /role_account/],
  ['gmail.com', /Accept/, /Safe\. /, /Gmail/, /Free provider\s+Yes/],
  ['silent.example.net', /40\s+of 100/, /Degraded answer/, /DNS did not answer, so this is a neutral score/],
  ['noreply.quiet.net', /60\s+of 100/, /Role account\. It is set aside/, /judged by its name alone/],
];

const CALLS = '**/v1/public/domain/**';
const manyNames = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.mailinator.com`);

afterEach(() => {
  vi.restoreAllMocks();
});

describe.runIf(hasBrowser())('a visitor who looks up', PATIENT, () => {
  const { service, visit } = sharedConsole({ clock: () => time.now });

  test('sees verdict, advice, provider and evidence whose points add up to the score', async () => {
    for (const [name, zone] of Object.entries(ZONES)) service().dns.zones.set(name, zone);
    const { secret } = await service().key();
    const page = await visit();
    await keyField(page).fill(secret);
    for (const [domain, ...words] of ANSWERS) {
      await lookUp(page, domain);
      const answer = await answerAbout(page, domain);
      const text = await answer.innerText();
      for (const word of words) expect(text).toMatch(word);

      const signals = await rowsOf(answer.getByRole('table', { name: /add up to the score/ }));
      const sum = signals.reduce((all, row) => all + Number(row.at(-1)), 0);
      const score = (await answer.locator('tfoot').innerText()).match(/\d+/)?.[0];
      expect(signals.length).toBeGreaterThan(0);
      expect(sum).toBe(Number(score));
      expect(text.replace(/\s+/g, ' ')).toContain(`${score} of 100`);
    }
  });

  test('takes away the raw JSON and a curl line, which holds the key only on request', async () => {
    const { secret } = await service().key();
    const page = await visit('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await lookUp(page, 'MAILINATOR.com', secret);
    const answer = await answerAbout(page, 'mailinator.com');
    await answer.getByText('Raw JSON').click();
    const json = await answer.getByRole('region', { name: 'JSON' }).innerText();
    const path = '/v1/public/domain/mailinator.com?explain=true';
    expect(JSON.parse(json)).toEqual(await (await service().get(path, secret)).json());

    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    await answer.getByText('The same call with curl').click();
    await button(answer, 'Copy curl line').click();
    await answer.getByText('Copied').first().waitFor();
    expect(await clipboard()).toBe(`curl -H "Authorization: Bearer $API_KEY" "${service().base}${path}"`);
    expect(await page.content()).not.toContain(secret);
    await answer.getByRole('checkbox', { name: 'Put my key into the line' }).check();
    await button(answer, 'Copy curl line').click();
    await soon(clipboard).toContain(`Bearer ${secret}"`);
  });

  test('is told what is missing, and an email address never leaves the page', async () => {
    const { secret } = await service().key();
    const page = await visit();
    const asked: string[] = [];
    page.on('request', request => asked.push(request.url()));
    await button(page, 'Look up').click();
    await page.getByText('Type a domain first').waitFor();
    await lookUp(page, 'mailinator.com');
    await page.getByText('Type a key').waitFor();
    expect(await page.evaluate("document.activeElement?.getAttribute('type')")).toBe('password');

    await lookUp(page, 'Ann.Private@mailinator.com', secret);
    await page.getByText('This is an email address').waitFor();
    expect(asked).toEqual([]);
    await button(page, 'Use the domain part').click();
    expect(await namesField(page).inputValue()).toBe('mailinator.com');
    await namesField(page).press('Enter');
    await answerAbout(page, 'mailinator.com');
    expect(asked.join()).not.toContain('Private');

    // Written in the language of the name; the answer has the canonical form.
    await lookUp(page, 'MÜNCHEN.invalid');
    await answerAbout(page, 'xn--mnchen-3ya.invalid');
  });

  test('reads for each refusal what to do about it', async () => {
    const page = await visit('', { expected: REFUSED });
    const refused = async (secret: string, title: string, advice: RegExp, name = 'gmail.com') => {
      await lookUp(page, name, secret);
      expect(await errorSaid(page, title)).toMatch(advice);
    };
    const stranger = newKey({ name: 'never stored' }, time.now).secret;
    await refused(stranger, 'The key is not accepted', /Paste the whole key again/);
    await refused('two words', 'This cannot be a key', /Paste it again/);
    const fromElsewhere = await service().key({ origins: ['https://app.example.com'] });
    await refused(
      fromElsewhere.secret,
      'This key may not be used from here',
      /Use a key without such limits/,
    );
    const { secret } = await service().key();
    await refused(secret, 'This is not valid', /Correct it and try again/, 'a_b.example.net');
    await refused(secret, 'This is not valid', /Dots alone are no domain/, '..');
    // Half a character, as a paste may leave one.
    await page.evaluate(`{
      const field = document.querySelector('textarea');
      field.value = 'x\\ud800.com';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await namesField(page).press('Enter');
    expect(await errorSaid(page, 'This is not valid')).not.toMatch(/Dots alone/);
    const used = await service().key({ quota: 0 });
    await refused(used.secret, 'The monthly quota of this key is used up', /in \d+ .*operator can raise/s);

    const limited = await service().key({ rate: 1 });
    await lookUp(page, 'gmail.com', limited.secret);
    await answerAbout(page, 'gmail.com');
    await refused(
      limited.secret,
      'Too many calls per second',
      /in 1 second; the refused call was not counted/,
    );
    expect(await service().used(limited.key)).toBe(1);
    time.now += 1_000;
    await button(page, 'Try again').click();
    await answerAbout(page, 'gmail.com');
    expect(await service().used(limited.key)).toBe(2);
  });

  test('when the service fails finds the request id, when something else answers hears of the proxy', async () => {
    const { secret } = await service().key();
    const page = await visit('', { expected: /the server responded|ERR_INTERNET_DISCONNECTED/ });
    failNextSpend(service().store, new StoreUnavailable('disk'));
    await lookUp(page, 'gmail.com', secret);
    const said = await errorSaid(page, 'The service failed');
    expect(said).toContain('fail open');
    const id = /Request id (\S+)/.exec(said)?.[1];
    expect(service().logged.filter(line => line.includes(id ?? 'none'))).not.toEqual([]);
    await button(page, 'Try again').click();
    await answerAbout(page, 'gmail.com');

    const body = { error: 'overloaded', message: 'x', detail: null, request_id: 'r-1' };
    const overloaded = { status: 503, headers: { 'retry-after': '7' }, json: body };
    await page.route(CALLS, route => route.fulfill(overloaded), { times: 1 });
    await lookUp(page, 'gmail.com');
    expect(await errorSaid(page, 'The service is overloaded')).toContain('in 7 seconds; nothing was counted');
    await expect.poll(() => button(page, 'Try again').isDisabled()).toBe(true);
    expect(await button(page, 'Try again').innerText()).toMatch(/Try again\s+in \d s/);

    const html = { contentType: 'text/html', body: '<title>Log in</title>' };
    for (const [foreign, status] of [
      [html, 200],
      [{ ...html, status: 502 }, 502],
      [{ json: { domain: 'gmail.com', risk_score: 'low' } }, 200],
    ] as const) {
      await page.route(CALLS, route => route.fulfill(foreign), { times: 1 });
      await lookUp(page, 'gmail.com');
      expect(await errorSaid(page, 'Something else answered')).toContain(`status ${status}`);
    }

    await page.context().setOffline(true);
    await button(page, 'Try again').click();
    expect(await errorSaid(page, 'The service cannot be reached')).toContain(service().base);
    await page.context().setOffline(false);
    await button(page, 'Try again').click();
    await answerAbout(page, 'gmail.com');
    expect(await namesField(page).inputValue()).toBe('gmail.com');
  });

  test('when the service is slow hears so, can cancel, and is not kept waiting for ever', async () => {
    const { secret } = await service().key();
    /** The ten seconds that the page gives a call pass in half a second. */
    const hurry = `const late = AbortSignal.timeout;
      AbortSignal.timeout = ms => late.call(AbortSignal, ms / (globalThis.hurry ?? 1));`;
    const page = await visit('', { before: one => one.addInitScript(hurry) });
    const held: Route[] = [];
    await page.route(CALLS, route => void held.push(route));
    await lookUp(page, 'gmail.com', secret);
    await page.getByText('Still waiting for gmail.com').waitFor();
    await button(page, 'Cancel').click();
    expect(await errorSaid(page, 'Cancelled')).toContain('before the answer came');
    await page.evaluate('globalThis.hurry = 20');
    await button(page, 'Try again').click();
    expect(await errorSaid(page, 'No answer within 10 seconds')).toContain('may have been counted');
    expect(held).toHaveLength(2);
    await page.unroute(CALLS);
    await button(page, 'Try again').click();
    await answerAbout(page, 'gmail.com');
  });

  test('pastes 200 names, sees the progress, the table and its files, and 200 calls are counted', async () => {
    const { secret, key } = await service().key({ quota: 1_000 });
    // One name is wrong and refused: an error to the browser, too.
    const page = await visit('', { expected: REFUSED });
    await namesField(page).fill(['gmail.com', 'a_b.com', ...manyNames(198), 'GMAIL.com.'].join('\n'));
    await page.getByText('200 calls against your quota; 1 repetition left out').waitFor();
    await keyField(page).fill(secret);
    await button(page, 'Look up 200 domains').click();
    await page.getByText('All looked up, 1 refused').waitFor();
    expect(await service().used(key)).toBe(200);
    expect(await page.getByRole('progressbar', { name: 'Domains looked up' }).getAttribute('value')).toBe(
      '200',
    );
    const bands = await page.getByRole('list', { name: 'Domains by band' }).innerText();
    expect(bands.replace(/\s+/g, ' ')).toMatch(/1 Accept 0 Look 0 Warn 0 Block 198 Confirmed/);

    const table = page.getByRole('table', { name: 'Results' });
    const score = table.getByRole('columnheader', { name: 'Score' });
    for (const order of ['descending', 'ascending']) {
      await score.getByRole('button').click();
      await soon(() => score.getAttribute('aria-sort')).toBe(order);
    }
    expect((await rowsOf(table)).slice(0, 2).map(([name]) => name)).toEqual(['a_b.com', 'gmail.com']);
    await button(table, 'gmail.com').click();
    expect(await page.getByRole('dialog', { name: 'gmail.com' }).innerText()).toContain('Free provider');
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('gmail.com');

    const lines = (await saved(page, 'CSV')).text.split('\r\n');
    expect(lines).toHaveLength(202);
    expect(lines[1]).toBe('gmail.com,5,safe,true,false,Gmail,false,');
    expect(lines[2]).toBe('a_b.com,,,,,,,validation_error');
    const json = JSON.parse((await saved(page, 'JSON')).text);
    expect(json).toHaveLength(200);
    expect(json[2]).toMatchObject({ domain: 'n0.mailinator.com', reason: 'disposable' });
  });

  test('cancels a list: no more is sent, all that was counted is shown, and the rest can follow later', async () => {
    const { secret, key } = await service().key();
    const page = await visit('', { expected: REFUSED });
    const held: Route[] = [];
    let sent = 0;
    await page.route(CALLS, route => void (++sent > 20 ? held.push(route) : route.continue()));
    await lookUp(page, manyNames(60).join(' '), secret);
    await page.getByText('20 of 60', { exact: true }).waitFor();
    await soon(() => held.length).toBe(4);
    await button(page, 'Cancel').click();
    await button(page, 'Stopping …').waitFor();
    for (const route of held) void route.continue();
    await page.getByText('Stopped at 24 of 60').waitFor();
    // What the quota view says comes later than anything that would still have been sent.
    await goTo(page, 'Quota');
    await page.getByText('24 counted calls').waitFor();
    expect(sent).toBe(24);
    await page.unroute(CALLS);
    await goTo(page, 'Look up');
    await button(page, 'Look up the remaining 36').click();
    await page.getByText('All looked up').waitFor();
    expect(await service().used(key)).toBe(60);
    await button(page, 'Clear').click();
    await page.getByText('Example answer').waitFor();

    const small = await service().key({ quota: 3 });
    await lookUp(page, manyNames(201).join(','), small.secret);
    await page.getByText('201 domains: at most 200 at once, so none is looked up').waitFor();
    expect(await service().used(small.key)).toBe(0);
    await button(page, 'Keep the first 200').click();
    await button(page, 'Look up 200 domains').click();
    await errorSaid(page, 'The monthly quota of this key is used up');
    await page.getByText('Stopped at 3 of 200').waitFor();
    expect(await service().used(small.key)).toBe(3);
  });

  test('sees in a list what was judged without DNS, and asks again only what had no answer', async () => {
    const { secret, key } = await service().key();
    service().dns.zones.set('quiet.example.net', { fault: 'servfail' });
    const page = await visit('', { expected: REFUSED });
    const body = { error: 'overloaded', message: 'x', detail: null, request_id: 'r-1' };
    await page.route('**/n0.mailinator.com**', route => route.fulfill({ status: 503, json: body }), {
      times: 1,
    });
    await lookUp(page, 'quiet.example.net n0.mailinator.com n1.mailinator.com', secret);
    await page.getByText('All looked up, 1 without an answer, 1 judged without DNS').waitFor();
    const rows = await rowsOf(page.getByRole('table', { name: 'Results' }));
    expect(rows[0]?.join(' ').replace(/\s+/g, ' ')).toMatch(
      /^quiet\.example\.net 40 DNS did not answer Look/,
    );
    await button(page, 'Ask 1 again').click();
    await page.getByText('All looked up, 1 judged without DNS').waitFor();
    expect(await service().used(key)).toBe(3);
  });

  test('with a key held down or a double click spends one call', async () => {
    const { secret, key } = await service().key();
    const page = await visit();
    await lookUp(page, 'gmail.com', secret);
    await answerAbout(page, 'gmail.com');
    await namesField(page).fill('mailinator.com');
    for (let i = 0; i < 5; i++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await answerAbout(page, 'mailinator.com');
    await namesField(page).fill('yopmail.com');
    await button(page, 'Look up').dblclick();
    await answerAbout(page, 'yopmail.com');
    // Comes later than anything that would still have been sent.
    await lookUp(page, 'gmx.de');
    await answerAbout(page, 'gmx.de');
    expect(await service().used(key)).toBe(4);
  });

  test('the key stays in the page: not in the address, not in storage unless ticked, gone after a reload', async () => {
    const { secret } = await service().key();
    const page = await visit();
    const urls: string[] = [];
    page.on('request', request => urls.push(request.url()));
    const stored = (where: string, from: Page = page) =>
      from.evaluate<string>(`JSON.stringify(Object.entries(${where}))`);
    await lookUp(page, 'gmail.com', secret);
    await answerAbout(page, 'gmail.com');
    for (const view of ['Top domains', 'Quota', 'Docs', 'Operator', 'Look up']) {
      await goTo(page, view);
      expect(page.url()).not.toContain(secret);
    }
    expect(await stored('localStorage')).toBe('[]');
    expect(await stored('sessionStorage')).toBe('[]');
    expect(await page.context().cookies()).toEqual([]);
    expect(await keyField(page).inputValue()).toBe(secret);
    expect(await keyField(page).getAttribute('type')).toBe('password');
    await page.reload();
    expect(await keyField(page).inputValue()).toBe('');

    await keyField(page).fill(secret);
    await page.getByRole('checkbox', { name: 'Remember in this tab' }).check();
    await page.reload();
    expect(await keyField(page).inputValue()).toBe(secret);
    expect(await stored('sessionStorage')).toContain(secret);
    expect(await stored('localStorage')).toBe('[]');
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    expect(await keyField(tab).inputValue()).toBe('');
    await page.getByRole('checkbox', { name: 'Remember in this tab' }).uncheck();
    expect(await stored('sessionStorage')).toBe('[]');
    expect(urls.filter(url => url.includes(secret))).toEqual([]);
  });
});
