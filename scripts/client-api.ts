/** The client's reference, `client/API.md`: every exported name with its declaration, from the compiled types. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEAD = `# @domain-risk/client: reference

Generated from the types by \`npm run build:client\`. How to use them: [README.md](README.md).
`;

/** In the order in which a reader meets them. */
const NAMES = [
  [
    'client',
    [
      ...['createClient', 'Client', 'LookupOptions', 'RiskOptions', 'DomainsOptions', 'TopOptions'],
      ...['ChangesOptions', 'UsageOptions', 'CallOptions'],
    ],
  ],
  ['options', ['ClientOptions', 'Call']],
  ['filter', ['createFilter', 'Filter', 'FilterOptions']],
  ['result', ['Result', 'Answer', 'Failure', 'Cause', 'Quota']],
  ['wire', ['DomainRisk', 'DomainRisks', 'EmailCheck', 'TopDomains', 'Changes', 'Usage']],
  ['domain', ['domainOf']],
] as const;

export function clientApi(types: string): string {
  const parts = NAMES.flatMap(([file, names]) => {
    const text = readFileSync(join(types, `${file}.d.ts`), 'utf8');
    return names.map(name => `\n## ${name}\n\n\`\`\`ts\n${declarationOf(name, text)}\n\`\`\`\n`);
  });
  return HEAD + parts.join('');
}

/** A declaration with the comment above it; it ends where a line without indentation does. */
function declarationOf(name: string, text: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex(line =>
    new RegExp(`^export .*\\b(interface|type|function) ${name}\\b`).test(line),
  );
  if (at < 0) throw new Error(`client-api: ${name} is not exported`);
  let first = at;
  if (lines[at - 1]?.endsWith('*/')) while (!lines[first]!.startsWith('/**')) first--;
  let last = at;
  while (!/^\S.*[;}]$|^[;}]/.test(lines[last]!)) last++;
  return lines.slice(first, last + 1).join('\n');
}
