/** `/openapi.json`: the API for programs. What people read is made from the same document at build time. */

import type { Call } from '../call.ts';
import { sendJson } from '../reply.ts';

const PAGE = ['Cache-Control', 'public, max-age=300', 'Referrer-Policy', 'no-referrer'];

/** Made when it is first asked for: most servers are never asked. */
export function openapiEndpoint(document: () => Promise<object>) {
  let text: Buffer | undefined;
  return async (call: Call): Promise<void> => {
    text ??= Buffer.from(JSON.stringify(await document()));
    sendJson(call, 200, text, PAGE);
  };
}
