/** The operator's calls: they exist only where the service was started with ADMIN_TOKEN. */

import { type Check, nothing } from '../../client/src/shape.ts';
import { ask, type Question, type Result } from './api.ts';
import { overruled, shut } from './door.ts';
import { adminToken, operatorName } from './session.ts';
import {
  type Acts,
  type Decisions,
  type FeedDecision,
  type Feeds,
  type FeedVersion,
  type HostState,
  type Hosts,
  isActs,
  isDecisions,
  isFeedDecision,
  isFeeds,
  isFeedVersion,
  isHostState,
  isHosts,
  isKey,
  isKeys,
  isMadeKey,
  isMadeOperator,
  isOperators,
  isOverride,
  isOverrides,
  isTraffic,
  type Key,
  type Keys,
  type MadeKey,
  type MadeOperator,
  type Operators,
  type Override,
  type Overrides,
  type Traffic,
} from './wire.ts';

export type { Feeds, Key, MadeKey, Override, Traffic } from './wire.ts';
/** In the list a key has its last 30 days with it. */
export type ListedKey = Keys['keys'][number];
/** What an operator decides about a key; the rest is what became of it. */
export type KeyLimits = Omit<
  Key,
  'id' | 'shown_as' | 'used' | 'created_at' | 'revoked_at' | 'previous_until'
>;
export type OverrideAction = Override['action'];
export type FeedStatus = Feeds['feeds'][number];
export type Host = Hosts['hosts'][number];
export type { MadeOperator } from './wire.ts';
export type NamedOperator = Operators['operators'][number];
export type { Decisions as DecisionsFound } from './wire.ts';
export type Decision = Decisions['decisions'][number];
export type Act = Acts['acts'][number];

/** Header values are bytes: a name with an umlaut goes as UTF-8. */
const asBytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));

const signed = (secret: string, name: string) => ({
  secret,
  headers: name.trim() === '' ? {} : { 'x-operator': asBytes(name.trim()) },
});

/** Before anybody is signed in with it. */
export const tryToken = (token: string, name: string): Promise<Result<Operators>> =>
  ask({ path: '/admin/operators', ...signed(token, name), check: isOperators });

/** What does not have the shape of the answer comes from something else that answers in its place. */
async function admin<T>(
  path: string,
  check: Check,
  question: Omit<Question, 'path' | 'check'> = {},
): Promise<Result<T>> {
  const secret = adminToken.get().text;
  const result = await ask<T>({
    path: `/admin/${path}`,
    ...signed(secret, operatorName.get().text),
    check,
    ...question,
  });
  // Nothing is said about a token that was typed since.
  const isRefused = !result.ok && result.code === 'unauthorized' && secret === adminToken.get().text;
  if (isRefused) shut(result);
  return result;
}

const segment = encodeURIComponent;
const post = (body: unknown = {}) => ({ method: 'POST', body });

/** All of them, of which one answer has so many at the most. */
export async function listKeys(): Promise<Result<Keys>> {
  let keys: Keys['keys'] = [];
  for (let path = 'keys'; ; ) {
    const page = await admin<Keys>(path, isKeys);
    if (!page.ok) return page;
    const { next } = page.data;
    keys = [...keys, ...page.data.keys];
    if (next === null) return { ...page, data: { keys, next } };
    path = `keys?after=${segment(next)}`;
  }
}
export const createKey = (limits: KeyLimits) => admin<MadeKey>('keys', isMadeKey, post(limits));
/** What is left out stays as it is. */
export const updateKey = (id: string, limits: Partial<KeyLimits>) =>
  admin<Key>(`keys/${segment(id)}`, isKey, { method: 'PATCH', body: limits });
export const rotateKey = (id: string, overlapSeconds: number, endPrevious: boolean) =>
  admin<MadeKey>(
    `keys/${segment(id)}/rotate`,
    isMadeKey,
    post({ overlap_seconds: overlapSeconds, end_previous: endPrevious }),
  );
export const revokeKey = (id: string) => admin<Key>(`keys/${segment(id)}/revoke`, isKey, post());

export const listOverrides = () => admin<Overrides>('overrides', isOverrides);
export const setOverride = (
  domain: string,
  body: Pick<Override, 'action' | 'below' | 'note' | 'expires_at'>,
) => overruling(admin<Override>(`overrides/${segment(domain)}`, isOverride, { method: 'PUT', body }));
export const removeOverride = (domain: string) =>
  overruling(admin<null>(`overrides/${segment(domain)}`, nothing, { method: 'DELETE' }));

/** Also where it failed: the answer may have been lost on its way. */
const overruling = <T>(result: Promise<Result<T>>) => result.finally(() => overruled.set(Date.now()));

export const listFeeds = () => admin<Feeds>('feeds', isFeeds);
/** Only from the version that was shown: another may be in use by now. */
export const rollBackFeed = (feed: string, digest: string | null) =>
  admin<FeedVersion>(`feeds/${segment(feed)}/rollback`, isFeedVersion, post({ digest }));
export const returnFeed = (feed: string, digest: string | null) =>
  admin<FeedVersion>(`feeds/${segment(feed)}/return`, isFeedVersion, post({ digest }));
/** Only what was shown as waiting is decided: others may wait, or another operator may have decided, by now. */
export const approveFeed = (feed: string, domains: readonly string[]) =>
  admin<FeedDecision>(`feeds/${segment(feed)}/approve`, isFeedDecision, post({ domains }));
export const rejectFeed = (feed: string, domains: readonly string[]) =>
  admin<FeedDecision>(`feeds/${segment(feed)}/reject`, isFeedDecision, post({ domains }));

export const listHosts = () => admin<Hosts>('infra', isHosts);
/** One, with all names that are kept of it; none where it is not known. */
export const findHost = (host: string) => admin<Hosts>(`infra?${new URLSearchParams({ host })}`, isHosts);
export const forgetHost = (host: string) =>
  admin<HostState>(`infra/${segment(host)}/forget`, isHostState, post());
export const relearnHost = (host: string) =>
  admin<HostState>(`infra/${segment(host)}/relearn`, isHostState, post());

export const listOperators = () => admin<Operators>('operators', isOperators);
export const addOperator = (name: string) => admin<MadeOperator>('operators', isMadeOperator, post({ name }));
export const revokeOperator = (name: string) =>
  admin<null>(`operators/${segment(name)}/revoke`, nothing, post());

/** Of what was typed; empty fields do not count. */
export const findDecisions = (wanted: Readonly<Record<'domain' | 'key' | 'since' | 'before', string>>) => {
  const typed = Object.entries(wanted).filter(([, text]) => text !== '');
  return admin<Decisions>(`decisions?${new URLSearchParams(typed)}`, isDecisions);
};

export const listActs = () => admin<Acts>('audit?limit=1000', isActs);

export const askTraffic = (range: Traffic['range']) => admin<Traffic>(`traffic?range=${range}`, isTraffic);
