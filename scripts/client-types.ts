/** Writes the types and checks of answers from the table of routes: for the client, and for the console's operators. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '../src/http/routes.ts';
import { referenceRoutes } from './reference.ts';

/** The part of JSON Schema that the wire uses. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Target {
  readonly file: string;
  /** Whose answers. */
  readonly door: Route['door'];
  /** Where the checks come from that these are made of. */
  readonly shapes: string;
}

const ROOT = join(import.meta.dirname, '..');
export const CLIENT: Target = { file: join(ROOT, 'client/src/wire.ts'), door: 'key', shapes: './shape.ts' };
export const CONSOLE: Target = {
  file: join(ROOT, 'console/src/wire.ts'),
  door: 'operator',
  shapes: '../../client/src/shape.ts',
};

/** By their names in the OpenAPI document. */
function answersOf(door: Route['door']): Record<string, unknown> {
  const answers = referenceRoutes()
    .filter(route => route.door === door)
    .flatMap(({ answer }) => (typeof answer === 'object' ? [answer] : []));
  return Object.fromEntries(answers.map(answer => [(answer as { title?: string }).title!, answer]));
}

const CHECKS = [
  ...['array', 'boolean', 'type Check', 'either', 'integer', 'literal', 'nothing', 'number', 'object'],
  ...['optional', 'string'],
];

/** Takes schemas as JSON, so that those of an OpenAPI document do as well. */
export function wireTypes({ door, shapes }: Target, schemas?: Readonly<Record<string, unknown>>): string {
  const answers = answersOf(door);
  const parts = Object.keys(answers).map(name => {
    const schema = JSON.parse(JSON.stringify((schemas ?? answers)[name])) as Schema;
    return `
export interface ${name} ${typeOf(schema, '')}

export const is${name}: Check = /* @__PURE__ */ ${checkOf(schema, '')};
`;
  });
  const text = parts.join('');
  const checks = CHECKS.filter(
    check => check === 'type Check' || new RegExp(`\\b${check}[(),\n]`).test(text),
  );
  return `/** What the service sends. Generated from its schemas by scripts/client-types.ts: do not edit. */
// biome-ignore-all format: generated

import { ${checks.join(', ')} } from '${shapes}';
${text}`;
}

function typeOf(schema: Schema, indent: string): string {
  const parts = partsOf(schema);
  if (parts) return parts.map(part => typeOf(part, indent)).join(' | ');
  if (schema.enum) return schema.enum.map(word => `'${word}'`).join(' | ');
  if (schema.type === 'array') {
    const item = typeOf(schema.items!, indent);
    return `readonly ${item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item}[]`;
  }
  if (schema.type === 'integer') return 'number';
  if (schema.type !== 'object') return known(schema);
  const members = Object.entries(schema.properties!).map(([name, member]) => {
    const comment = member.description === undefined ? '' : `${indent}  /** ${member.description} */\n`;
    const mark = isRequired(schema, name) ? '' : '?';
    return `${comment}${indent}  readonly ${name}${mark}: ${typeOf(member, `${indent}  `)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function checkOf(schema: Schema, indent: string): string {
  const parts = partsOf(schema);
  if (parts) return `either(${parts.map(part => checkOf(part, indent)).join(', ')})`;
  if (schema.enum) return `either(${schema.enum.map(word => `literal('${word}')`).join(', ')})`;
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
  if (type === 'string' || type === 'boolean' || type === 'null' || type === 'number') return type;
  throw new Error(`client-types: no rule for a schema of type ${type}; add one`);
}

/** A schema of several types, one by one. */
function partsOf(schema: Schema): Schema[] | undefined {
  return Array.isArray(schema.type) ? schema.type.map(type => ({ ...schema, type })) : undefined;
}

function isRequired(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) ?? false;
}

if (import.meta.main) {
  for (const target of [CLIENT, CONSOLE]) writeFileSync(target.file, wireTypes(target));
}
