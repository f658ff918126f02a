/** Calls to copy: with curl, with fetch and with our client. */

import type { Operation } from './shown.ts';

export interface Visitor {
  readonly base: string;
  /** As it is to be shown or copied; empty: the sample takes it from the environment. */
  readonly secret: string;
}

type Write = (operation: Operation, visitor: Visitor) => string;

/** `$API_KEY` or `$ADMIN_TOKEN`: what operators do has a token of its own. */
const variableOf = ({ path }: Operation) => (path.startsWith('/admin/') ? 'ADMIN_TOKEN' : 'API_KEY');

/** A token may hold any sign that is printed. */
const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

const curl: Write = (operation, { base, secret }) => {
  const { method, target, body } = operation;
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${base}${target}"`,
    secret
      ? `-H ${shellQuoted(`Authorization: Bearer ${secret}`)}`
      : `-H "Authorization: Bearer $${variableOf(operation)}"`,
    ...(body
      ? ['-H "Content-Type: application/json"', `-d ${shellQuoted(JSON.stringify(body.example))}`]
      : []),
  ].join(' \\\n  ');
};

const fetched: Write = (operation, { base, secret }) => {
  const { method, target, body } = operation;
  const isCallers = variableOf(operation) === 'API_KEY';
  const bearer = secret ? quoted(`Bearer ${secret}`) : `\`Bearer \${process.env.${variableOf(operation)}}\``;
  const type = body ? ", 'content-type': 'application/json'" : '';
  const lines = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { authorization: ${bearer}${type} },`,
    ...(body ? [`  body: JSON.stringify(${indented(body.example)}),`] : []),
    ...(isCallers ? ['  signal: AbortSignal.timeout(2500),'] : []),
  ];
  const call = `await fetch('${base}${target}', {\n${lines.join('\n')}\n})`;
  // Callers go on without an answer.
  if (isCallers) {
    return `const response = ${call}.catch(() => undefined);\n// On 429, 5xx or a timeout, let the sign-up through.\nconst answer = response?.ok ? await response.json() : undefined;`;
  }
  // Only that has nothing to say.
  const rest = method === 'DELETE' ? '' : '\nconst answer = await response.json();';
  return `const response = ${call};${rest}`;
};

const indented = (value: object) => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');

/** What the client calls each operation. */
const METHODS: Readonly<Record<string, string>> = {
  getDomain: "lookup('gmail.com')",
  listTopDomains: 'topDomains()',
  getUsage: 'usage()',
};

const used = (call: string | undefined) =>
  `const result = await risk.${call};\nif (result.ok) console.log(result.data);`;
/** Where one answer is not all. */
const USES: Readonly<Record<string, string>> = {
  listChanges: 'for await (const result of risk.changes()) if (result.ok) console.log(result.data.changes);',
};

const client: Write = ({ id }, { base, secret }) => `// npm install @domain-risk/client
import { createClient } from '@domain-risk/client';

const risk = createClient({
  baseUrl: '${base}',
  apiKey: ${secret ? quoted(secret) : 'process.env.API_KEY'},
});

// Never throws and always returns within its timeout.
${USES[id] ?? used(METHODS[id])}`;

export function samplesOf(operation: Operation): Readonly<Record<string, Write>> {
  return operation.id in METHODS ? { curl, fetch: fetched, client } : { curl, fetch: fetched };
}
