/** The door to the operators' calls: closed, being tried, open, or why it is not open. */

import type { Failure } from './api.ts';
import { type Shared, share } from './shared.ts';

export type Door = 'closed' | 'waiting' | 'open' | Failure;
export const door: Shared<Door> = share<Door>('closed');
