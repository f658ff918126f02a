/** One sign-in for the session: a key or an operator's token, told apart by shape and tried with a call that counts nothing. */

import { askUsage, type Failure } from './api.ts';
import { door } from './door.ts';
import { adminToken, apiKey, looksLikeKey, operatorName } from './session.ts';

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

async function withKey({ text, remembered }: Credentials): Promise<Failure | undefined> {
  const result = await askUsage(text);
  if (!result.ok) return result;
  apiKey.set({ text, remembered });
  return undefined;
}

async function withToken({ text, name, remembered }: Credentials): Promise<Failure | undefined> {
  operatorName.set({ text: isShared(text) ? name : '', remembered });
  adminToken.set({ text, remembered });
  const failure = await enter();
  if (failure && adminToken.get().text === text) leave();
  return failure;
}

/** The code of operators' calls is loaded by whoever is one. */
async function tried() {
  try {
    const { listKeys } = await import('./admin.ts');
    return await listKeys();
  } catch {
    // After an upgrade the service no longer has the file that this page knows by name.
    return { ok: false, kind: 'unreachable' } as const;
  }
}

async function enter(): Promise<Failure | undefined> {
  const { text: sent } = adminToken.get();
  door.set('waiting');
  const result = await tried();
  // Signed out meanwhile, or in with another.
  if (adminToken.get().text !== sent) return undefined;
  door.set(result.ok ? 'open' : result);
  return result.ok ? undefined : result;
}

function leave(): void {
  adminToken.set({ text: '', remembered: false });
  operatorName.set({ text: '', remembered: false });
  door.set('closed');
}

export function signOut(): void {
  apiKey.set({ text: '', remembered: false });
  leave();
}

/** What this tab keeps is enough after a reload. */
export function comeBack(): void {
  if (adminToken.get().text !== '') void enter();
}
