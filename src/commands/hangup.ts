/** SIGHUP of a server: the end where a terminal was closed, a reload elsewhere (daemons, nohup). */

import type { Logger } from 'pino';
import { ConfigRefused } from '../config.ts';
import type { Reloading } from '../reload.ts';
import { secretDigests } from '../secret-files.ts';
import { type Environment, heldSettings, type SettingsFile, settingsAgain } from '../setting-sources.ts';
import { SETTINGS } from '../settings.ts';

/** Under nohup none of them is a terminal. Whether SIGHUP was ignored cannot be asked: Node resets that when it starts. */
export function hasTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(stream => stream.isTTY);
}

type Tell = (env: Environment) => void;

/**
 * `reload` throws ConfigRefused where the settings cannot be used: all stays as it was. Who is to be told on is named to
 * what is returned, and is told what came before: a token that was reloaded during a start counted in no worker.
 */
export function reloadOnHangup(log: Logger, reloading: Omit<Reloading, 'config'>): (tellOn: Tell) => void {
  let taken: Taken = { file: heldSettings(), secrets: secretDigests(process.env) };
  let latest: Environment | undefined;
  let tell: Tell = () => {};
  const reload: Tell = env => {
    reloading.reload(env);
    latest = env;
    tell(env);
  };
  process.on('SIGHUP', () => {
    try {
      taken = takeOver(taken, log, { ...reloading, reload });
    } catch (error) {
      if (!(error instanceof ConfigRefused) && !('syscall' in (error as Error))) throw error;
      log.error({ err: error }, 'the settings could not be reloaded: all stays as it was');
    }
  });
  return tellOn => {
    tell = tellOn;
    if (latest) tell(latest);
  };
}

/** What was in the files when they were last read. */
interface Taken {
  readonly file: SettingsFile | undefined;
  readonly secrets: ReadonlyMap<string, string>;
}

function takeOver(before: Taken, log: Logger, { reloaded, reload }: Omit<Reloading, 'config'>): Taken {
  const { env, file } = settingsAgain(process.env, before.file);
  const secrets = secretDigests(env);
  const changed = Object.keys(SETTINGS).filter(
    name => env[name] !== process.env[name] || secrets.get(name) !== before.secrets.get(name),
  );
  reload(env);
  const waiting = changed.filter(name => !reloaded.includes(name));
  // Threads that start later begin with these; what needs a restart stays as it is for them too.
  for (const name of changed.filter(one => reloaded.includes(one))) {
    if (env[name] === undefined) delete process.env[name];
    else process.env[name] = env[name];
  }
  log.info({ changed }, 'settings reloaded');
  if (waiting.length > 0) log.warn({ settings: waiting }, 'these settings count from the next start on');
  return { file, secrets };
}
