/** The operator's calls: they exist only where the service was started with ADMIN_TOKEN. */

import { array, type Check, object, string } from '../../client/src/shape.ts';
import { ask, type Failure, type Question, type Result } from './api.ts';
import { adminToken, operatorName } from './session.ts';
import { type Shared, share } from './shared.ts';

/** The door to them: closed, being tried, open, or why it is not open. */
export type Door = 'closed' | 'waiting' | 'open' | Failure;
export const door: Shared<Door> = share<Door>('closed');

export interface KeyLimits {
  readonly name: string;
  readonly quota: number | null;
  readonly rate: number | null;
  readonly origins: readonly string[];
  readonly networks: readonly string[];
  readonly expires_at: string | null;
}

export interface Key extends KeyLimits {
  readonly id: string;
  readonly shown_as: string;
  readonly used?: number;
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly previous_until?: string | null;
  /** Calls of the last 30 days, the oldest first. */
  readonly days?: readonly number[];
}

/** The secret is in the answer that made it, and never again. */
export interface KeyWithSecret extends Key {
  readonly key: string;
}

export type OverrideAction = 'allow' | 'deny' | 'role';
export interface Override {
  readonly domain: string;
  readonly action: OverrideAction;
  readonly below: boolean;
  readonly note: string | null;
  readonly author: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface FeedStatus {
  readonly feed: string;
  readonly kind: string;
  readonly verified: boolean;
  readonly licence: string;
  readonly origin: string;
  readonly version: string;
  readonly names: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly updated_at: string | null;
}
export interface Feeds {
  readonly snapshot: string;
  readonly domains: number;
  readonly feeds: readonly FeedStatus[];
}

export interface Host {
  readonly host: string;
  readonly state: 'disposable' | 'undecided' | 'shared' | 'forgotten';
  readonly flagged: number;
  readonly innocent: number;
  readonly last_seen: string | null;
  readonly neighbours: readonly string[];
}

export interface Act {
  readonly at: string;
  readonly who: string;
  readonly via: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string | null;
}

/** Header values are bytes: a name with an umlaut goes as UTF-8. */
const asBytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));

async function admin<T>(path: string, question: Omit<Question, 'path'> = {}): Promise<Result<T>> {
  const name = operatorName.get().text.trim();
  const secret = adminToken.get().text;
  const result = await ask<T>({
    path: `/admin/${path}`,
    secret,
    headers: name === '' ? {} : { 'x-operator': asBytes(name) },
    ...question,
  });
  // Nothing is said about a token that was typed since.
  const isRefused = !result.ok && result.code === 'unauthorized' && secret === adminToken.get().text;
  if (isRefused) door.set(result);
  return result;
}

const segment = encodeURIComponent;
const post = (body: unknown = {}) => ({ method: 'POST', body });
/** Enough to tell the service from something else that answers in its place. */
const listed = (name: string): { check: Check } => ({ check: object({ [name]: array(object({})) }) });
const withSecret = { check: object({ name: string, key: string }) };

export const listKeys = () => admin<{ keys: readonly Key[] }>('keys', listed('keys'));
export const createKey = (limits: KeyLimits) =>
  admin<KeyWithSecret>('keys', { ...post(limits), ...withSecret });
/** What is left out stays as it is. */
export const updateKey = (id: string, limits: Partial<KeyLimits>) =>
  admin<Key>(`keys/${segment(id)}`, { method: 'PATCH', body: limits });
export const rotateKey = (id: string, overlapSeconds: number) =>
  admin<KeyWithSecret>(`keys/${segment(id)}/rotate`, {
    ...post({ overlap_seconds: overlapSeconds }),
    ...withSecret,
  });
export const revokeKey = (id: string) => admin<Key>(`keys/${segment(id)}/revoke`, post());

export const listOverrides = () =>
  admin<{ overrides: readonly Override[] }>('overrides', listed('overrides'));
export const setOverride = (
  domain: string,
  body: Pick<Override, 'action' | 'below' | 'note' | 'expires_at'>,
) => admin<Override>(`overrides/${segment(domain)}`, { method: 'PUT', body });
export const removeOverride = (domain: string) =>
  admin<null>(`overrides/${segment(domain)}`, { method: 'DELETE' });

export const listFeeds = () => admin<Feeds>('feeds', listed('feeds'));

export const listHosts = () => admin<{ hosts: readonly Host[] }>('infra', listed('hosts'));
export const forgetHost = (host: string) => admin<unknown>(`infra/${segment(host)}/forget`, post());
export const relearnHost = (host: string) => admin<unknown>(`infra/${segment(host)}/relearn`, post());

export const listActs = () => admin<{ acts: readonly Act[] }>('audit?limit=1000', listed('acts'));
