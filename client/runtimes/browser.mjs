/** Runs the checks, and the recipe for a plain page, in a real Chromium. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { chromium } from 'playwright-core';

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed browser; `CHROME_PATH` comes first. */
export function findBrowser() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = NAMES.flatMap(name => folders.map(folder => join(folder, name)));
  return [process.env.CHROME_PATH, ...paths].find(path => path && existsSync(path));
}

/** The outcomes by the name of the place in which the checks ran. */
export async function runInBrowser(executablePath, tools) {
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${tools.bad}/page.html`);
    return {
      version: browser.version(),
      page: await page.evaluate(inPage, tools),
      worker: await page.evaluate(inWorker, tools),
      form: await tryForm(browser, tools.bad),
    };
  } finally {
    await browser.close();
  }
}

async function inPage(tools) {
  const unhandled = [];
  addEventListener('unhandledrejection', ({ reason }) => unhandled.push(`unhandled rejection: ${reason}`));
  const { createClient } = await import('/client/index.js');
  const { runAll } = await import('/suite.mjs');
  const outcome = await runAll({ createClient, ...tools });
  outcome.failed.push(...unhandled);
  return outcome;
}

function inWorker(tools) {
  return new Promise((resolve, reject) => {
    const worker = new Worker('/worker.mjs', { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = error => reject(new Error(error.message));
    worker.postMessage(tools);
  });
}

/** What the visitor is told about two addresses. */
async function tryForm(browser, base) {
  const page = await browser.newPage();
  await page.goto(`${base}/examples/html-form.html`);
  const hint = page.locator('output');
  await page.locator('input').pressSequentially('somebody@mailinator.com');
  await hint.filter({ hasText: 'another' }).waitFor({ timeout: 10_000 });
  await page.locator('input').fill('');
  const answered = page.waitForResponse(response => response.url().endsWith('/gmail.com'));
  await page.locator('input').pressSequentially('somebody@gmail.com');
  await answered;
  await page.waitForTimeout(200);
  const text = await hint.textContent();
  return { passed: 1, failed: text === '' ? [] : [`the form says ${text} to gmail.com`], latest: 0 };
}
