/** What a running server takes over of changed settings (SIGHUP): the level of its log, and the operators' token. */

import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import type { Environment } from './setting-sources.ts';

const OF_OPERATORS = ['ADMIN_TOKEN', 'ADMIN_TOKEN_FILE'];

export interface Reloading {
  /** To start with: what may change in it is looked up whenever it is needed. */
  readonly config: Config;
  /** Names of settings. All others need a restart: what was made of them lives as long as the process. */
  readonly reloaded: readonly string[];
  /** Throws ConfigRefused, and leaves everything as it was. */
  reload(env: Environment): void;
}

/** Whether there is a side for operators is decided when the process starts: its routes are there or not. */
export function reloadingFrom(
  first: Config,
  log: Pick<Logger, 'level'>,
  hasOperators = first.isAdminToken !== undefined,
): Reloading {
  let { isAdminToken } = first;
  return {
    config: { ...first, isAdminToken: hasOperators ? sent => isAdminToken?.(sent) === true : undefined },
    reloaded: ['LOG_LEVEL', ...(hasOperators ? OF_OPERATORS : [])],
    reload(env) {
      const next = readConfig(env);
      log.level = next.logLevel;
      isAdminToken = next.isAdminToken;
    },
  };
}
