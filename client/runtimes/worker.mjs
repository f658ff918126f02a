/** Runs the checks in a web worker; the page that started it gets the outcome. */

import { createClient } from '/client/index.js';
import { runAll } from '/suite.mjs';

const unhandled = [];
addEventListener('unhandledrejection', ({ reason }) => unhandled.push(`unhandled rejection: ${reason}`));
addEventListener('message', async ({ data }) => {
  const outcome = await runAll({ createClient, ...data });
  outcome.failed.push(...unhandled);
  postMessage(outcome);
});
