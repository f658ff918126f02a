/** The OpenAPI document, made of the same routes and schemas that the port answers with. */

import type { Type } from 'typebox';
import type { Route } from './routes.ts';
import { ErrorSchema, ProblemSchema } from './schemas.ts';

const REFUSED: Readonly<Record<number, string>> = {
  401: 'API key missing or invalid: fix the key.',
  403: 'Origin or network not authorised for this key: fix the origin. This stops web pages; a program can send any origin, so limit its key by network.',
  422: 'A value is not valid, `detail` names the rule: fix the input.',
  429: 'Quota used up, or too many calls per second: continue without the check.',
  500: 'Internal server error: continue without the check.',
  503: 'Overloaded, and not counted: continue without the check.',
};

const refTo = (schema: Type.TSchema) => ({ $ref: `#/components/schemas/${titleOf(schema)}` });
const titleOf = (schema: Type.TSchema) => (schema as { title?: string }).title ?? 'Error';
const json = (schema: Type.TSchema) => ({ 'application/json': { schema: refTo(schema) } });
const ERROR = { ...json(ErrorSchema), 'application/problem+json': { schema: refTo(ProblemSchema) } };

export function openapiOf(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, Type.TSchema> = {};
  for (const schema of [ErrorSchema, ProblemSchema]) schemas[titleOf(schema)] = schema;
  for (const { method, path, name, answer, reference } of routes) {
    if (!reference) continue;
    const good = typeof answer === 'object' ? { content: json(answer) } : {};
    if (typeof answer === 'object') schemas[titleOf(answer)] = answer;
    const responses: Record<string, unknown> = {
      [reference.status ?? 200]: { description: 'The answer.', ...good },
    };
    for (const status of reference.refusals) {
      responses[status] = { description: REFUSED[status], content: ERROR };
    }
    if (reference.hasTag) responses[304] = { description: 'What the tag stands for is unchanged. Counted.' };
    responses.default = { description: 'Any other refusal, such as 400, 404, 405 or 414.', content: ERROR };
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        operationId: `${name}_${method.toLowerCase()}_${path.replaceAll(/[^a-z]+/g, '_')}`,
        summary: reference.summary,
        description: `${reference.description} ${reference.isCounted ? 'Counts against the monthly quota.' : 'Not counted.'}`,
        parameters: reference.parameters,
        responses,
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'domain-risk',
      version,
      description:
        'Tells whether an email domain can be trusted. Callers fail open: on 429, 5xx or no answer, continue without the check.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `drk_…`' } },
    },
  };
}
