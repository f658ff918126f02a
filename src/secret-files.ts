/** Secrets that may also be in a file, since others can see the environment of a process. */

import { digestOf } from './core/key.ts';
import { parseSecretFile } from './setting-values.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const IN_FILES = {
  ADMIN_TOKEN: 'ADMIN_TOKEN_FILE',
  DATABASE_URL: 'DATABASE_URL_FILE',
  ALERT_WEBHOOK_SECRET: 'ALERT_WEBHOOK_SECRET_FILE',
} as const;

/** Digests of what those files hold, by the names of their settings: to see which of them changed. */
export function secretDigests(env: Environment): ReadonlyMap<string, string> {
  const held = Object.values(IN_FILES).map(name => [name, parseSecretFile(env[name] ?? '')] as const);
  return new Map(held.flatMap(([name, it]) => (it.ok && it.value ? [[name, digestOf(it.value)]] : [])));
}

/** With what those files hold; one that cannot be read is told of where its own setting is read. */
export function withSecrets(env: Environment, problems: string[]): Environment {
  const found: Record<string, string> = {};
  for (const [name, inFile] of Object.entries(IN_FILES)) {
    const held = parseSecretFile(env[inFile] ?? '');
    if (!held.ok || held.value === undefined) continue;
    if (env[name]) problems.push(`${inFile}: must not be set beside ${name}`);
    else if (held.value === '') problems.push(`${inFile}: must name a file that is not empty`);
    else found[name] = held.value;
  }
  return { ...env, ...found };
}
