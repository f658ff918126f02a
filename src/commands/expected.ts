/** Problems whose message is all that an operator needs; anything else is our fault and shows its stack. */

import { ConfigRefused } from '../config.ts';
import { FeedError } from '../core/feed.ts';
import { StoreUnavailable } from '../core/ports.ts';
import { TableError } from '../core/tables.ts';
import { StoreRefused } from '../store/refused.ts';
import { CommandFailed } from './print.ts';

const EXPECTED = [CommandFailed, ConfigRefused, FeedError, TableError, StoreRefused, StoreUnavailable];

export const isExpected = (error: unknown): boolean => EXPECTED.some(kind => error instanceof kind);
