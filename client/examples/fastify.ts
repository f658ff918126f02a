/** Fastify: a hook for every route that takes an email address. Run with DOMAIN_RISK_URL and DOMAIN_RISK_KEY set. */

import { createClient } from '@domain-risk/client';
import Fastify, { type preHandlerAsyncHookHandler } from 'fastify';

const risk = createClient({
  baseUrl: process.env.DOMAIN_RISK_URL,
  apiKey: process.env.DOMAIN_RISK_KEY,
});

const refuseRisky: preHandlerAsyncHookHandler = async (request, reply) => {
  const { email } = request.body as { email: string };
  if (await risk.isRisky(email)) {
    return reply.code(422).send({ error: 'Please use another email address.' });
  }
};

export const app = Fastify();

app.post<{ Body: { email: string } }>('/sign-up', { preHandler: refuseRisky }, async (request, reply) =>
  reply.code(201).send({ welcome: request.body.email }),
);
