/** What workerd serves: the checks at `/suite`, and visits that share one client, as a Worker's do. */

import { createClient } from './client/index.js';
import { runAll } from './suite.mjs';

let risk;

export default {
  async fetch(request) {
    const tools = await request.json();
    const { pathname } = new URL(request.url);
    if (pathname === '/suite') return Response.json(await runAll({ createClient, ...tools }));
    // Each answer takes half a second.
    risk ??= createClient({ baseUrl: `${tools.bad}/late/visits`, apiKey: 'drk_x', timeout: 2_000 });
    const lookup = risk.lookup('example.com');
    return Response.json(pathname === '/leave' ? null : await lookup);
  },
};
