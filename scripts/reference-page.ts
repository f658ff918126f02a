/** Takes what the reference page shows out of the OpenAPI document: references followed, types put into words. */

import type { Answer, Member, Operation, Section, ShownReference } from '../console/src/reference/shown.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}
interface Content {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}
interface Header {
  readonly $ref?: string;
  readonly description?: string;
  readonly example?: string | number;
}
interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, Content>>;
}
interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
}
export interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

const JSON_TYPE = 'application/json';

export function shownReference({ info, tags, paths, components }: Document): ShownReference {
  /** What stands there, or what it refers to. */
  const found = <T extends { readonly $ref?: string }>(one: T, all: Readonly<Record<string, T>>): T =>
    one.$ref ? all[one.$ref.split('/').at(-1)!]! : one;
  const schemaOf = (schema: Schema) => found(schema, components.schemas);

  function answerOf([status, response]: [string, Response]): Answer {
    const { description, headers, content } = found(response, components.responses);
    const json = content?.[JSON_TYPE];
    const values = Object.entries(headers).map(([name, header]) => {
      const { example } = found(header, components.headers);
      return [name, `${example}`] as const;
    });
    return {
      status: status === 'default' ? 'other' : status,
      description,
      headers: values,
      samples: Object.values(json?.examples ?? {}),
      ...(json && status.startsWith('2') ? { fields: membersOf(schemaOf(json.schema)) } : {}),
    };
  }

  const answers: Answer[] = [];
  const places = new Map<string, number>();
  function placeOf(answer: Answer): number {
    const text = JSON.stringify(answer);
    const place = places.get(text) ?? answers.push(answer) - 1;
    places.set(text, place);
    return place;
  }

  function operationOf(path: string, method: string, described: Described): Operation {
    const { operationId, summary, description, parameters, requestBody, responses } = described;
    const body = requestBody?.content[JSON_TYPE];
    // The names in the path are examples of their parameters.
    const target = path.replace(/\{(\w+)\}/, (_, name) => {
      return parameters.find(one => one.name === name)!.schema.examples![0]!;
    });
    return {
      ...{ id: operationId, method: method.toUpperCase(), path, target, summary, description },
      parameters: parameters.map(({ name, in: place, required, description, schema }) => {
        return { name, type: typeWords(schema), note: required ? `${place}, required` : place, description };
      }),
      ...(body
        ? {
            body: {
              members: membersOf(schemaOf(body.schema), 'required'),
              example: Object.values(body.examples)[0]!.value as object,
            },
          }
        : {}),
      answers: Object.entries(responses).map(one => placeOf(answerOf(one))),
    };
  }

  const sections = tags.map(({ name, description }) => {
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => tags.includes(name))
        .map(([method, described]) => operationOf(path, method, described)),
    );
    return { name: name as Section['name'], description, operations };
  });
  const headers = Object.entries(components.headers).map(([name, header]) => [name, header.description!]);
  return {
    version: info.version,
    description: info.description.split('\n\n'),
    sections,
    headers: Object.fromEntries(headers),
    errorFields: membersOf(components.schemas.Error!),
    answers,
  };
}

/** Those of inner objects with their way to them: `evidence.signals[].points`. Noted are the fewer ones. */
function membersOf(
  { properties = {}, required = [] }: Schema,
  noted: 'required' | 'optional' = 'optional',
  before = '',
): Member[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = before + key;
    const note = required.includes(key) === (noted === 'required') ? { note: noted } : {};
    const member = { name, type: typeWords(schema), ...note, description: schema.description ?? '' };
    const isList = schema.type === 'array';
    const inner = isList ? schema.items! : schema;
    return [member, ...membersOf(inner, noted, `${name}${isList ? '[]' : ''}.`)];
  });
}

function typeWords(schema: Schema): string {
  const { type = 'object', enum: words, minimum, maximum } = schema;
  const types = typeof type === 'string' ? [type] : type;
  const said = types.map(one => {
    if (one === 'array') return `array of ${typeWords(schema.items!)}s`;
    return words && one === 'string' ? words.map(word => `\`${word}\``).join(', ') : one;
  });
  const range = minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`;
  const usual = schema.default === undefined ? '' : `, default ${schema.default}`;
  return said.join(' or ') + range + usual;
}
