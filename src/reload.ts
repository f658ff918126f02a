/** What a running server takes over of changed settings (SIGHUP): the level of its log, and the operators' token. */

import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import type { Environment } from './setting-sources.ts';

/** All others need a restart: what was made of them lives as long as the process. */
export const RELOADED: readonly string[] = ['LOG_LEVEL', 'ADMIN_TOKEN', 'ADMIN_TOKEN_FILE'];

export interface Reloading {
  /** To start with: what may change in it is looked up whenever it is needed. */
  readonly config: Config;
  /** Throws ConfigRefused, and leaves everything as it was. */
  reload(env: Environment): void;
}

export function reloading(first: Config, log: Pick<Logger, 'level'>): Reloading {
  let { isAdminToken } = first;
  return {
    // Whether there is a side for operators is decided at the start: its routes are there or not.
    config: { ...first, isAdminToken: isAdminToken && (sent => isAdminToken?.(sent) === true) },
    reload(env) {
      const next = readConfig(env);
      log.level = next.logLevel;
      isAdminToken = next.isAdminToken;
    },
  };
}
