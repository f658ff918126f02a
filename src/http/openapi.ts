/** The OpenAPI document, made of the same routes and schemas that the port answers with. */

import type { Type } from 'typebox';
import type { Refusal } from '../core/refusal.ts';
import { goodHeaders, HEADERS, refusalHeaders } from './answer-headers.ts';
import { ANSWERS, BODIES, REQUEST_ID, USED_UP } from './examples.ts';
import { METHOD_REFUSAL, refusalsOf, SAID, TRANSPORT_REFUSALS } from './refusal-examples.ts';
import { createRouter } from './router.ts';
import type { Reference, Refused, Route } from './routes.ts';
import { ErrorSchema, ProblemSchema } from './schemas.ts';
import { errorJson } from './wire.ts';

const DESCRIPTION = `domain-risk scores an email domain from 0 to 100 and shows the evidence behind every point.

Send your API key as \`Authorization: Bearer <API_KEY>\`. Give every call a timeout. On 429, 5xx or a timeout, let the sign-up through.

Every error has the same shape; with \`Accept: application/problem+json\` it is a problem of RFC 9457. Every GET answers HEAD too.`;

const TAGS = [
  { name: 'callers', description: 'For your applications, with an API key.' },
  {
    name: 'operators',
    description:
      'For whoever runs the service, with the admin token. Enabled only when `ADMIN_TOKEN` is set; otherwise every path here is 404.',
  },
];

const SECURITY_SCHEMES = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `drk_…`' },
  adminToken: { type: 'http', scheme: 'bearer', description: 'The `ADMIN_TOKEN` of the service.' },
};

/** What a status means; callers are also told to go on where it is not theirs to fix. */
const MEANINGS: Readonly<Record<Refused | 405, string>> = {
  401: 'The key or token is missing or invalid. Fix it.',
  403: 'The key may not be used from this origin or network. This stops web pages; a program can send any origin, so limit its key by network.',
  404: 'Not found.',
  405: 'The path takes other methods; `Allow` names them.',
  410: 'No longer available. Start again as `detail` says.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  422: 'A value is not valid; `detail` names the rule. Fix the input.',
  429: 'The quota is used up, or there are too many calls per second.',
  500: 'Internal error; `request_id` finds it in the logs.',
  503: 'Overloaded. Nothing was counted or changed.',
};
const isNotTheirs = (status: number) => status === 429 || status >= 500;

const titleOf = (schema: Type.TSchema) => (schema as { title?: string }).title!;
const refTo = (schema: Type.TSchema) => ({ $ref: `#/components/schemas/${titleOf(schema)}` });

/** Both shapes of each refusal, written by the function that answers with it. */
function errorContent(refusals: readonly Refusal[]) {
  const examples = (asProblem: boolean) =>
    Object.fromEntries(
      refusals.map(refusal => {
        const { refused } = refusal;
        const allowance = refused === 'quota_exceeded' ? USED_UP : undefined;
        const value = JSON.parse(errorJson(refusal, REQUEST_ID, asProblem, allowance));
        return [refused, { summary: SAID[refused] ?? value.message, value }];
      }),
    );
  return {
    'application/json': { schema: refTo(ErrorSchema), examples: examples(false) },
    'application/problem+json': { schema: refTo(ProblemSchema), examples: examples(true) },
  };
}

function goodResponse({ answer }: Route, reference: Reference) {
  const headers = goodHeaders(reference);
  if (answer === undefined) return { description: 'Success.', headers };
  if (typeof answer === 'string') return { description: 'Success.', headers, content: { [answer]: {} } };
  const examples = Object.fromEntries(ANSWERS[reference.id].map((one, at) => [`example${at + 1}`, one]));
  return {
    description: reference.status === 201 ? 'Created.' : 'Success.',
    headers,
    content: { 'application/json': { schema: refTo(answer), examples } },
  };
}

/** Those that are the same for everybody at one door: told once, so that the document stays small. */
const SHARED: readonly Refused[] = [401, 403, 413, 415, 429, 500, 503];
type Shared = Record<string, unknown>;

function responsesOf(route: Route, reference: Reference, allow: string, shared: Shared) {
  const responses: Record<string, unknown> = { [reference.status ?? 200]: goodResponse(route, reference) };
  if (reference.hasTag) {
    responses[304] = { description: 'Unchanged. Counted.', headers: goodHeaders(reference, true) };
  }
  const put = (status: Refused | 'default', response: object) => {
    const name = `${route.door === 'operator' ? 'Operators' : 'Callers'}${status}`;
    shared[name] = response;
    responses[status] = { $ref: `#/components/responses/${name}` };
  };
  const refused = (status: Refused | 405, refusals: readonly Refusal[]) => {
    const todo = route.door === 'key' && isNotTheirs(status) ? ' Let the sign-up through.' : '';
    return {
      description: MEANINGS[status] + todo,
      headers: refusalHeaders(reference, status, refusals[0]!, allow),
      content: errorContent(refusals),
    };
  };
  for (const status of reference.refusals) {
    const response = refused(status, refusalsOf(route, reference.id, status));
    if (SHARED.includes(status)) put(status, response);
    else responses[status] = response;
  }
  responses[405] = refused(405, [METHOD_REFUSAL]);
  put('default', {
    description: 'Any other error, such as 400, 414 or 431.',
    headers: refusalHeaders({ isCounted: false }, 400, TRANSPORT_REFUSALS[0]!, allow),
    content: errorContent(TRANSPORT_REFUSALS),
  });
  return responses;
}

function requestBodyOf({ body }: Route, { id }: Reference) {
  if (!body || Object.keys(body.properties).length === 0) return {};
  const examples = { example1: { summary: 'An example', value: BODIES[id] } };
  const content = { 'application/json': { schema: refTo(body), examples } };
  return { requestBody: { required: (body.required ?? []).length > 0, content } };
}

function operationOf(route: Route, reference: Reference, allow: string, shared: Shared) {
  const { id, summary, description, parameters, isCounted } = reference;
  const isOperators = route.door === 'operator';
  const counting = isCounted ? 'Counts against the monthly quota.' : 'Does not count against the quota.';
  return {
    operationId: id,
    tags: [isOperators ? 'operators' : 'callers'],
    summary,
    description: isOperators ? description : `${description} ${counting}`,
    security: [isOperators ? { adminToken: [] } : { apiKey: [] }],
    parameters,
    ...requestBodyOf(route, reference),
    responses: responsesOf(route, reference, allow, shared),
  };
}

export function openapiOf(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, Type.TSchema> = {};
  const responses: Shared = {};
  const find = createRouter(routes);
  for (const schema of [ErrorSchema, ProblemSchema]) schemas[titleOf(schema)] = schema;
  for (const route of routes) {
    const { method, path, reference, answer, body } = route;
    if (!reference) continue;
    if (typeof answer === 'object') schemas[titleOf(answer)] = answer;
    const operation = operationOf(route, reference, find(path)!.resource.allow, responses);
    if (body && 'requestBody' in operation) schemas[titleOf(body)] = body;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'domain-risk',
      version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    security: [{ apiKey: [] }],
    paths,
    components: { schemas, responses, headers: HEADERS, securitySchemes: SECURITY_SCHEMES },
  };
}
