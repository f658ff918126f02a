/** The inner loop: what is pure, or made so by parts of the test's own. No files, sockets, threads or packages of lists. */

import { defineConfig } from 'vitest/config';
import { forgetSettings } from './test/support/environment.ts';

forgetSettings();

export default defineConfig({
  // Vite would take `VITE_…` of the operator's `.env` over.
  envDir: false,
  test: {
    include: [
      'test/core/*.test.ts',
      'test/console/{graph,lists,metrics,names,verdict,words}.test.ts',
      'test/{admit,config,corroboration,flags,observe,overrule,tenants}.test.ts',
      'test/dns/{finding,flights,memory,places,sentinel-rules}.test.ts',
      'test/http/{accounts,answer-headers,bytes,console,descriptors,domains,doors,etag,farewell,flood,head,lane,large,log,parsing,pieces,probes,query,receiving,reply,room,router,shedding,shown,target,transport,turns,whose,wire}.test.ts',
      'test/store/session.test.ts',
      'test/learn/*.test.ts',
      'test/feeds/tar.test.ts',
    ],
    // A test of half a second takes more than Vitest's own five where Stryker has made it slow, or the machine is busy.
    testTimeout: 60_000,
    isolate: false,
  },
});
