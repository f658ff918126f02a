/** The API reference for people and programs, with nothing loaded from elsewhere. */

import type { Server } from 'node:http';
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { type Call, sendJson } from './reply.ts';

const PAGE = ['Cache-Control', 'public, max-age=300', 'Referrer-Policy', 'no-referrer'];

/**
 * The package's own would let fonts and styles come from anywhere, and would turn http into https. Styles inside of
 * elements are allowed here, and only here: Swagger UI writes some.
 */
const REFERENCE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function createPages(document: () => object) {
  let text: string | undefined;
  return {
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
