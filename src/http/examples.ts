/** Real examples for the OpenAPI document: requests, and answers that went well, as the service sends them. */

import type { Type } from 'typebox';
import { allowanceOf, monthOf } from '../core/quota.ts';
import type { OverrideBody } from './bodies.ts';
import { MADE_OPERATOR, NEW_OPERATOR, OPERATORS } from './examples-of-appointed.ts';
import { CHECK, DOMAINS, NAMES, TYPO } from './examples-of-checks.ts';
import { DECISIONS } from './examples-of-decisions.ts';
import { CHANGES, DECIDED, FEED_DECISION, FEED_VERSION, FEEDS } from './examples-of-feeds.ts';
import { TRAFFIC, VERDICTS } from './examples-of-traffic.ts';
import type { KeyBody, KeySchema, KeysSchema, MadeKeySchema, NewKeyBody, RotationBody } from './key.ts';
import type { OperationId } from './routes.ts';
import type {
  ActsSchema,
  DomainSchema,
  HostStateSchema,
  HostsSchema,
  OverrideSchema,
  OverridesSchema,
  TopDomainsSchema,
  UsageSchema,
} from './schemas.ts';

/** The moment that all examples share. */
export const NOW = Date.UTC(2026, 10, 15, 9, 30);
export const REQUEST_ID = '7b514c8e-1b74-4f4c-a209-1fb3abb141ba';
export const QUOTA = 10_000;
/** What is left of the key that the examples use, after a call and after the last one. */
export const ALLOWANCE = allowanceOf(QUOTA, 1_234, monthOf(NOW));
export const USED_UP = allowanceOf(QUOTA, QUOTA, monthOf(NOW));

const GMAIL: Type.Static<typeof DomainSchema> = {
  domain: 'gmail.com',
  risk_score: 5,
  reason: 'safe',
  is_free_provider: true,
  is_corporate_email: false,
  mx_provider_label: 'Gmail',
};

const MAILINATOR: Type.Static<typeof DomainSchema> = {
  domain: 'mailinator.com',
  risk_score: 100,
  reason: 'disposable',
  is_free_provider: false,
  is_corporate_email: false,
  mx_provider_label: 'Mailinator',
  evidence: {
    signals: [
      {
        signal: 'verified_list',
        points: 100,
        detail: 'mailinator.com is in disposable-email-domains, fakefilter, emailalias, is-burner-email',
      },
    ],
    lists: [
      { feed: 'disposable-email-domains', entry: 'mailinator.com', since: '2026-09-21' },
      { feed: 'fakefilter', entry: 'mailinator.com', since: '2024-06-29' },
      { feed: 'emailalias', entry: 'mailinator.com', since: '2026-09-23' },
      { feed: 'is-burner-email', entry: 'mailinator.com', since: '2026-08-09' },
    ],
    dns: { state: 'not_asked', mx: [], stale: false },
    snapshot: 'aa6756337948',
  },
};

const TOP: Type.Static<typeof TopDomainsSchema> = {
  domains: [
    { domain: 'mailinator.com', risk_score: 100, reason: 'disposable' },
    { domain: 'yopmail.com', risk_score: 100, reason: 'disposable' },
    { domain: 'nothing.invalid', risk_score: 95, reason: 'undeliverable' },
  ],
  count: 3,
};

const EXPLAINED_TOP: Type.Static<typeof TopDomainsSchema> = {
  domains: [
    { domain: 'mailinator.com', risk_score: 100, reason: 'disposable', flags: 41, source: 'observed' },
    { domain: 'yopmail.com', risk_score: 100, reason: 'disposable', flags: 0, source: 'lists' },
  ],
  count: 2,
};

const USAGE: Type.Static<typeof UsageSchema> = {
  monthly_limit: QUOTA,
  month_count: 1_234,
  remaining_month: 8_766,
  reset_at: '2026-12-01T00:00:00Z',
};

const DAYS: Type.Static<typeof UsageSchema> = {
  ...USAGE,
  days: [
    { day: '2026-11-13', count: 96 },
    { day: '2026-11-14', count: 71 },
    { day: '2026-11-15', count: 40 },
  ],
};

const KEY: Type.Static<typeof KeySchema> = {
  id: 'key_0123456789abcdef',
  name: 'signup',
  note: 'the form on the front page; ask Ann',
  shown_as: 'drk_q2LD…b6o1',
  quota: QUOTA,
  used: 1_234,
  rate: 50,
  origins: ['https://app.example.com'],
  networks: [],
  created_at: '2026-11-01T08:00:00Z',
  expires_at: null,
  revoked_at: null,
};

const { id, ...KEY_REST } = KEY;
export const KEY_ID = id;
// No real secret: its checksum is wrong, as it should be for one that everybody reads.
const CREATED: Type.Static<typeof MadeKeySchema> = {
  id,
  key: 'drk_q2LDEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEb6o1',
  ...KEY_REST,
  used: 0,
  created_at: '2026-11-15T09:30:00Z',
};
const ROTATED: Type.Static<typeof MadeKeySchema> = {
  id,
  key: 'drk_HT2VEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEj0DJ',
  ...KEY_REST,
  shown_as: 'drk_HT2V…j0DJ',
  previous_until: '2026-11-16T09:30:00Z',
};
const KEYS: Type.Static<typeof KeysSchema> = {
  keys: [
    {
      ...KEY,
      last_used_at: '2026-11-15T09:29:58Z',
      days: [
        ...[88, 93, 61, 58, 104, 99, 87, 90, 102, 64, 55, 97, 101, 94, 89, 0, 0, 0, 0, 0, 0, 0],
        ...[0, 0, 0, 0, 0, 96, 71, 40],
      ],
      verdicts: VERDICTS,
    },
  ],
  next: null,
};

const OVERRIDE: Type.Static<typeof OverrideSchema> = {
  domain: 'partner.example.org',
  action: 'allow',
  below: true,
  note: 'a partner of ours',
  author: 'Ann',
  created_at: '2026-11-15T09:30:00Z',
  expires_at: '2027-01-31T00:00:00Z',
};
const OVERRIDES: Type.Static<typeof OverridesSchema> = { overrides: [OVERRIDE] };

const HOSTS: Type.Static<typeof HostsSchema> = {
  hosts: [
    {
      host: 'mx.example.com',
      state: 'disposable',
      ...{ flagged: 41, innocent: 2, sum: 40.88, last_seen: '2026-11-15' },
      neighbours: ['mailinator.com', 'yopmail.com'],
      addresses: ['192.0.2.1'],
    },
  ],
};
const IGNORED: Type.Static<typeof HostStateSchema> = { host: 'mx.example.com', forgotten: true };
const WATCHED: Type.Static<typeof HostStateSchema> = { host: 'mx.example.com', forgotten: false };

const ACTS: Type.Static<typeof ActsSchema> = {
  acts: [
    {
      at: '2026-11-15T09:30:00Z',
      who: 'Ann',
      via: '192.0.2.10',
      action: 'override.set',
      subject: 'partner.example.org',
      detail: 'allow, with subdomains, until 2027-01-31T00:00:00Z, note "a partner of ours"',
    },
  ],
};

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}
const example = (summary: string, value: unknown): Example => ({ summary, value });

/** Of answers that went well, the first for the request that the reference shows. None where there is no body. */
export const ANSWERS: Readonly<Record<OperationId, readonly Example[]>> = {
  getDomain: [example('A free provider', GMAIL), example('A disposable domain, explained', MAILINATOR)],
  listTopDomains: [example('Three domains', TOP), example('Two domains, explained', EXPLAINED_TOP)],
  checkEmail: [example('An address at a free provider', CHECK), example('A typing error', TYPO)],
  getDomains: [example('A free provider, a disposable domain and what is no domain', DOMAINS)],
  // Bytes.
  getFilter: [],
  getUsage: [example('A key with a quota', USAGE), example('With the calls of three days', DAYS)],
  listChanges: [example('Two changes', CHANGES), example('Nothing new', { ...CHANGES, changes: [] })],
  listKeys: [example('One key', KEYS)],
  createKey: [example('A new key', CREATED)],
  updateKey: [example('The key as it is now', { ...KEY, quota: 20_000 })],
  rotateKey: [example('The key with its new secret', ROTATED)],
  revokeKey: [example('The key, revoked', { ...KEY, revoked_at: '2026-11-15T09:30:00Z' })],
  listOverrides: [example('One override', OVERRIDES)],
  setOverride: [example('The override', OVERRIDE)],
  removeOverride: [],
  listFeeds: [example('One list', FEEDS)],
  rollBackFeed: [example('Back to the version before', FEED_VERSION)],
  returnFeed: [example('The newest again', { ...FEED_VERSION, held: false })],
  approveFeed: [example('It may flag them', FEED_DECISION)],
  rejectFeed: [example('It may not', { ...FEED_DECISION, approved: false })],
  listHosts: [example('One mail host', HOSTS)],
  ignoreHost: [example('Ignored', IGNORED)],
  watchHost: [example('Watched', WATCHED)],
  listActs: [example('One change', ACTS)],
  getTraffic: [example('One minute with calls', TRAFFIC)],
  listDecisions: [example('One decision', DECISIONS)],
  listOperators: [example('One operator', OPERATORS)],
  addOperator: [example('A new operator', MADE_OPERATOR)],
  revokeOperator: [],
};

const NEW_KEY: Type.Static<typeof NewKeyBody> = {
  name: 'signup',
  note: 'the form on the front page; ask Ann',
  quota: QUOTA,
  rate: 50,
  origins: ['https://app.example.com'],
};
const CHANGE: Type.Static<typeof KeyBody> = { quota: 20_000 };
const ROTATION: Type.Static<typeof RotationBody> = { overlap_seconds: 86_400 };
const DECISION: Type.Static<typeof OverrideBody> = {
  action: 'allow',
  below: true,
  note: 'a partner of ours',
  expires_at: '2027-01-31',
};

/** Of requests, where they have a body. */
export const BODIES: Readonly<Partial<Record<OperationId, object>>> = {
  getDomains: NAMES,
  createKey: NEW_KEY,
  updateKey: CHANGE,
  rotateKey: ROTATION,
  ...{ setOverride: DECISION, ...DECIDED },
  addOperator: NEW_OPERATOR,
};
