/** Secrets that may also be in a file, since others can see the environment of a process. */

import { parseSecretFile } from './setting-values.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const IN_FILES = {
  ADMIN_TOKEN: 'ADMIN_TOKEN_FILE',
  DATABASE_URL: 'DATABASE_URL_FILE',
  ALERT_WEBHOOK_SECRET: 'ALERT_WEBHOOK_SECRET_FILE',
} as const;

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
