/** The operator's side of the console: every change made there, what callers notice of it, and what the audit says. */

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { lastDays } from '../../src/core/quota.ts';
import { ACT } from '../support/act.ts';
import { hasBrowser, resize, sharedConsole, type VisitOptions } from '../support/browser.ts';
import { a, mx } from '../support/dns.ts';
import { guestOf } from '../support/guests.ts';
import { installedCatalog } from '../support/service.ts';
import { forgetVersions } from '../support/versions.ts';
import {
  answerAbout,
  button,
  chooseTab,
  errorSaid,
  goTo,
  lookUp,
  openOperator,
  PATIENT,
  REFUSED,
  rowsOf,
  signIn,
  signInField,
  soon,
  whoIsSignedIn,
} from './steps.ts';

const TOKEN = 'token-of-the-tests-0123456789abcdef';
/** What of a link is looked at; the types of a page are not those of the tests. */
interface Link {
  readonly hash: string;
}

const HOSTILE = '<img src=x onerror=alert(1)>';
const MORE_HOSTILE = '"><script>alert(2)</script>';

describe.runIf(hasBrowser())('an operator', PATIENT, () => {
  const { service, visit } = sharedConsole({ env: { ADMIN_TOKEN: TOKEN, DECISION_LOG: 'flagged' } });
  const status = async (secret: string) =>
    (await service().get('/v1/public/domain/gmail.com', secret)).status;

  async function enter(name = 'Ann', options: VisitOptions = {}): Promise<Page> {
    const page = await visit('#/operator/keys', options);
    await openOperator(page, TOKEN, name);
    return page;
  }

  const rowOf = async (page: Page, name: string) =>
    (await rowsOf(page.getByRole('table', { name: 'API keys' }))).find(([first]) => first?.startsWith(name));

  /** Fills the dialog in front and sends it. */
  async function send(
    page: Page,
    verb: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const dialog = page.getByRole('dialog');
    for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
    await button(dialog, verb).click();
  }

  /** Holds such calls back until the function that it gives is called. */
  async function hold(page: Page, method: string, path: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route(`**/admin/${path}`, async route => {
      if (route.request().method() === method) await promise;
      await route.fallback();
    });
    return resolve;
  }

  /** As another operator would, elsewhere. */
  const call = (method: string, path: string, body: object) =>
    fetch(`${service().base}/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const focused = (page: Page) => page.evaluate('document.activeElement?.textContent');

  async function press(page: Page, ...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  async function copiedSecret(page: Page, name: string): Promise<string> {
    const dialog = page.getByRole('dialog', { name: `: ${name}` });
    const secret = await dialog.getByRole('region', { name: 'API key' }).innerText();
    expect(secret).toMatch(/^drk_\w{49}$/);
    // Read in the task of the click itself: the dialog leaves the page together with its secret.
    await button(dialog, 'I have copied it').focus();
    const after = await page.evaluate(`(async () => {
      document.activeElement.click();
      for (let turn = 0; turn < 20; turn++) await undefined;
      return document.documentElement.outerHTML;
    })()`);
    expect(after).not.toContain(secret);
    await dialog.waitFor({ state: 'detached' });
    return secret;
  }

  test('adds an operator, whose token is shown once, and revokes it', async () => {
    const page = await enter('Ann', { expected: REFUSED });
    const panel = await chooseTab(page, 'Operators');
    await panel.getByText('Everybody shares the ADMIN_TOKEN').waitFor();
    await button(panel, 'Add an operator').click();
    await send(page, 'Add', { Name: 'Ada' });
    const dialog = page.getByRole('dialog', { name: 'The token of Ada' });
    const token = await dialog.getByRole('region', { name: 'Operator token' }).innerText();
    expect(token).toMatch(/^dro_/);
    // The browser's Back does not take it away, but signing out does.
    await page.evaluate("location.hash = '#/docs'");
    await dialog.waitFor({ state: 'detached' });
    await page.goBack();
    await dialog.waitFor();
    await page.evaluate("location.hash = '#/docs'");
    await dialog.waitFor({ state: 'detached' });
    await button(page, 'Sign out').click();
    await page.goBack();
    await page.getByText('Operator sign-in').waitFor();
    expect(await page.content()).not.toContain(token);

    // Ada is known by name, also after a reload.
    await signInField(page).fill(token);
    await page.getByRole('checkbox', { name: 'Remember in this tab' }).check();
    await button(page, 'Sign in').click();
    await whoIsSignedIn(page).getByText('Ada').waitFor();
    await page.goto(`${service().base}/?again#/d/ada.example.net`);
    await whoIsSignedIn(page).getByText('Ada').waitFor();
    await button(page, 'Deny ada.example.net').click();
    expect((await call('POST', 'operators/Ada/revoke', {})).status).toBe(204);
    // What was wanted has its answer, though nobody is signed in any more.
    await send(page, 'Deny');
    expect(await errorSaid(page.getByRole('dialog'), 'The token is not accepted')).toContain(
      'Nothing was changed',
    );
    await whoIsSignedIn(page).getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await button(page.getByRole('dialog'), 'Cancel').click();
    expect(await button(page, 'Deny ada.example.net').count()).toBe(0);

    await goTo(page, 'Operator');
    await openOperator(page, TOKEN, 'Ann');
    const again = await chooseTab(page, 'Operators');
    await soon(async () => (await rowsOf(again.getByRole('table')))[0]?.[2]).toMatch(/^revoked /);
    await button(again, 'Add an operator').click();
    await send(page, 'Add', { Name: 'Zoe' });
    await button(page.getByRole('dialog', { name: 'The token of Zoe' }), 'I have copied it').click();
    await button(again, 'Revoke Zoe').click();
    await send(page, 'Revoke');
    await soon(async () => (await rowsOf(again.getByRole('table')))[1]?.[2]).toMatch(/^revoked /);
  });

  test('with a wrong token stays outside; with the right one leaves nothing of it behind', async () => {
    const page = await visit('#/operator/constructor', { expected: REFUSED });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await goTo(page, 'Operator');
    const { secret } = await service().key();
    await signInField(page).fill(TOKEN.replace('0', '1'));
    await button(page, 'Sign in').click();
    expect(await errorSaid(page, 'The token is not accepted')).toContain('nor the token of an operator');
    // A key signs in too, but not as an operator.
    await signIn(page, secret);
    await page.getByText('Operator sign-in').waitFor();
    await openOperator(page, TOKEN, 'Ann');
    expect(await whoIsSignedIn(page).innerText()).toMatch(/^Signed in: drk_\S+, Ann/);
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    // A wrong one in its place changes nothing.
    await page.evaluate("location.hash = '#/sign-in'");
    await signInField(page).fill(TOKEN.replace('0', '1'));
    await button(page, 'Sign in').click();
    await errorSaid(page, 'The token is not accepted');
    expect(await whoIsSignedIn(page).innerText()).toMatch(/^Signed in: drk_\S+, Ann/);
    await goTo(page, 'Operator');
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]');
    expect(page.url()).not.toContain(TOKEN);
    await button(page, 'Sign out').click();
    expect(await signInField(page).inputValue()).toBe('');
    await goTo(page, 'Look up');
    await signInField(page).waitFor();

    // The link of the first start, in a tab that is reloaded, and opened again by somebody else.
    const code = service().invite(secret);
    const trouble = { error: 'overloaded', message: 'x', detail: null, request_id: 'r-1' };
    await page.route('**/welcome', route => route.fulfill({ status: 503, json: trouble }), { times: 2 });
    await page.goto(`${service().base}/#/welcome/${code}`);
    // It was not used: it can be tried again, here or with the link once more.
    await errorSaid(page, 'The service is overloaded');
    expect(page.url()).not.toContain(code);
    await button(page, 'Try again').click();
    await errorSaid(page, 'The service is overloaded');
    await page.evaluate(`location.hash = '#/welcome/${code}'`);
    await page.getByText('You are signed in').waitFor();
    await page.getByText('With an API key and as an operator').waitFor();
    expect(page.url()).not.toContain(code);
    await page.evaluate("location.hash = '#/docs'");
    await page.goBack();
    await page.getByText('You are signed in').waitFor();
    await page.goto(`${service().base}/#/operator/keys`);
    await page.reload();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    expect(await whoIsSignedIn(page).innerText()).toMatch(/^Signed in: drk_\S+, first/);
    await goTo(page, 'Look up');
    await lookUp(page, 'gmail.com');
    await answerAbout(page, 'gmail.com');
    await button(page, 'Sign out').click();
    await page.goto(`${service().base}/#/welcome/${code}`);
    await errorSaid(page, 'This link does not work any more');
  });

  test('follows what callers are told, and finds out why a domain was refused', async () => {
    const page = await enter('Ann', { expected: REFUSED });
    const decision = { keyId: 'key_1', score: 90, reason: 'disposable', snapshot: 'aa67' } as const;
    const of = (domain: string, at: number) => ({ ...decision, domain, at, degraded: false });
    const many = Array.from({ length: 101 }, (_, at) => of('often.example', Date.UTC(2026, 10, 10) + at));
    await service().store.writeDecisions(
      [...many, of('refused.example', Date.UTC(2026, 10, 11))],
      Date.now(),
      Date.now(),
    );
    const panel = await chooseTab(page, 'Decisions');
    const rows = () => rowsOf(panel.getByRole('table'));
    await soon(async () => (await rows())[0]?.slice(1, 5)).toEqual([
      ...['refused.example', '90', 'disposable', 'key_1'],
    ]);
    // A live stream: what callers are told appears by itself, and not while it is paused.
    await panel.getByText(/^Live: new decisions appear/).waitFor();
    const { secret, key } = await service().key({ name: 'web' });
    await service().get('/v1/public/domain/fresh.invalid', secret);
    await soon(async () => (await rows())[0]?.slice(1, 5)).toEqual([
      ...['fresh.invalid', '95', 'undeliverable', 'web'],
    ]);
    const links = panel.getByRole('row', { name: /fresh\.invalid/ }).getByRole('link');
    const hrefs = await links.evaluateAll(all => all.map(link => (link as unknown as Link).hash));
    expect(hrefs).toEqual(['#/d/fresh.invalid', `#/keys/${key.id}`]);
    // However soon: what is drawn as paused asks nothing more, though the effects of a page end a frame later.
    const askedAtOnce = await page.evaluate<number>(`new Promise(done => {
      const [panel, real] = [document.querySelector('[role=tabpanel]'), fetch];
      let asked = 0;
      new MutationObserver((_, observer) => {
        if (!panel.textContent.includes('Paused.')) return;
        observer.disconnect();
        fetch = (...args) => (asked++, real(...args));
        document.dispatchEvent(new Event('visibilitychange'));
        setTimeout(() => done(asked, (fetch = real)));
      }).observe(panel, { childList: true, subtree: true, characterData: true });
      [...panel.querySelectorAll('button')].find(one => one.textContent === 'Pause').click();
    })`);
    expect(askedAtOnce).toBe(0);
    await service().store.writeDecisions([of('later.example', Date.now())], Date.now(), Date.now());
    let asked = 0;
    page.on('request', request => {
      asked += Number(request.url().includes('/admin/decisions'));
    });
    // What it asks then is heard of before the answer to the question behind it.
    const seenAgain =
      "(document.dispatchEvent(new Event('visibilitychange')), fetch('/livez').then(() => undefined))";
    await page.evaluate(seenAgain);
    expect(asked).toBe(0);
    await button(panel, 'Continue').click();
    await soon(async () => (await rows())[0]?.[1]).toBe('later.example');
    await panel.getByLabel('Domain').fill('often.example');
    await button(panel, 'Search').click();
    await soon(async () => (await rows())[0]?.[1]).toBe('often.example');
    await button(panel, 'Older decisions').click();
    await soon(async () => (await rows()).length).toBe(1);
    // What is older does not change: nothing is asked again, and there is a way back.
    asked = 0;
    await page.evaluate(seenAgain);
    expect(asked).toBe(0);
    await button(panel, 'Newest decisions').click();
    await soon(async () => (await rows()).length).toBe(100);
    // A search that fails shows no rows of the one before.
    await panel.getByLabel('Key name or ID').fill('no such key');
    await panel.getByLabel('Key name or ID').press('Enter');
    await errorSaid(panel, 'Not valid');
    expect(await panel.getByRole('table').count()).toBe(0);
    await panel.getByLabel('Key name or ID').fill('');
    await panel.getByLabel('Domain').fill('safe.example');
    await panel.getByLabel('Domain').press('Enter');
    await panel.getByText('Safe answers are not kept').waitFor();
  });

  test('makes a key whose secret is shown once and works at once, limits it, rotates it, revokes it', async () => {
    const page = await enter('Ann', { expected: REFUSED });
    await button(page, 'Create a key').click();
    await send(page, 'Create', { Name: 'shop', 'Calls per month': '2', Origins: 'nonsense' });
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    expect(await errorSaid(dialog, 'Not valid')).toMatch(/origin/i);
    await send(page, 'Create', { Origins: '' });
    const first = await copiedSecret(page, 'shop');
    expect(await status(first)).toBe(200);
    expect(await status(first)).toBe(200);
    expect(await status(first)).toBe(429);

    await chooseTab(page, 'Audit');
    await chooseTab(page, 'Keys');
    await soon(() => rowOf(page, 'shop')).toEqual([
      expect.stringMatching(/^shop\s+drk_\S+…\S{4}$/),
      'active',
      '2 of 2',
      '',
      'none',
      expect.stringContaining('Revoke'),
    ]);
    const row = page.getByRole('row', { name: /^shop/ });
    expect(await row.getByRole('img').getAttribute('aria-label')).toBe('2 in 30 days, 2 on the busiest');

    await button(page, 'Edit shop').click();
    await soon(() => page.getByRole('dialog').getByLabel('Calls per month').inputValue()).toBe('2');
    await send(page, 'Save', {
      Name: 'big shop',
      Note: ' ask Ann ',
      'Calls per month': '',
      'Calls per second': '50',
    });
    await soon(() => rowOf(page, 'big shop')).toContain('50 per second');
    expect((await rowOf(page, 'big shop'))?.[0]).toMatch(/ask Ann$/);
    await button(page, 'Edit big shop').click();
    await soon(() => page.getByRole('dialog').getByLabel('Note').inputValue()).toBe('ask Ann');
    await send(page, 'Save', { Note: '' });
    await soon(async () => (await rowOf(page, 'big shop'))?.[0]).not.toMatch(/Ann/);
    expect(await status(first)).toBe(200);

    await button(page, 'Rotate big shop').click();
    await soon(() => page.getByRole('dialog').getByLabel('Old secret').inputValue()).toBe('86400');
    await send(page, 'Rotate');
    const second = await copiedSecret(page, 'big shop');
    expect([await status(first), await status(second)]).toEqual([200, 200]);
    await page.getByRole('link', { name: 'big shop' }).click();
    const tiles = page.getByRole('tabpanel').locator('.tiles');
    await soon(async () => (await tiles.innerText()).replace(/\s+/g, ' ')).toMatch(
      /^Calls this month 5 Left this month no limit Last used just now Created/,
    );
    const mix = page.getByRole('region', { name: 'Verdicts, last 30 days' });
    expect((await mix.innerText()).replace(/\s+/g, ' ')).toMatch(
      /5 domains judged, by reason Safe, 100 % 5 Disposable, 0 % 0/,
    );
    await page.getByText('The old secret works until').waitFor();
    await soon(() => focused(page)).toBe('big shop');
    await button(page, 'Rotate big shop').click();
    await page.getByText('The secret before still works, and ends now').waitFor();
    await page.getByRole('dialog').getByLabel('Old secret').selectOption('revoke now');
    await page.getByText('Callers with the old secret get 401 at once').waitFor();
    await send(page, 'Rotate');
    const third = await copiedSecret(page, 'big shop');
    expect([await status(first), await status(second), await status(third)]).toEqual([401, 401, 200]);

    await page.getByRole('link', { name: 'All keys' }).click();
    await button(page, 'Revoke big shop').click();
    await page.getByText('This cannot be undone').waitFor();
    await button(page.getByRole('dialog'), 'Cancel').click();
    expect(await status(third)).toBe(200);
    await soon(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe(
      'Revoke big shop',
    );
    await button(page, 'Revoke big shop').click();
    await send(page, 'Revoke');
    await soon(() => rowOf(page, 'big shop')).toContain('revoked');
    await soon(() => focused(page)).toBe('Keys');
    expect(await status(third)).toBe(401);
    expect(await button(page, 'Edit big shop').count()).toBe(0);

    const audit = await rowsOf((await chooseTab(page, 'Audit')).getByRole('table'));
    const mine = audit.filter(([, who]) => who === 'Ann').map(([, , action]) => action);
    const actions = ['key.revoke', 'key.rotate', 'key.rotate', 'key.update', 'key.update', 'key.create'];
    expect(mine.slice(0, 6)).toEqual(actions);
    expect(audit[0]?.[3]).toBe('big shop');
    expect(audit[0]?.at(-1)).toBe('127.0.0.1');
  });

  test('cannot lose a secret: not by a slow answer, not by Enter or Escape, not by going back', async () => {
    const page = await enter();
    // Back leads through the tabs, and then out of the view.
    await goTo(page, 'Operator');
    await chooseTab(page, 'Audit');
    await page.goBack();
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await goTo(page, 'Docs');
    await page.evaluate("location.hash = '#/operator/keys'");
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    const answerCreate = await hold(page, 'POST', 'keys');
    await button(page, 'Create a key').click();
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.waitFor();
    await page.keyboard.type('slow');
    await press(page, 'Enter', 'Enter', 'Escape', 'Escape');
    for (const name of ['Close', 'Cancel', 'Create'])
      await soon(() => button(dialog, name).isDisabled()).toBe(true);
    answerCreate();
    const made = page.getByRole('dialog', { name: 'Key created: slow' });
    await made.waitFor();
    await soon(() => focused(page)).toBe('Key created: slow');
    await press(page, 'Enter', 'Escape', 'Escape');
    await page.goBack();
    await made.waitFor({ state: 'detached' });
    await page.goForward();
    expect(await status(await copiedSecret(page, 'slow'))).toBe(200);

    const answerRotate = await hold(page, 'POST', 'keys/*/rotate');
    const rotated = page.waitForResponse(/rotate$/);
    await button(page, 'Rotate slow').click();
    await send(page, 'Rotate');
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    answerRotate();
    await rotated;
    await page.goForward();
    expect(await status(await copiedSecret(page, 'slow'))).toBe(200);

    // But it is for nobody else: whoever signs out takes it along.
    await button(page, 'Rotate slow').click();
    await send(page, 'Rotate');
    const shown = page.getByRole('dialog').getByRole('region', { name: 'API key' });
    const secret = await shown.innerText();
    await page.goBack();
    await shown.waitFor({ state: 'detached' });
    await button(page, 'Sign out').click();
    await page.goForward();
    await page.getByText('Operator sign-in').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('changes only what they typed, and the list is up to date after a refusal too', async () => {
    const past = Date.UTC(2026, 0, 1);
    const { key } = await service().key({ name: 'old', quota: 5, expiresAt: past });
    const page = await enter('Dan', { expected: REFUSED });
    await button(page, 'Edit old').click();
    await call('PATCH', `keys/${key.id}`, { quota: 7 });
    await send(page, 'Save', { Name: 'older' });
    await soon(() => rowOf(page, 'older')).toContain('0 of 7');
    // A narrow screen shows every column too.
    const wide = page.viewportSize()!;
    await resize(page, { ...wide, width: 360 });
    expect(
      await page
        .getByRole('row', { name: /^older/ })
        .getByText('expired')
        .isVisible(),
    ).toBe(true);
    await resize(page, wide);

    await button(page, 'Edit older').click();
    await call('POST', `keys/${key.id}/revoke`, {});
    await send(page, 'Save', { Name: 'oldest' });
    const dialog = page.getByRole('dialog', { name: 'Edit older' });
    expect(await errorSaid(dialog, 'Not valid')).toContain('revoked');
    await soon(() => rowOf(page, 'older')).toContain('revoked');
    await button(dialog, 'Cancel').click();
    await soon(() => focused(page)).toBe('Keys');
  });

  test('sees the newest list however late an older one comes, and the door when the token has changed', async () => {
    const { secret } = await service().key();
    const page = await enter('Eve', { expected: REFUSED });
    const panel = await chooseTab(page, 'Audit');
    const table = panel.getByRole('table');
    const refresh = button(panel, 'Refresh');
    const answers = [{ acts: [] }, undefined, {}, { error: 'unauthorized' }];
    const older = Promise.withResolvers<void>();
    await page.route('**/admin/audit?*', async route => {
      const json = answers.shift();
      if (json && 'acts' in json) await older.promise;
      if (!json) return route.fallback();
      await route.fulfill({ json, status: 'error' in json ? 401 : 200 });
    });
    const late = page.waitForResponse(async answer => (await answer.text()) === '{"acts":[]}');
    await refresh.click();
    const newer = page.waitForResponse(/audit/);
    await refresh.click();
    await newer;
    older.resolve();
    await (await late).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect((await rowsOf(table)).length).toBeGreaterThan(0);

    await refresh.click();
    await errorSaid(panel, 'Something else answered');
    await refresh.click();
    await errorSaid(page, 'The token is not accepted');
    // Whoever signs out while a sign-in is under way stays out.
    await signIn(page, secret);
    const answer = await hold(page, 'GET', 'operators');
    await signInField(page).fill(TOKEN);
    await button(page, 'Sign in').click();
    await button(page, 'Signing in…').waitFor();
    await button(page, 'Sign out').click();
    const heard = page.waitForResponse(/admin\/operators/);
    answer();
    await (await heard).finished();
    await page.evaluate('new Promise(done => setTimeout(done, 50))');
    expect(await page.getByText('Operator sign-in').isVisible()).toBe(true);
    await whoIsSignedIn(page).getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('sets an override and takes it away, and the next lookup follows', async () => {
    const { secret } = await service().key();
    service().dns.zones.set('partner.example.net', {
      records: [mx('partner.example.net', 10, 'aspmx.l.google.com')],
    });
    const page = await enter('Bea', { expected: REFUSED });
    const panel = await chooseTab(page, 'Overrides');
    await page.getByText('No overrides').waitFor();
    /** What a caller is told. */
    const verdict = async () => {
      const response = await service().get('/v1/public/domain/partner.example.net', secret);
      return (await response.json()) as { reason: string; risk_score: number };
    };
    expect(await verdict()).toMatchObject({ reason: 'safe' });
    await panel.getByLabel('Domain', { exact: true }).fill('PARTNER.example.net');
    await panel.getByLabel('Action').selectOption({ label: 'Deny: disposable, score 100' });
    await panel.getByLabel('Note').focus();
    await page.keyboard.insertText('asked for by sales '.repeat(20));
    await panel.getByLabel('Include subdomains').check();
    let sent = 0;
    page.on('request', request => {
      sent += Number(request.method() === 'PUT');
    });
    const answer = await hold(page, 'PUT', 'overrides/*');
    await button(panel, 'Set override').dblclick();
    await soon(() => panel.getByLabel('Domain', { exact: true }).isDisabled()).toBe(true);
    answer();
    const table = panel.getByRole('table', { name: 'Overrides' });
    await table.waitFor();
    expect(await rowsOf(table)).toEqual([
      [
        expect.stringMatching(/^partner\.example\.net\s+and its subdomains$/),
        'deny',
        expect.stringMatching(/^(asked for by sales ?){10}asked for$/),
        'Bea',
        expect.stringMatching(/20\d\d/),
        'never',
        'Remove',
      ],
    ]);
    expect(await panel.getByLabel('Domain', { exact: true }).inputValue()).toBe('');
    expect(sent).toBe(1);
    await soon(() => focused(page)).toBe('Set override');
    expect(await verdict()).toMatchObject({ reason: 'disposable', risk_score: 100 });

    await panel.getByLabel('Domain', { exact: true }).fill('not a domain');
    await button(panel, 'Set override').click();
    expect(await errorSaid(panel, 'Not valid')).toContain('Correct it');
    const [set] = [...(await service().store.listOverrides()).overrides];
    await service().store.setOverride({ ...set!, expiresAt: Date.UTC(2026, 0, 1) }, ACT);
    await chooseTab(page, 'Keys');
    await chooseTab(page, 'Overrides');
    expect((await rowsOf(table))[0]?.[5]).toBe('1 Jan 2026 expired');
    await panel
      .getByRole('row', { name: /partner/ })
      .getByRole('button')
      .click();
    await send(page, 'Remove');
    await page.getByText('No overrides').waitFor();
    await soon(() => focused(page)).toBe('Overrides');
    expect(await verdict()).toMatchObject({ reason: 'safe' });

    // Right on the page of the domain too.
    await goTo(page, 'Look up');
    await lookUp(page, 'partner.example.net', secret);
    const answerHere = await answerAbout(page, 'partner.example.net');
    await button(answerHere, 'Deny partner.example.net').click();
    await send(page, 'Deny', { Note: 'a wave of sign-ups' });
    await answerHere.getByText('Blocked by an operator of this service.', { exact: true }).waitFor();
    expect(await answerHere.innerText()).toMatch(/Denied by an operator operator_deny/);
    const overrides = [...(await service().store.listOverrides()).overrides];
    expect(overrides).toMatchObject([
      { action: 'deny', below: false, note: 'a wave of sign-ups', author: 'Bea' },
    ]);
    await answerHere.getByText(/^Looked up .* A reload uses one lookup/).waitFor();
    // What was answered before an override went is not shown as if it were true now.
    await goTo(page, 'Operator');
    await button(await chooseTab(page, 'Overrides'), 'Remove the override for partner.example.net').click();
    await send(page, 'Remove');
    await page.getByText('No overrides').waitFor();
    await page.evaluate("location.hash = '#/d/partner.example.net'");
    await answerHere.getByText('Accept', { exact: true }).first().waitFor();
  });

  test('sees the feeds, forgets a mail host and lets it be learned again, and the metrics are drawn', async () => {
    const host = 'mx.burner-mail.net';
    const [day = ''] = lastDays(Date.now(), 1);
    const domains = (await installedCatalog()).mostAgreed(12);
    const guests = domains.map(domain => guestOf({ host, domain, entry: domain, day }));
    await service().store.learn(guests, [], day, day);
    const accept = (acceptedAt: number) =>
      service().store.acceptSnapshot(
        {
          ...{ feed: 'fakefilter', version: `${acceptedAt}`, digest: `d${acceptedAt}`, names: 1 },
          ...{ acceptedAt, body: 'none that can be read' },
        },
        acceptedAt === 1 ? null : 'd1',
        ACT,
      );
    const page = await enter('Cem', { expected: REFUSED });

    await page.getByText('The lists have not been updated yet').waitFor();
    const feeds = await chooseTab(page, 'Feeds');
    await feeds.getByText(/[\d,]{5,} disposable domains in snapshot/).waitFor();
    const rows = await rowsOf(feeds.getByRole('table', { name: 'Feeds' }));
    expect(rows.map(([name = '']) => name.split('\n')[0])).toEqual([
      'disposable-email-domains',
      'emailalias-relays',
      'email-provider-links',
    ]);
    await accept(1);
    await accept(2);
    await feeds.getByRole('button', { name: 'Refresh' }).click();
    await feeds.getByText('Changing to version 2 with 1 entry').waitFor();
    // Another operator was faster: this one sees it before anything more is done.
    await feeds.getByRole('button', { name: 'Roll back fakefilter' }).click();
    expect((await call('POST', 'feeds/fakefilter/rollback', {})).status).toBe(200);
    await send(page, 'Roll back');
    await page.getByText('another version of fakefilter is in use by now').waitFor();
    await button(page.getByRole('dialog'), 'Cancel').click();
    await feeds.getByText('Changing to version 1 with 1 entry').waitFor();
    await feeds.getByRole('button', { name: 'Roll back fakefilter' }).click();
    await send(page, 'Roll back');
    await feeds.getByText('Changing to').waitFor({ state: 'detached' });
    await feeds.getByRole('button', { name: 'Undo rollback fakefilter' }).click();
    await send(page, 'Undo rollback');
    await feeds.getByText('Changing to version 1 with 1 entry').waitFor();
    await feeds.getByRole('button', { name: 'Undo rollback fakefilter' }).click();
    await send(page, 'Undo rollback');
    await feeds.getByRole('button', { name: 'Undo rollback fakefilter' }).waitFor({ state: 'detached' });
    expect((await service().store.snapshot('fakefilter'))?.digest).toBe('d2');
    await forgetVersions(service().store, 'fakefilter');
    const wait = (...waiting: string[]) =>
      service().store.noteCheck({
        ...{ feed: 'fakefilter', triedAt: 1, checkedAt: 1, added: 0, removed: 0, problem: 'it waits' },
        ...{ waiting, trouble: 'waiting', approved: null, rejected: null, tag: null, fallback: null },
      });
    for (const [verb, isApproved] of [
      ['Reject', false],
      ['Approve', true],
    ] as const) {
      await wait('regular.com');
      await feeds.getByRole('button', { name: 'Refresh' }).click();
      await feeds.getByText(/1 established domain that .*: regular\.com/).waitFor();
      await feeds.getByRole('button', { name: `${verb} fakefilter` }).click();
      await send(page, verb);
      await feeds.getByText('fakefilter: a new version is held back').waitFor({ state: 'detached' });
      expect((await service().store.feedChecks())[0]).toMatchObject({
        [isApproved ? 'approved' : 'rejected']: ['regular.com'],
      });
    }
    // What an update has put in the place of what is shown is not approved unseen.
    await wait('regular.com');
    await feeds.getByRole('button', { name: 'Refresh' }).click();
    await feeds.getByText(/: regular\.com/).waitFor();
    await wait('bank.com');
    await feeds.getByRole('button', { name: 'Approve fakefilter' }).click();
    await send(page, 'Approve');
    await page.getByText('other domains of fakefilter wait by now').waitFor();
    expect((await service().store.feedChecks())[0]).toMatchObject({ waiting: ['bank.com'], approved: null });
    await page.getByRole('button', { name: 'Cancel' }).click();
    // Nor is what another operator has decided since undone without a word (2026-11-18).
    await feeds.getByText(/: bank\.com/).waitFor();
    await feeds.getByRole('button', { name: 'Approve fakefilter' }).click();
    const bank = { domains: ['bank.com'] };
    expect((await call('POST', 'feeds/fakefilter/reject', bank)).status).toBe(200);
    await send(page, 'Approve');
    await page.getByText('an operator has rejected these domains of fakefilter by now').waitFor();
    expect((await service().store.feedChecks())[0]).toMatchObject({ approved: null, rejected: ['bank.com'] });
    await button(page.getByRole('dialog'), 'Cancel').click();
    await feeds.getByText('fakefilter: a new version is held back').waitFor({ state: 'detached' });
    for (const [, , entries] of rows) expect(Number(entries?.replaceAll(',', ''))).toBeGreaterThan(0);

    const panel = await chooseTab(page, 'Learned hosts');
    const state = async () => (await rowsOf(panel.getByRole('table')))[0]?.slice(0, 4);
    const shown = expect.stringMatching(/^mx\.burner-mail\.net/);
    // By the lists of this test, which are one family: that never teaches a host.
    expect(await state()).toEqual([shown, 'undecided', '12', '0']);
    // Its page has the graph: the host, where it is, and all listed domains that are kept.
    await page.route('**/admin/infra?host=*', async route => {
      const json = await (await route.fetch()).json();
      json.hosts[0].addresses = ['192.0.2.1'];
      await route.fulfill({ json });
    });
    await panel.getByRole('table').getByRole('link', { name: host }).click();
    const graph = page.getByRole('group', { name: `${host} and the listed domains on it` });
    await graph.getByRole('link', { name: `${domains[11]}, listed disposable domain` }).waitFor();
    expect(await graph.locator('title').allTextContents()).toEqual([
      `${host}, mail host`,
      '192.0.2.1, address',
      ...domains.toSorted().map(name => `${name}, listed disposable domain`),
    ]);
    expect(new URL(page.url()).hash).toBe(`#/hosts/${host}`);
    await page.goBack();
    await panel.getByRole('table').waitFor();
    await panel
      .getByRole('row', { name: /burner/ })
      .getByRole('button')
      .click();
    await send(page, 'Ignore');
    await soon(state).toContain('ignored');
    await panel
      .getByRole('row', { name: /burner/ })
      .getByRole('button')
      .click();
    await send(page, 'Watch again');
    await page.getByText('Nothing learned yet').waitFor();
    const audit = await rowsOf((await chooseTab(page, 'Audit')).getByRole('table'));
    expect(audit.slice(0, 2).map(cells => cells.slice(1, 4))).toEqual([
      ['Cem', 'host.relearn', host],
      ['Cem', 'host.forget', host],
    ]);

    const { secret } = await service().key();
    for (let calls = 0; calls < 3; calls++) await status(secret);
    await status('nonsense');
    const health = await chooseTab(page, 'Health');
    const byStatus = health.getByRole('figure', { name: /Calls by status/ });
    await byStatus.waitFor();
    const metrics = await (await service().get('/metrics')).text();
    const counted = (code: number) => {
      const lines = metrics.matchAll(/^domain_risk_request_seconds_count\{(.*)\} (\d+)$/gm);
      const of = [...lines].filter(([, labels]) =>
        /route="(domain|domains|check|top_domains|changes|filter|usage)"/.test(labels!),
      );
      const mine = of.filter(([, labels]) => labels!.includes(`status="${code}"`));
      return mine.reduce((sum, [, , count]) => sum + Number(count), 0);
    };
    expect(counted(200)).toBeGreaterThanOrEqual(3);
    const text = (await byStatus.innerText()).replace(/\s+/g, ' ');
    expect(text).toContain(`200 ${counted(200)}`);
    expect(text).toContain(`401 ${counted(401)}`);
    for (const title of [/DNS answers/, /DNS cache/, /Verdicts/])
      expect(await health.getByRole('figure', { name: title }).innerText()).toMatch(/\d/);

    await page.goto(`${service().base}/#/operator/home/hour`);
    const home = page.getByRole('tabpanel', { name: 'Home' });
    await soon(() => home.locator('canvas').count()).toBe(2);
    const { total } = (await (await service().get('/admin/traffic?range=hour', TOKEN)).json()) as {
      total: { calls: number };
    };
    await soon(() => home.locator('.tiles').innerText()).toMatch(new RegExp(`^Calls\\s+${total.calls}\\s`));
    await home.locator('.u-over').first().hover();
    await home.getByText(/^\d\d:\d\d\nCalls \d+\nVerdicts \d+\nFlagged \d+/).waitFor();
    await home.getByRole('link', { name: 'Week' }).click();
    await home.getByText('Calls and verdicts per 6 hours').waitFor();
    expect(page.url()).toMatch(/#\/operator\/home\/week$/);
    await chooseTab(page, 'Health');

    for (let calls = 0; calls < 5; calls++) await status(secret);
    // Coming back to the tab asks at once; otherwise it is every five seconds.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    const tile = health.getByText('Calls', { exact: true }).locator('xpath=..');
    await soon(() => tile.innerText()).toMatch(/Calls\s+5/);
    await soon(() => health.locator('canvas').count()).toBe(2);
    await health.getByText('As a table').click();
    const intervals = await rowsOf(health.getByRole('table', { name: 'Every five seconds' }));
    expect(intervals.length).toBeGreaterThan(0);
  });

  test('and callers see markup in names, notes, hosts and labels as text, and no script runs', async () => {
    const page = await enter(MORE_HOSTILE);
    await page.getByText(`Signed in: ${MORE_HOSTILE}`).waitFor();
    await button(page, 'Create a key').click();
    await send(page, 'Create', { Name: HOSTILE });
    await page.getByRole('dialog', { name: `Key created: ${HOSTILE}` }).waitFor();
    await button(page, 'I have copied it').click();
    await soon(() => rowOf(page, HOSTILE)).toBeDefined();
    await button(page, `Revoke ${HOSTILE}`).click();
    await page.getByRole('dialog', { name: `Revoke ${HOSTILE}` }).waitFor();
    await page.keyboard.press('Escape');
    const panel = await chooseTab(page, 'Overrides');
    await panel.getByLabel('Domain', { exact: true }).fill('hostile.example.net');
    await panel.getByLabel('Note').fill(HOSTILE);
    await button(panel, 'Set override').click();
    await panel.getByRole('cell', { name: HOSTILE }).waitFor();
    const audit = await rowsOf((await chooseTab(page, 'Audit')).getByRole('table'));
    expect(audit[0]?.slice(1, 5)).toEqual([
      MORE_HOSTILE,
      'override.set',
      'hostile.example.net',
      expect.stringContaining(HOSTILE),
    ]);

    // A name server's owner writes host names; what the service does not let through, the page would show as text.
    service().dns.zones.set('evil.example.net', {
      records: [
        mx('evil.example.net', 10, `${HOSTILE}.example.net`),
        mx('evil.example.net', 20, 'mx.<b>x</b>.net'),
      ],
    });
    const { secret } = await service().key();
    await goTo(page, 'Look up');
    await lookUp(page, 'evil.example.net', secret);
    expect(await (await answerAbout(page, 'evil.example.net')).innerText()).not.toContain('<');
    const evil = {
      domain: HOSTILE,
      risk_score: 20,
      reason: 'safe',
      is_free_provider: false,
      is_corporate_email: false,
      mx_provider_label: MORE_HOSTILE,
      evidence: {
        signals: [{ signal: 'third_party', points: 20, detail: HOSTILE }],
        lists: [{ feed: HOSTILE, entry: MORE_HOSTILE, since: null }],
        dns: { state: 'mx', mx: [HOSTILE, MORE_HOSTILE], stale: false },
        graph: [
          { host: HOSTILE, addresses: [MORE_HOSTILE], listed_guests: 2, guests: [HOSTILE, MORE_HOSTILE] },
        ],
        snapshot: MORE_HOSTILE,
      },
    };
    await page.route('**/v1/public/domain/**', route => route.fulfill({ json: evil }));
    await lookUp(page, 'evil.example.net');
    const text = await (await answerAbout(page, HOSTILE)).innerText();
    expect(text.split(HOSTILE).length).toBeGreaterThan(4);
    expect(text.split(MORE_HOSTILE).length).toBeGreaterThan(3);
    await page.getByRole('group', { name: `Mail hosts of ${HOSTILE}` }).waitFor();
    const refusal = {
      error: 'validation_error',
      message: HOSTILE,
      detail: MORE_HOSTILE,
      request_id: HOSTILE,
    };
    await page.route('**/v1/public/domain/**', route => route.fulfill({ status: 200, json: refusal }));
    await lookUp(page, `a.example.net,b.example.net,${HOSTILE}`);
    await page.getByText(/Left out, no domain: </).waitFor();
    await page.getByRole('table', { name: 'Results' }).waitFor();
    expect(await page.locator('img, script:not([src])').count()).toBe(0);
  });
});

describe.runIf(hasBrowser())('an operator whose resolver knows nothing', PATIENT, () => {
  const { service, visit } = sharedConsole({ env: { ADMIN_TOKEN: TOKEN, DNS_SENTINELS: 'gmail.com' } });

  test('reads which one it is, why and what to do, for as long as it is so', async () => {
    const page = await visit('#/operator');
    await openOperator(page, TOKEN, 'Dan');
    const first = page.getByRole('region', { name: 'Needs attention' });
    await first.getByText(`DNS server ${service().dns.address} is not trusted`).waitFor();
    const health = await chooseTab(page, 'Health');
    const notice = health.getByRole('status').filter({ hasText: service().dns.address });
    await notice.waitFor();
    expect(await notice.innerText()).toMatch(/is not trusted\s+It denies that gmail\.com.*set DNS_SERVERS/);
    service().dns.zones.set('gmail.com', {
      records: [a('gmail.com', '142.250.74.5'), mx('gmail.com', 10, 'gmail-smtp-in.l.google.com')],
    });
    await soon(() => notice.count()).toBe(0);
  });
});
