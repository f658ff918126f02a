/** What a person does in the console again and again, by the names that they see. */

import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Answers with an error status are errors to the browser, too. */
export const REFUSED = /the server responded with a status of \d{3}/;

/** The longest test takes 6 s on a machine with nothing else to do (November 2026). */
export const PATIENT = { timeout: 120_000 };

/** Looks again until it is so. */
export const soon = <T>(read: () => T | Promise<T>) => expect.poll(read, { interval: 50 });

export const namesField = (page: Page) => page.getByRole('textbox', { name: 'Domain or list of domains' });
export const signInField = (page: Page) => page.getByRole('textbox', { name: 'API key or operator token' });
export const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });

export const whoIsSignedIn = (page: Page) => page.getByRole('banner').locator('.session');

/** With a key, in the place of another one. */
export async function signIn(page: Page, secret: string, isRemembered = false): Promise<void> {
  await signInField(page).or(button(page, 'Sign out')).first().waitFor();
  if (!(await signInField(page).isVisible())) await button(page, 'Sign out').click();
  await signInField(page).fill(secret);
  if (isRemembered) await page.getByRole('checkbox', { name: 'Remember in this tab' }).check();
  await signInField(page).press('Enter');
  await whoIsSignedIn(page).getByText(secret.slice(0, 8)).waitFor();
}

export async function lookUp(page: Page, names: string, secret?: string): Promise<void> {
  if (secret !== undefined) await signIn(page, secret);
  await namesField(page).fill(names);
  await namesField(page).press('Control+Enter');
}

/** The answer about a domain, once it is there. */
export async function answerAbout(page: Page, domain: string): Promise<Locator> {
  const region = page.getByRole('region', { name: domain, exact: true });
  await region.getByText('of 100', { exact: true }).waitFor();
  return region;
}

/** The words of the error that is shown, once there is one with this title. */
export async function errorSaid(page: Page | Locator, title: string): Promise<string> {
  const alert = page.getByRole('alert').filter({ hasText: title });
  await alert.waitFor();
  return alert.innerText();
}

export async function goTo(page: Page, view: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: view, exact: true }).click();
  await soon(() => page.title()).toBe(`${view} · domain-risk`);
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
}

/** What of a table is looked at; the types of a page are not those of the tests. */
interface ShownTable {
  readonly tBodies: readonly {
    readonly rows: Iterable<{ readonly cells: Iterable<{ innerText: string }> }>;
  }[];
}

/** The cells of a table, row by row, the head left out. */
export function rowsOf(table: Locator): Promise<string[][]> {
  return table.evaluate(node => {
    const { tBodies } = node as unknown as ShownTable;
    return [...tBodies[0]!.rows].map(row => [...row.cells].map(cell => cell.innerText.trim()));
  });
}

/** What a button saves. */
export async function saved(page: Page, name: string): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await button(page, name).click();
  const download = await coming;
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

export async function openOperator(page: Page, token: string, name = ''): Promise<void> {
  await signInField(page).fill(token);
  await page.getByRole('textbox', { name: 'Your name' }).fill(name);
  await button(page, 'Sign in').click();
  await page.getByRole('tablist', { name: 'Operator' }).waitFor();
}

export async function chooseTab(page: Page, name: string): Promise<Locator> {
  await page.getByRole('tab', { name, exact: true }).click();
  const panel = page.getByRole('tabpanel', { name, exact: true });
  await panel.getByRole('heading', { name, exact: true }).waitFor();
  return panel;
}
