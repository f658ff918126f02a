/** The resolver of a machine that is to ask nobody. */

import { MAIL_UNKNOWN } from '../core/mail.ts';
import type { Resolver } from '../core/ports.ts';

/** Asks nobody: what lists and tables know must do. */
export const OFFLINE: Resolver = {
  peek: () => undefined,
  last: () => undefined,
  resolve: async () => MAIL_UNKNOWN,
  isSilent: () => false,
  prefetch: () => {},
  addressesOf: async () => undefined,
  isDoubted: () => false,
  health: () => ({
    servers: [],
    degraded: false,
    inFlight: 0,
    slow: 0,
    waiting: 0,
    cached: 0,
  }),
  close: async () => {},
};
