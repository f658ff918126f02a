/** One sign-in for the session: a key or an operator's token, told apart by shape and tried with a call that counts nothing. */

import { askUsage, type Failure, type Result } from './api.ts';
import { door, shut } from './door.ts';
import { adminToken, apiKey, departures, forgetPerson, looksLikeKey, operatorName } from './session.ts';
import type { Operators } from './wire.ts';

/** What was typed, by its shape; whether it is valid the service knows. */
export type Kind = 'nothing' | 'key' | 'token' | 'incomplete' | 'neither';

export function kindOf(text: string): Kind {
  if (text === '') return 'nothing';
  if (looksLikeKey(text)) return 'key';
  if (/^dr[ko]_/.test(text) && text.length < 53) return 'incomplete';
  return /^[\x21-\x7e]{32,1000}$/.test(text) && !text.startsWith('drk_') ? 'token' : 'neither';
}

/** Everybody who has the `ADMIN_TOKEN` shares it, so they say who they are; other tokens have a name. */
export const isShared = (text: string) => kindOf(text) === 'token' && !text.startsWith('dro_');

export interface Credentials {
  readonly text: string;
  readonly name: string;
  readonly remembered: boolean;
}

/** Why it did not work; undefined where it did. */
export function signIn(credentials: Credentials): Promise<Failure | undefined> {
  return kindOf(credentials.text) === 'key' ? withKey(credentials) : withToken(credentials);
}

/** Nothing is kept before it is accepted, nor for somebody who left meanwhile. */
async function withKey({ text, remembered }: Credentials): Promise<Failure | undefined> {
  const before = departures.get();
  const result = await askUsage(text);
  if (!result.ok) return result;
  if (departures.get() === before) apiKey.set({ text, remembered });
  return undefined;
}

async function withToken({ text, name, remembered }: Credentials): Promise<Failure | undefined> {
  const before = departures.get();
  const result = await tried(text, isShared(text) ? name : '');
  if (!result.ok) return result;
  if (departures.get() !== before) return undefined;
  adminToken.set({ text, remembered });
  operatorName.set({ text: result.data.you, remembered });
  door.set('open');
  return undefined;
}

/** The code of operators' calls is loaded by whoever is one. */
async function tried(token: string, name: string): Promise<Result<Operators>> {
  try {
    const { tryToken } = await import('./admin.ts');
    return await tryToken(token, name);
  } catch {
    // After an upgrade the service no longer has the file that this page knows by name.
    return { ok: false, kind: 'unreachable' };
  }
}

export function signOut(): void {
  apiKey.set({ text: '', remembered: false });
  shut('closed');
  forgetPerson();
}

/** What this tab keeps is enough after a reload. */
export async function comeBack(): Promise<void> {
  const { text: token, remembered } = adminToken.get();
  if (token === '') return;
  door.set('waiting');
  const result = await tried(token, operatorName.get().text);
  // Signed out meanwhile, or in with another.
  if (adminToken.get().text !== token) return;
  if (result.ok) {
    operatorName.set({ text: result.data.you, remembered });
    door.set('open');
  } else if (result.status === 401 || result.status === 404) shut(result);
  else door.set(result);
}
