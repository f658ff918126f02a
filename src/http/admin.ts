/** The operator's side of the port: `/admin`, there only where a token is set, and only for whoever has it. */

import type { FastifyError, FastifyInstance } from 'fastify';
import { type Checked, clientAddress } from '../core/origin.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { parseLabel } from '../core/typed.ts';
import type { Done, Endpoint } from './acts.ts';
import { type Call, sendEmpty, sendJson, sendRefusal } from './reply.ts';
import type { Guarded, Port } from './server.ts';

export interface AdminParts {
  readonly endpoints: readonly Endpoint[];
  readonly isAdminToken: (sent: string) => boolean;
  readonly isTrustedProxy: (address: string) => boolean;
}

const MOST_BODY = 64 * 1024;
const MOST_OPERATOR = 100;
const SCHEME = /^bearer $/i;
const SCHEME_LENGTH = 'Bearer '.length;
const NO_STORE = ['Cache-Control', 'no-store'];

export async function addAdmin(port: Port, parts: AdminParts): Promise<void> {
  async function answer({ handle }: Endpoint, call: Call, segment: string, body: unknown) {
    const { req, head, target } = call;
    const who = operatorOf(req.rawHeaders);
    if (!who.ok) return refuse('validation_error', who.problem);
    const via = clientAddress(req.socket.remoteAddress ?? '', head.forwardedFor, parts.isTrustedProxy);
    return handle({ segment, query: target.query, body, actor: { who: who.value, via } });
  }

  port.guard(doorOf(parts));
  await port.app.register(async (app: FastifyInstance) => {
    takeOnlyJson(app);
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const refusal = bodyRefusal(error);
      if (!refusal) throw error;
      reply.hijack();
      sendRefusal(port.callOf(request.raw), refusal);
    });
    for (const endpoint of parts.endpoints) {
      app.route<{ Params: { name?: string } }>({
        method: endpoint.method,
        url: endpoint.path,
        handler: async (request, reply) => {
          const call = port.callOf(request.raw);
          const result = await answer(endpoint, call, request.params.name ?? '', request.body);
          reply.hijack();
          sendResult(call, result);
        },
      });
    }
  });
}

/** Whoever does not have the token costs a comparison: no store, no body, no line in the log. */
function doorOf({ endpoints, isAdminToken }: AdminParts): Guarded {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const shapes = [...byPath].map(([path, list]) => {
    const methods = list.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    return { segments: path.split('/'), methods };
  });
  return {
    name: 'admin',
    methodsAt(path) {
      if (!path.startsWith('/admin/')) return undefined;
      const sent = path.split('/');
      return shapes.find(({ segments }) => fits(segments, sent))?.methods;
    },
    refusalOf({ head }) {
      const sent = head.authorization ?? '';
      const isBearer = SCHEME.test(sent.slice(0, SCHEME_LENGTH));
      return isBearer && isAdminToken(sent.slice(SCHEME_LENGTH))
        ? undefined
        : refuse('unauthorized', 'here the key is the ADMIN_TOKEN of the service');
    },
  };
}

function fits(shape: readonly string[], sent: readonly string[]): boolean {
  if (shape.length !== sent.length) return false;
  return shape.every((part, at) => (part.startsWith(':') ? sent[at] !== '' : sent[at] === part));
}

/** `X-Operator`: a name for the audit, in UTF-8, which Node gives as one character for each byte. */
function operatorOf(rawHeaders: readonly string[]): Checked<string> {
  const sent = rawHeaders.filter((_, at) => at % 2 === 1 && /^x-operator$/i.test(rawHeaders[at - 1]!));
  const [value, ...more] = sent;
  if (value === undefined) return { ok: true, value: 'operator' };
  if (more.length > 0) return { ok: false, problem: 'X-Operator must be sent once' };
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const label = parseLabel(text, MOST_OPERATOR);
  return label.ok ? label : { ok: false, problem: `X-Operator ${label.problem}` };
}

function takeOnlyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string', bodyLimit: MOST_BODY },
    (request, text, done) => (text === '' ? done(null, undefined) : parse(request, text, done)),
  );
}

/** What the framework says of a body; undefined for a failure of ours. */
function bodyRefusal({ statusCode = 500 }: FastifyError): Refusal | undefined {
  if (statusCode === 413) return refuse('content_too_large', `at most ${MOST_BODY} bytes`);
  if (statusCode === 415) return refuse('unsupported_media_type');
  return statusCode < 500 ? refuse('validation_error', 'the body is not valid JSON') : undefined;
}

function sendResult(call: Call, result: Done | Refusal): void {
  if ('refused' in result) return sendRefusal(call, result);
  if (result.body === undefined) return sendEmpty(call, result.status, NO_STORE);
  sendJson(call, result.status, JSON.stringify(result.body), NO_STORE);
}
