/** `DATABASE_URL`, and what commands take in its form. */

import { resolve } from 'node:path';
import { bad, type Checked, good } from './core/checked.ts';
import { INSTALLATION } from './installation.ts';

/** Where the store is: a file of ours, or a database that several machines share. */
export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Of a file below `base`, where its path is relative. */
export function parseDatabase(text: string, base = INSTALLATION): Checked<Database> {
  const file = text.startsWith('sqlite:') ? text.slice(7) : '';
  // As a file's name the password in an address would be shown.
  if (file !== '' && !/^[a-z]+:\/\//i.test(file)) return good({ kind: 'sqlite', path: resolve(base, file) });
  if (!/^postgres(ql)?:\/\/./.test(text) || !URL.canParse(text))
    return bad('must be sqlite:<path of a file> or postgres://user:password@host:port/database');
  const problem = tlsProblem(new URL(text).searchParams);
  return problem === undefined ? good({ kind: 'postgres', url: text }) : bad(problem);
}

/** Those of libpq that the driver has too (pg-connection-string 2), and one of its own. */
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'];

/** What the driver does not know it passes over, and connects without TLS. */
function tlsProblem(parameters: URLSearchParams): string | undefined {
  const unknown = [...parameters.keys()].find(name => /^ssl/i.test(name) && !TLS_PARAMETERS.includes(name));
  if (unknown !== undefined)
    return `must not have ${JSON.stringify(unknown)} behind the ?: there are ${TLS_PARAMETERS.join(', ')}`;
  const mode = parameters.getAll('sslmode').find(value => !TLS_MODES.includes(value));
  return mode === undefined ? undefined : `sslmode=${mode} ${unknownTlsMode(mode)}`;
}

/** Undefined where it is known. */
export function unknownTlsMode(mode: string): string | undefined {
  return TLS_MODES.includes(mode) ? undefined : `must be one of ${TLS_MODES.join(', ')}`;
}

/** For people: without user, password and parameters. */
export function shownDatabase(database: Database): string {
  if (database.kind === 'sqlite') return database.path;
  const { host, pathname } = new URL(database.url);
  return `postgres://${host}${pathname}`;
}
