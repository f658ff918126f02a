/** The door to the operators' calls: closed, being tried, open, or why it is not open; and when something was changed there. */

import type { Failure } from './api.ts';
import { adminToken, operatorName } from './session.ts';
import { type Shared, share } from './shared.ts';

export type Door = 'closed' | 'waiting' | 'open' | Failure;
export const door: Shared<Door> = share<Door>('closed');

/** The token is not good any more: it is kept no longer. */
export function shut(why: 'closed' | Failure): void {
  adminToken.set({ text: '', remembered: false });
  operatorName.set({ text: '', remembered: false });
  door.set(why);
}

/** When what the service says of a domain last changed by a word from here: what was answered before may be untrue. */
export const overruled = share(0);
