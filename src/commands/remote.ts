/** `domain-risk lookup --url`: asks a running service, through the same client that callers use. */

import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../client/src/index.ts';
import type { Domain } from '../core/domain.ts';
import type { LookUp } from './names.ts';
import { patiently } from './patience.ts';
import { CommandFailed, printFields, printJson, printTable, UsageProblem } from './print.ts';

const STDIN = 0;

interface Options {
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly keyFile?: string;
}

export async function askService(domain: Domain, url: string, options: Options): Promise<void> {
  const apiKey = readKey(options.keyFile);
  const client = createClient({ baseUrl: url, apiKey, onProblem: () => {}, fetch: namingCauses });
  const result = await client.lookup(domain, { explain: options.explain ?? false });
  if (!result.ok) throw new CommandFailed(`${url}: ${result.message}`);
  const { data, quota, degraded } = result;
  if (options.json) return printJson(data);
  const { evidence, ...fields } = data;
  printFields({
    ...fields,
    ...(degraded ? { degraded: 'DNS gave no answer: judged by name and lists alone' } : {}),
    ...(quota ? { quota: `${quota.remaining} of ${quota.limit} left this month` } : {}),
  });
  if (!evidence) return;
  process.stdout.write('\n');
  printTable(
    ['SIGNAL', 'POINTS', 'DETAIL'],
    evidence.signals.map(({ signal, points, detail }) => [signal, points, detail]),
  );
}

/** All names of a call have one budget for DNS on the other side; the rest is for a slow way there. */
const MANY_MS = 15_000;

/** `stop` ends it with what was answered so far. */
export function askServiceForMany(url: string, keyFile: string | undefined, stop: AbortSignal): LookUp {
  const client = createClient({
    ...{ baseUrl: url, apiKey: readKey(keyFile), onProblem: () => {}, fetch: namingCauses },
    // Who asks for so many waits, and counts failures, by rules of its own.
    ...{ timeout: MANY_MS, breaker: false },
  });
  return patiently({
    ask: names => client.domains(names, { signal: stop }),
    // What ends it ends the next call too.
    pause: seconds => setTimeout(seconds * 1_000, undefined, { signal: stop }).catch(() => {}),
  });
}

/** Some causes have no code but only a message, such as a port that fetch refuses to connect to ("bad port"). */
const namingCauses: typeof fetch = (...asked) =>
  fetch(...asked).catch(error => {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    throw cause ? Object.assign(error, { code: cause.code ?? cause.message }) : error;
  });

/** Never from the command line itself, where every user of the machine could read it. */
function readKey(file: string | undefined): string {
  if (file === undefined)
    throw new UsageProblem('--url needs --key-file: a file that holds the API key, or "-"');
  try {
    return readFileSync(file === '-' ? STDIN : file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed(`cannot read the key file ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}
