/** How a server is told to end, at any moment of its life: by a signal, or by the end of the launcher that started it. */

import type { Logger } from 'pino';

const SAME_SIGNAL_MS = 1_000;

/** A start that takes longer is given up, so that it is gone within ten seconds too. */
const START_MS = 8_000;

const LAUNCHER_MS = 1_000;

interface Closing {
  close(): Promise<unknown>;
}

export interface Ending {
  /** Whether it was told to end before it could: what is not begun yet need not be. */
  isAsked(): boolean;
  /** From here on it ends by closing this, at once where it was asked before. */
  serve(service: Closing): void;
}

/** Half a start leaves a sign of life, or a first key that nobody has seen: it comes to its end first, then all is closed. */
export function awaitEnd(signals: readonly NodeJS.Signals[], log: Logger): Ending {
  let service: Closing | undefined;
  let askedAt: number | undefined;
  let late: NodeJS.Timeout | undefined;

  function close(serving: Closing): void {
    clearTimeout(late);
    serving.close().then(
      () => process.exit(0),
      error => {
        log.fatal({ err: error }, 'could not shut down cleanly');
        process.exit(1);
      },
    );
  }

  function giveUp(): void {
    log.fatal('told to stop while it started, and the start did not finish: stopped in the middle');
    process.exit(1);
  }

  function end(signal: string): void {
    // One Ctrl-C arrives several times: from the terminal, from npm and from the script that started us.
    if (askedAt !== undefined && performance.now() - askedAt < SAME_SIGNAL_MS) return;
    if (askedAt !== undefined) process.exit(1);
    askedAt = performance.now();
    log.info({ signal }, 'shutting down');
    if (service) close(service);
    else late = setTimeout(giveUp, START_MS).unref();
  }

  for (const signal of signals) process.on(signal, () => end(signal));
  whenLauncherIsGone(() => end('none: the launcher is gone'));

  return {
    isAsked: () => askedAt !== undefined,
    serve(serving) {
      service = serving;
      if (askedAt !== undefined) close(serving);
    },
  };
}

/** One that was killed passes no signal on: its server would keep the port, and nobody would know it. */
function whenLauncherIsGone(end: () => void): void {
  const launcher = Number(process.env.DOMAIN_RISK_LAUNCHER);
  // Also where somebody else has inherited the name.
  if (process.ppid !== launcher) return;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    end();
  }, LAUNCHER_MS).unref();
}
