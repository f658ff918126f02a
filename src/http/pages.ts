/** What a person sees in a browser: the front page and the API reference, with nothing loaded from elsewhere. */

import type { Server } from 'node:http';
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { type Call, send, sendJson } from './reply.ts';

const PAGE = ['Cache-Control', 'public, max-age=300', 'Referrer-Policy', 'no-referrer'];
const STRICT =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The package's own would let fonts and styles come from anywhere, and would turn http into https. */
const REFERENCE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HOME = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>domain-risk</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>domain-risk</h1>
<p>This service tells whether an email domain can be trusted: a risk score from 0 to 100, the reason,
whether it is free webmail or corporate mail, and who receives its mail.</p>
<p>Ask it with an API key:</p>
<pre>curl -H "Authorization: Bearer $API_KEY" $BASE_URL/v1/public/domain/gmail.com</pre>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/readyz">Is it ready?</a></li>
</ul>
</main>
</body>
</html>
`;

export function createPages(document: () => object) {
  let text: string | undefined;
  return {
    async home(call: Call): Promise<void> {
      const csp = `${STRICT}; img-src data:`;
      send(call, 200, 'text/html; charset=utf-8', HOME, [...PAGE, 'Content-Security-Policy', csp]);
    },
    async openapi(call: Call): Promise<void> {
      text ??= JSON.stringify(document());
      sendJson(call, 200, text, PAGE);
    },
  };
}

/** The API reference at `prefix`; everything that it loads comes with the package. */
export async function addReference(
  app: FastifyInstance<Server>,
  prefix: string,
  document: object,
): Promise<void> {
  await app.register(swagger, {
    mode: 'static',
    specification: { document: document as StaticDocumentSpec['document'] },
  });
  await app.register(swaggerUi, {
    routePrefix: prefix,
    staticCSP: REFERENCE_CSP,
    uiConfig: { deepLinking: true, displayRequestDuration: true },
  });
}
