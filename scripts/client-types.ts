/** Writes the client's types and checks, `client/src/wire.ts`, from the schemas that the service answers by. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainSchema, TopDomainsSchema, UsageSchema } from '../src/http/schemas.ts';

/** The part of JSON Schema that the wire uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const WIRE = join(import.meta.dirname, '../client/src/wire.ts');
/** What callers get, by its name in the OpenAPI document. */
const ANSWERS = { DomainRisk: DomainSchema, TopDomains: TopDomainsSchema, Usage: UsageSchema };

const HEAD = `/** What the service sends. Generated from its schemas by scripts/client-types.ts: do not edit. */
// biome-ignore-all format: generated

import { array, boolean, type Check, either, integer, literal, nothing, object, optional, string } from './shape.ts';
`;

/** Takes schemas as JSON, so that those of an OpenAPI document do as well. */
export function clientTypes(schemas: Readonly<Record<string, unknown>> = ANSWERS): string {
  const parts = Object.keys(ANSWERS).map(name => {
    const schema = JSON.parse(JSON.stringify(schemas[name])) as Schema;
    return `
export interface ${name} ${typeOf(schema, '')}

export const is${name}: Check = /* @__PURE__ */ ${checkOf(schema, '')};
`;
  });
  return HEAD + parts.join('');
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.anyOf) return schema.anyOf.map(one => typeOf(one, indent)).join(' | ');
  if (schema.const !== undefined) return `'${schema.const}'`;
  if (schema.type === 'array') {
    const item = typeOf(schema.items!, indent);
    return `readonly ${schema.items!.anyOf ? `(${item})` : item}[]`;
  }
  if (schema.type === 'integer') return 'number';
  if (schema.type !== 'object') return known(schema);
  const members = Object.entries(schema.properties!).map(([name, member]) => {
    const description = describe(member);
    const comment = description === undefined ? '' : `${indent}  /** ${description} */\n`;
    const mark = isRequired(schema, name) ? '' : '?';
    return `${comment}${indent}  readonly ${name}${mark}: ${typeOf(member, `${indent}  `)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function checkOf(schema: Schema, indent: string): string {
  if (schema.anyOf) return `either(${schema.anyOf.map(one => checkOf(one, indent)).join(', ')})`;
  if (schema.const !== undefined) return `literal('${schema.const}')`;
  if (schema.type === 'array') return `array(${checkOf(schema.items!, indent)})`;
  if (schema.type === 'integer') {
    const bounds = [schema.minimum, schema.maximum].filter(bound => bound !== undefined);
    return `integer(${bounds.join(', ')})`;
  }
  if (schema.type === 'null') return 'nothing';
  if (schema.type !== 'object') return known(schema);
  const members = Object.entries(schema.properties!).map(([name, member]) => {
    const check = checkOf(member, `${indent}  `);
    return `${indent}  ${name}: ${isRequired(schema, name) ? check : `optional(${check})`},\n`;
  });
  return `object({\n${members.join('')}${indent}})`;
}

function known({ type }: Schema): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  throw new Error(`client-types: no rule for a schema of type ${type}; add one`);
}

function describe({ description, anyOf }: Schema): string | undefined {
  return description ?? anyOf?.find(one => one.description !== undefined)?.description;
}

function isRequired(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) ?? false;
}

if (import.meta.main) writeFileSync(WIRE, clientTypes());
