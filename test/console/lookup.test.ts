/** Looking up one domain and a list in the console: what a visitor sees of every answer and of every refusal. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page, Route } from 'playwright-core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { newKey } from '../../src/operate.ts';
import { ACT } from '../support/act.ts';
import { hasBrowser, sharedConsole } from '../support/browser.ts';
import { mx, type Zone } from '../support/dns.ts';
import { failNextSpend } from '../support/failing.ts';
import {
  answerAbout,
  button,
  errorSaid,
  goTo,
  lookUp,
  namesField,
  PATIENT,
  REFUSED,
  rowsOf,
  saved,
  signIn,
  signInField,
  soon,
  whoIsSignedIn,
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
    /^No risk signals found\. Mail is hosted by a business platform: Google Workspace\.$/m,
    /^Safe$/m,
    /Google Workspace/,
    /aspmx\.l\.google\.com/,
  ],
  ['inbox.mailinator.com', /Block \(confirmed\)/, /^A temporary-inbox service/m, /mailinator\.com is in/],
  ['gone.example.net', /Block/, /^This domain does not exist/m, /nxdomain/, /None known/],
  ['noreply.firm.net', /Warn/, /^Set aside for automated mail/m, /role_word/, /role_account/],
  ['gmail.com', /Accept/, /consumer mailbox provider: Gmail/, /Gmail/, /Free provider\s+Yes/],
  ['silent.example.net', /40\s+of 100/, /Degraded answer/, /^Unknown\. DNS did not answer/m, /^Unknown$/m],
  ['noreply.quiet.net', /60\s+of 100/, /^Role account$/m, /judged by its name alone/],
];

const CALLS = '**/v1/public/domain/**';
const LISTS = '**/v1/public/domains?**';
const manyNames = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.mailinator.com`);

/** What a program says; undefined where there is none of that name. */
async function ran(program: string, options: readonly string[]): Promise<string | undefined> {
  try {
    return (await promisify(execFile)(program, options)).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    process.stderr.write(`NOT RUN: the example for ${program}, which is not on this machine\n`);
    return undefined;
  }
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.runIf(hasBrowser())('a visitor who looks up', PATIENT, () => {
  const { service, visit } = sharedConsole({ clock: () => time.now });

  test('sees verdict, advice, provider and evidence whose points add up to the score', async () => {
    for (const [name, zone] of Object.entries(ZONES)) service().dns.zones.set(name, zone);
    const { secret } = await service().key();
    const page = await visit();
    await signIn(page, secret);
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
      await answer.getByText(/^Lists: [\d,]+ domains, as installed \(snapshot \w+\)$/).waitFor();
    }
  });

  test('finds each domain on a page of its own: linked, recent, back and forth, with the graph of who shares its hosts', async () => {
    const { secret, key } = await service().key();
    const host = 'mx.burner.example.net';
    service().dns.zones.set('fresh.example.net', { records: [mx('fresh.example.net', 10, host)] });
    const guests = ['mailinator.com', 'yopmail.com'];
    const page = await visit('#/d/fresh.example.net', {
      before: one =>
        one.route('**/fresh.example.net**', async route => {
          const json = await (await route.fetch()).json();
          json.evidence.graph = [{ host, addresses: ['192.0.2.1'], listed_guests: 41, guests }];
          await route.fulfill({ json });
        }),
    });
    // Without a key nothing is asked; the name waits in the field.
    await page.getByText('Not looked up yet').waitFor();
    await soon(() => namesField(page).inputValue()).toBe('fresh.example.net');
    await signIn(page, secret, true);
    await button(page, 'Look up').click();
    await answerAbout(page, 'fresh.example.net');
    await soon(() => page.title()).toBe('fresh.example.net · domain-risk');
    await page.reload();
    await answerAbout(page, 'fresh.example.net');

    // Arrow keys lead through the graph, and Enter to the page of another name.
    const graph = page.getByRole('group', { name: 'Mail hosts of fresh.example.net' });
    await graph.getByRole('link', { name: 'fresh.example.net, the domain looked up' }).focus();
    const stops = "[...document.querySelectorAll('.graph a')].filter(link => link.tabIndex === 0).length";
    expect(await page.evaluate(stops)).toBe(1);
    const labels: string[] = [];
    for (const arrow of ['ArrowRight', 'ArrowDown', 'End', 'ArrowUp']) {
      await page.keyboard.press(arrow);
      labels.push(await page.evaluate<string>("document.activeElement.querySelector('title').textContent"));
    }
    const [first, last] = guests.map(name => `${name}, listed disposable domain`);
    expect(labels).toEqual([`${host}, mail host`, first, last, first]);
    await page.getByText('As a table').click();
    const [row] = await rowsOf(page.getByRole('table', { name: /^Mail hosts and the listed/ }));
    expect(row?.join(' ').replace(/\s+/g, ' ')).toBe(`${host} 192.0.2.1 41 mailinator.com yopmail.com`);
    await graph.getByRole('link', { name: first! }).press('Enter');
    await answerAbout(page, 'mailinator.com');
    expect(new URL(page.url()).hash).toBe('#/d/mailinator.com');
    await soon(() => page.evaluate('document.activeElement?.id')).toBe('result-title');
    await soon(() => namesField(page).inputValue()).toBe('mailinator.com');

    // What was paid for is not paid for again.
    const used = await service().used(key);
    await page.goBack();
    await answerAbout(page, 'fresh.example.net');
    await page.goForward();
    await answerAbout(page, 'mailinator.com');
    const recent = page.getByRole('region', { name: 'Recent lookups' });
    await recent.getByRole('link', { name: 'fresh.example.net' }).click();
    await answerAbout(page, 'fresh.example.net');
    expect([used, await service().used(key)]).toEqual([3, 3]);

    // However fast the key is pressed: here as soon as the page is there, before it has taken the focus.
    await page.evaluate(`new Promise(done => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('main h1')?.textContent !== 'Page not found') return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
        done();
      }).observe(document.querySelector('main'), { childList: true, subtree: true });
      location.hash = '#/no/such/page';
    })`);
    await soon(() => page.evaluate('document.activeElement?.tagName')).toBe('TEXTAREA');
    await soon(() => page.title()).toBe('Look up · domain-risk');
    await namesField(page).fill('a/b');
    await recent.getByRole('checkbox', { name: /Press/ }).uncheck();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('INPUT');

    await button(recent, 'Clear recent lookups').click();
    await recent.getByText('None yet').waitFor();
    await lookUp(page, 'gmail.com');
    await recent.getByRole('link', { name: 'gmail.com' }).waitFor();
    await recent.getByRole('checkbox', { name: /Keep recent/ }).uncheck();
    await lookUp(page, 'mailinator.com');
    await answerAbout(page, 'mailinator.com');
    await page.reload();
    await recent.getByText('Not kept').waitFor();
  });

  test('takes away the raw JSON and the call in five languages, which hold the key only on request', async () => {
    const { secret } = await service().key();
    const page = await visit('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await lookUp(page, 'MAILINATOR.com', secret);
    await answerAbout(page, 'mailinator.com');
    const code = page.getByRole('region', { name: 'The same lookup in code' });
    await code.getByText('Raw JSON').click();
    const json = await code.getByRole('region', { name: 'JSON' }).innerText();
    const path = '/v1/public/domain/mailinator.com?explain=true';
    expect(JSON.parse(json)).toEqual(await (await service().get(path, secret)).json());

    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    await button(code, 'Copy curl example').click();
    await code.getByText('Copied').first().waitFor();
    expect(await clipboard()).toBe(`curl -H "Authorization: Bearer $API_KEY" "${service().base}${path}"`);
    expect(await page.content()).not.toContain(secret);
    for (const language of ['fetch', 'client', 'Python', 'PHP']) {
      await code.getByRole('tab', { name: language }).click();
      const sample = await code.getByRole('region', { name: `${language} example` }).innerText();
      expect(sample).toContain('mailinator.com');
      expect(sample).toContain('API_KEY');
    }
    expect(await page.content()).not.toContain(secret);
    await code.getByRole('tab', { name: 'curl' }).click();
    await code.getByRole('checkbox', { name: 'Put my key into the examples' }).check();
    await button(code, 'Copy curl example').click();
    await soon(clipboard).toContain(`Bearer ${secret}'`);

    // Each runs as it is copied, where its interpreter is on the machine.
    const sample = async (language: string) => {
      await code.getByRole('tab', { name: language }).click();
      return code.getByRole('region', { name: `${language} example` }).innerText();
    };
    const said = 'mailinator.com is disposable';
    expect(await ran('sh', ['-c', await sample('curl')])).toContain('"reason":"disposable"');
    expect(await ran(process.execPath, ['--input-type=module', '-e', await sample('fetch')])).toContain(said);
    const python = await ran('python3', ['-c', await sample('Python')]);
    if (python !== undefined) expect(python).toContain(said);
    const php = await ran('php', ['-r', (await sample('PHP')).replace('<?php', '')]);
    if (php !== undefined) expect(php).toContain(said);
  });

  test('is told what is missing, and an email address never leaves the page', async () => {
    const { secret } = await service().key();
    const page = await visit();
    const asked: string[] = [];
    page.on('request', request => asked.push(request.url()));
    await button(page, 'Look up').click();
    await page.getByText('Enter a domain such as gmail.com').waitFor();
    for (const [nothing, shown] of [
      ['..', '..'],
      ['a_b.example.net', 'a_b.example.net'],
      ['127.0.0.1', '127.0.0.1'],
    ] as const) {
      await lookUp(page, nothing);
      expect(await errorSaid(page, 'No domain in')).toContain(shown);
    }
    await lookUp(page, 'Ann.Private@mailinator.com');
    await page.getByText('Enter an API key. Lookups count against its quota').waitFor();
    await soon(() => page.evaluate("document.activeElement?.getAttribute('type')")).toBe('password');
    for (const [typed, hint] of [
      [secret.slice(0, 20), 'This key looks incomplete.'],
      ['two words', 'This is neither an API key (drk_…) nor an operator token.'],
    ] as const) {
      await signInField(page).fill(typed);
      await signInField(page).press('Enter');
      await page.getByText(hint).waitFor();
    }

    expect(asked).toEqual([]);
    await page.getByText('Only mailinator.com is sent').waitFor();
    // Signing in goes on with what was wanted.
    await signInField(page).fill(secret);
    await signInField(page).press('Enter');
    await answerAbout(page, 'mailinator.com');
    expect(asked.join() + page.url()).not.toContain('Private');

    // Enter sends one domain; in a list it makes a line.
    await namesField(page).fill('gmail.com yopmail.com');
    await namesField(page).press('Enter');
    await soon(() => namesField(page).inputValue()).toBe('gmail.com yopmail.com\n');
    await page.keyboard.type('gmx.de');
    await button(page, 'Look up 3 domains').waitFor();

    // A file is read in the page: the column with the domains is found, and can be changed.
    const csv = 'id,email,site\n1,ann.private@gmail.com,a.example.com\n2,ben@gmail.com,none\n3,none,\n';
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    const before = asked.length;
    await page.locator('input[type=file]').setInputFiles(file);
    const column = page.getByRole('combobox', { name: /^Column/ });
    await page
      .getByText(
        'Only the column email is read. Left out in other columns: 1 domain. Only gmail.com is sent. 1 duplicate left out. Left out, no domain: none.',
      )
      .waitFor();
    expect(await column.locator('option:checked').innerText()).toBe('email');
    await column.selectOption('site');
    await button(page, 'Look up').click();
    await answerAbout(page, 'a.example.com');
    const huge = { ...file, buffer: Buffer.alloc(1_000_001, 'a') };
    await page.locator('input[type=file]').setInputFiles(huge);
    await errorSaid(page, 'people.csv is larger than 1 MB');
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['ann.private@yopmail.com'], 'one.txt'));
      document.querySelector('form').dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
    }`);
    await page.getByText('Only yopmail.com is sent').waitFor();
    expect(asked.slice(before).map(url => new URL(url).pathname)).toEqual([
      '/v1/public/domain/a.example.com',
    ]);
    // Nor by a link that holds an address.
    await page.evaluate("location.hash = '#/d/ann.private%2Fx@gmx.de'");
    await answerAbout(page, 'gmx.de');
    expect(asked.join() + page.url()).not.toContain('private');

    // Written in the language of the name; the answer has the canonical form.
    await lookUp(page, 'MÜNCHEN.invalid');
    await answerAbout(page, 'xn--mnchen-3ya.invalid');
    expect(new URL(page.url()).hash).toBe('#/d/xn--mnchen-3ya.invalid');
  });

  test('reads for each refusal what to do about it', async () => {
    const page = await visit('', { expected: REFUSED });
    const outside = async (secret: string, title: string, advice: RegExp) => {
      await signInField(page).fill(secret);
      await signInField(page).press('Enter');
      expect(await errorSaid(page, title)).toMatch(advice);
    };
    const refused = async (secret: string, title: string, advice: RegExp, name = 'gmail.com') => {
      await lookUp(page, name, secret);
      expect(await errorSaid(page, title)).toMatch(advice);
    };
    const stranger = newKey({ name: 'never stored' }, time.now).secret;
    await outside(stranger, 'The key is not accepted', /Paste the whole key again/);
    const fromElsewhere = await service().key({ origins: ['https://app.example.com'] });
    await outside(
      fromElsewhere.secret,
      'This key may not be used from here',
      /Use a key without such limits/,
    );
    const { secret, key } = await service().key();
    await refused(secret, 'Not a valid domain', /Correct it and try again/, 'co.uk');
    await service().store.updateKey({ ...key, revokedAt: time.now }, key, ACT);
    await lookUp(page, 'gmail.com');
    expect(await errorSaid(page, 'The key is not accepted')).toContain('revoked');
    await signIn(page, (await service().key()).secret);
    // Half a character in a link, and dots that a browser takes for steps in a path.
    for (const [link, detail] of [
      ['..', /A domain looks like gmail\.com/],
      ['%ED%A0%80.com', /Correct it/],
      ['%.com', /Correct it/],
    ] as const) {
      await page.evaluate(`location.hash = '#/d/${link}'`);
      await expect.poll(() => errorSaid(page, 'Not a valid domain')).toMatch(detail);
    }
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
    const id = /Request ID (\S+)/.exec(said)?.[1];
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
    await soon(() => namesField(page).inputValue()).toBe('gmail.com');
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
    const page = await visit();
    await namesField(page).fill(['gmail.com', 'co.uk', ...manyNames(198), 'GMAIL.com.'].join('\n'));
    await page.getByText('Uses 200 lookups of your quota. 1 duplicate left out.').waitFor();
    await signIn(page, secret);
    const sent: string[] = [];
    page.on('request', request => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await button(page, 'Look up 200 domains').click();
    await page.getByText('Done: 199 results, 1 invalid').waitFor();
    expect(await service().used(key)).toBe(200);
    expect(sent).toEqual(['POST /v1/public/domains', 'POST /v1/public/domains']);
    expect(await page.getByRole('progressbar', { name: 'Domains looked up' }).getAttribute('value')).toBe(
      '200',
    );
    const bands = await page.getByRole('list', { name: 'Domains by band' }).innerText();
    expect(bands.replace(/\s+/g, ' ')).toMatch(/1 Accept 0 Review 0 Warn 0 Block 198 Block \(confirmed\)/);

    const table = page.getByRole('table', { name: 'Results' });
    const score = table.getByRole('columnheader', { name: 'Score' });
    for (const order of ['descending', 'ascending']) {
      await score.getByRole('button').click();
      await soon(() => score.getAttribute('aria-sort')).toBe(order);
    }
    expect((await rowsOf(table)).slice(0, 2).map(([name]) => name)).toEqual(['co.uk', 'gmail.com']);
    // Its page is there without another call, and the list again on the way back.
    await table.getByRole('link', { name: 'gmail.com' }).click();
    expect(await (await answerAbout(page, 'gmail.com')).innerText()).toContain('Free provider');
    await page.goBack();
    await page.getByText('Done: 199 results, 1 invalid').waitFor();
    expect(await service().used(key)).toBe(200);
    await page.getByRole('combobox', { name: 'Advice' }).selectOption('Failed');
    await soon(() => rowsOf(table)).toHaveLength(1);
    expect((await rowsOf(table))[0]?.join(' ')).toMatch(/^co\.uk Not a valid domain/);
    await page.getByRole('combobox', { name: 'Advice' }).selectOption('All');
    await page.getByRole('searchbox', { name: 'Filter' }).fill('n19.');
    await soon(() => rowsOf(table)).toHaveLength(1);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('');

    const lines = (await saved(page, 'CSV')).text.split('\r\n');
    expect(lines).toHaveLength(202);
    expect(lines[1]).toBe('gmail.com,5,safe,true,false,Gmail,false,');
    expect(lines[2]).toBe('co.uk,,,,,,,validation_error');
    const json = JSON.parse((await saved(page, 'JSON')).text);
    expect(json).toHaveLength(200);
    expect(json[2]).toMatchObject({ domain: 'n0.mailinator.com', reason: 'disposable' });
  });

  test('cancels a list: no more is sent, all that was counted is shown, and the rest can follow later', async () => {
    const { secret, key } = await service().key();
    const page = await visit('', { expected: REFUSED });
    const held: Route[] = [];
    let sent = 0;
    await page.route(LISTS, route => void (++sent > 1 ? held.push(route) : route.continue()));
    await lookUp(page, manyNames(250).join(' '), secret);
    await page.getByText('100 of 250', { exact: true }).waitFor();
    await soon(() => held.length).toBe(1);
    await button(page, 'Cancel').click();
    await button(page, 'Stopping…').waitFor();
    void held[0]?.continue();
    await page.getByText('Stopped at 200 of 250').waitFor();
    // What the quota view says comes later than anything that would still have been sent.
    await goTo(page, 'Quota');
    await page.getByText('200 counted calls').waitFor();
    expect(sent).toBe(2);
    await page.unroute(LISTS);
    await goTo(page, 'Look up');
    await button(page, 'Look up the remaining 50').click();
    await page.getByText('Done: 250 results').waitFor();
    expect(await service().used(key)).toBe(250);
    await button(page, 'Clear').click();
    await page.getByText('Example answer').waitFor();

    // Whoever signs out takes their list along, and what is under way ends: the next one finds nothing of it.
    const leaving = await service().key();
    let asked = 0;
    await page.route(LISTS, route => void (++asked > 1 ? held.push(route) : route.continue()));
    await lookUp(page, manyNames(250).join(' '), leaving.secret);
    await soon(() => held.length).toBe(2);
    await button(page, 'Sign out').click();
    await page.getByText('Example answer').waitFor();
    await page.unroute(LISTS);

    const small = await service().key({ quota: 103 });
    await signIn(page, small.secret);
    expect(await namesField(page).inputValue()).toBe('');
    expect(await service().used(leaving.key)).toBe(100);
    await lookUp(page, manyNames(1_001).join(','));
    await page.getByText('1,001 domains: at most 1000 at once, so none is looked up').waitFor();
    expect(await service().used(small.key)).toBe(0);
    await button(page, 'Keep the first 1000').click();
    await button(page, 'Look up 1000 domains').click();
    // The quota ends in the middle of the second hundred: all of it is used, and the rest says why it has no answer.
    await errorSaid(page, 'The monthly quota of this key is used up');
    await page.getByText('Stopped at 103 of 1000').waitFor();
    expect(await service().used(small.key)).toBe(103);
    const rows = await rowsOf(page.getByRole('table', { name: 'Results' }));
    expect(rows[102]?.join(' ')).toMatch(/^n102\.mailinator\.com 100/);
    expect(rows[103]?.join(' ').replace(/\s+/g, ' ')).toMatch(
      /^n103\.mailinator\.com Not looked up The monthly quota of this key is used up/,
    );
    const lines = (await saved(page, 'CSV')).text.split('\r\n');
    expect([lines.length, lines[104]]).toEqual([1_002, 'n103.mailinator.com,,,,,,,quota_exceeded']);
    await button(page, 'Look up the remaining 897').waitFor();
  });

  test('sees in a list what was judged without DNS, and asks again only what had no answer', async () => {
    const { secret, key } = await service().key();
    service().dns.zones.set('quiet.example.net', { fault: 'servfail' });
    const page = await visit('', { expected: REFUSED });
    const body = { error: 'overloaded', message: 'x', detail: null, request_id: 'r-1' };
    const refused = { status: 503, json: body };
    let sent = 0;
    await page.route(LISTS, route => (++sent === 2 ? route.fulfill(refused) : route.continue()));
    await lookUp(page, ['quiet.example.net', ...manyNames(101)].join(' '), secret);
    await page.getByText('Done: 100 results, 2 failed, 1 without DNS').waitFor();
    const rows = await rowsOf(page.getByRole('table', { name: 'Results' }));
    expect(rows[0]?.join(' ').replace(/\s+/g, ' ')).toMatch(
      /^quiet\.example\.net 40 DNS did not answer Review Unknown/,
    );
    await button(page, 'Retry 2 failed').click();
    await page.getByText('Done: 102 results, 1 without DNS').waitFor();
    expect(await service().used(key)).toBe(102);

    // A limit of calls per second makes a list slower, not shorter; each of its calls is one.
    const limited = await service().key({ rate: 1 });
    const list = ['quiet.example.net', ...manyNames(101)].join(' ');
    await lookUp(page, list, limited.secret);
    await page.getByText('100 of 102').waitFor();
    time.now += 1_000;
    await page.getByText('Done: 102 results').waitFor();
    expect(await service().used(limited.key)).toBe(102);

    // What is not one answer for each name is not ours.
    await page.unroute(LISTS);
    await page.route(LISTS, route => route.fulfill({ json: { results: [], count: 0 } }));
    await button(page, 'Look up 102 domains').click();
    await page.getByText('Done: 0 results, 102 failed').waitFor();
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
    // Which names were looked up, and nothing else.
    expect(JSON.parse(await stored('localStorage'))).toEqual([
      ['domain-risk.recent', '[{"domain":"gmail.com","score":5}]'],
    ]);
    expect(await stored('sessionStorage')).toBe('[]');
    expect(await page.context().cookies()).toEqual([]);
    expect(await whoIsSignedIn(page).innerText()).toContain(
      `Signed in: ${secret.slice(0, 8)}…${secret.slice(-4)}`,
    );
    await page.reload();
    expect(await signInField(page).inputValue()).toBe('');
    expect(await signInField(page).getAttribute('type')).toBe('password');

    await signIn(page, secret, true);
    await page.reload();
    await whoIsSignedIn(page).getByText('Signed in').waitFor();
    expect(await stored('sessionStorage')).toContain(secret);
    expect(await stored('localStorage')).not.toContain(secret);
    const tab = await page.context().newPage();
    await tab.goto(page.url());
    await signInField(tab).waitFor();

    // Other tabs hear of the switch: what one has cleared another does not bring back.
    const recent = tab.getByRole('region', { name: 'Recent lookups' });
    await recent.getByRole('link', { name: 'gmail.com' }).waitFor();
    const keeps = (from: Page) => from.getByRole('checkbox', { name: /Keep recent/ });
    await keeps(page).uncheck();
    await soon(() => keeps(tab).isChecked()).toBe(false);
    await lookUp(tab, 'yopmail.com', secret);
    await answerAbout(tab, 'yopmail.com');
    expect(JSON.parse(await stored('localStorage'))).toEqual([['domain-risk.keeps-recent', 'false']]);
    await keeps(page).check();

    // What leads elsewhere opens a tab of its own: here one stays signed in.
    const [reference] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('contentinfo').getByRole('link', { name: 'API reference' }).click(),
    ]);
    await whoIsSignedIn(reference).getByRole('link', { name: 'Sign in' }).waitFor();
    await whoIsSignedIn(page).getByText(secret.slice(0, 8)).waitFor();

    // Signing out takes everything along: the page of the domain, the key in its samples, the names.
    await lookUp(page, 'mailinator.com');
    await answerAbout(page, 'mailinator.com');
    await page.getByRole('checkbox', { name: 'Put my key into the examples' }).check();
    await button(page, 'Sign out').click();
    await whoIsSignedIn(page).getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await stored('sessionStorage')).toBe('[]');
    expect(await stored('localStorage')).toBe('[]');
    expect(new URL(page.url()).hash).toBe('#/');
    expect(await page.content()).not.toContain(secret);
    const next = (await service().key()).secret;
    await signIn(page, next);
    expect(await namesField(page).inputValue()).toBe('');
    await lookUp(page, 'mailinator.com');
    await answerAbout(page, 'mailinator.com');
    expect(await page.content()).not.toContain(next);
    expect(urls.filter(url => url.includes(secret))).toEqual([]);
  });
});
