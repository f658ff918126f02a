/** What an operator should look at first, the worst first. */

import type { Dns } from './calls.ts';
import { fromNow, number, plural } from './time.ts';
import type { Keys, Traffic } from './wire.ts';

type ListedKey = Keys['keys'][number];

export interface Attention {
  readonly tone: 'error' | 'warning' | 'info';
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

const NEARLY_USED = 0.9;
const SOON_MS = 7 * 86_400_000;
/** Three hundred trial keys at the end of their quota must not hide the rest. */
const MOST_OF_KEYS = 5;
/** Shares from which on more than a few callers notice. */
const MANY_DEGRADED = 0.05;
const MANY_REFUSED = 0.2;

export const share = (part: number, all: number) => (all === 0 ? 0 : part / all);
export const percent = (part: number, all: number) =>
  all === 0 ? '–' : `${Math.round(1000 * share(part, all)) / 10} %`;

interface Seen {
  readonly total: Traffic['total'];
  readonly keys: readonly ListedKey[];
  readonly dns: readonly { readonly address: string; readonly problem: string }[];
  readonly failingFeeds: readonly string[];
  readonly now: number;
}

export function attentionOf({ total, keys, dns, failingFeeds, now }: Seen): Attention[] {
  const health = { href: '#/operator/health', link: 'Open Health' };
  const { calls, verdicts, degraded, refused, failed } = total;
  const ofTraffic: (Attention | false)[] = [
    failed > 0 && {
      tone: 'error',
      title: `${plural(failed, 'call')} failed (5xx)`,
      text: 'The log says why. Callers continue without the check.',
      ...health,
    },
    share(degraded, verdicts) >= MANY_DEGRADED && {
      tone: 'warning',
      title: `${percent(degraded, verdicts)} of the verdicts are degraded`,
      text: 'DNS did not answer, so unlisted domains get the neutral score.',
      ...health,
    },
    share(refused, calls) >= MANY_REFUSED && {
      tone: 'info',
      title: `${percent(refused, calls)} of the calls were refused`,
      text: 'A wrong key, a used-up quota, a rate limit or an invalid domain. Health shows the status codes.',
      ...health,
    },
  ];
  const ofFeeds: Attention[] = failingFeeds.map(feed => ({
    tone: 'warning',
    title: `${feed} could not be updated`,
    text: 'The version before stays in use.',
    href: '#/operator/feeds',
    link: 'Open Feeds',
  }));
  const ofDns: Attention[] = dns.map(({ address, problem }) => ({
    tone: 'warning',
    title: `DNS server ${address} is not trusted`,
    text: `It ${problem}.`,
    ...health,
  }));
  const ofKeys = worstFirst(keys.flatMap(key => ofKey(key, now)));
  const shown = ofKeys.slice(0, MOST_OF_KEYS);
  const rest = ofKeys.length - shown.length;
  const more: Attention = {
    tone: 'info',
    title: `${number(rest)} more about keys`,
    text: 'Keys that expire soon, or that have used nearly all of their quota.',
    href: '#/operator/keys',
    link: 'Open Keys',
  };
  const found = [...ofTraffic.filter(one => one !== false), ...ofDns, ...ofFeeds, ...shown];
  return [...worstFirst(found), ...(rest > 0 ? [more] : [])];
}

const RANKS = ['error', 'warning', 'info'];
const worstFirst = (all: readonly Attention[]) =>
  all.toSorted((a, b) => RANKS.indexOf(a.tone) - RANKS.indexOf(b.tone));

/** One word for DNS: what readiness says of the servers, and what lookups met. OK only where both are known to be. */
export function dnsWord(
  dns: Dns | undefined,
  { degraded, verdicts }: Pick<Traffic['total'], 'degraded' | 'verdicts'>,
): string {
  if (dns && dns.problems.length > 0) return 'Not trusted';
  if (dns?.isDegraded || share(degraded, verdicts) >= MANY_DEGRADED) return 'Failing';
  return dns ? 'OK' : 'Unknown';
}

function ofKey({ id, name, used = 0, quota, expires_at, revoked_at }: ListedKey, now: number): Attention[] {
  if (revoked_at !== null) return [];
  const page = { href: keyHref(id), link: `Open ${name}` };
  const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now;
  const found: Attention[] = [];
  if (quota !== null && quota > 0 && used >= NEARLY_USED * quota)
    found.push({
      tone: used >= quota ? 'warning' : 'info',
      title: `${name} has used ${percent(used, quota)} of its quota`,
      text: `${number(used)} of ${number(quota)} calls this month. Calls beyond the quota get 429.`,
      ...page,
    });
  if (left > 0 && left < SOON_MS)
    found.push({
      tone: 'warning',
      title: `${name} expires ${fromNow(expires_at!)}`,
      text: 'Its callers get 401 from then on.',
      ...page,
    });
  return found;
}

/** The page of a key. */
export const keyHref = (id: string) => `#/keys/${encodeURIComponent(id)}`;
