/** What the service sends. Generated from its schemas by scripts/client-types.ts: do not edit. */
// biome-ignore-all format: generated

import { array, boolean, type Check, either, integer, literal, nothing, number, object, optional, string } from '../../client/src/shape.ts';

export interface Keys {
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    /** Your own words about it; null is none. */
    readonly note: string | null;
    /** The first and the last characters of the secret. */
    readonly shown_as: string;
    /** Calls per calendar month in UTC; null is unlimited. */
    readonly quota: number | null;
    /** Calls counted in this month. */
    readonly used?: number;
    /** Calls per second and server; null is no limit. */
    readonly rate: number | null;
    readonly origins: readonly string[];
    readonly networks: readonly string[];
    readonly created_at: string;
    readonly expires_at: string | null;
    readonly revoked_at: string | null;
    /** Until then the secret before works too. */
    readonly previous_until?: string | null;
    /** When a call of it was counted last; null is never. */
    readonly last_used_at: string | null;
    /** Calls of the last 30 days, the oldest first, today last. */
    readonly days: readonly number[];
    /** Domains judged for it in the last 30 days, by reason. Up to 10 seconds behind. */
    readonly verdicts: {
      readonly safe: number;
      readonly disposable: number;
      readonly undeliverable: number;
      readonly role_account: number;
      /** Of these, judged without DNS. */
      readonly degraded: number;
    };
  }[];
  /** Send it as `after` for the keys that were made later. */
  readonly next: string | null;
}

export const isKeys: Check = /* @__PURE__ */ object({
  keys: array(object({
    id: string,
    name: string,
    note: either(string, nothing),
    shown_as: string,
    quota: either(integer(), nothing),
    used: optional(integer()),
    rate: either(integer(), nothing),
    origins: array(string),
    networks: array(string),
    created_at: string,
    expires_at: either(string, nothing),
    revoked_at: either(string, nothing),
    previous_until: optional(either(string, nothing)),
    last_used_at: either(string, nothing),
    days: array(integer()),
    verdicts: object({
      safe: integer(0),
      disposable: integer(0),
      undeliverable: integer(0),
      role_account: integer(0),
      degraded: integer(0),
    }),
  })),
  next: either(string, nothing),
});

export interface MadeKey {
  readonly id: string;
  readonly name: string;
  /** Your own words about it; null is none. */
  readonly note: string | null;
  /** The first and the last characters of the secret. */
  readonly shown_as: string;
  /** Calls per calendar month in UTC; null is unlimited. */
  readonly quota: number | null;
  /** Calls counted in this month. */
  readonly used?: number;
  /** Calls per second and server; null is no limit. */
  readonly rate: number | null;
  readonly origins: readonly string[];
  readonly networks: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** Until then the secret before works too. */
  readonly previous_until?: string | null;
  /** The secret, returned only once. */
  readonly key: string;
}

export const isMadeKey: Check = /* @__PURE__ */ object({
  id: string,
  name: string,
  note: either(string, nothing),
  shown_as: string,
  quota: either(integer(), nothing),
  used: optional(integer()),
  rate: either(integer(), nothing),
  origins: array(string),
  networks: array(string),
  created_at: string,
  expires_at: either(string, nothing),
  revoked_at: either(string, nothing),
  previous_until: optional(either(string, nothing)),
  key: string,
});

export interface Key {
  readonly id: string;
  readonly name: string;
  /** Your own words about it; null is none. */
  readonly note: string | null;
  /** The first and the last characters of the secret. */
  readonly shown_as: string;
  /** Calls per calendar month in UTC; null is unlimited. */
  readonly quota: number | null;
  /** Calls counted in this month. */
  readonly used?: number;
  /** Calls per second and server; null is no limit. */
  readonly rate: number | null;
  readonly origins: readonly string[];
  readonly networks: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** Until then the secret before works too. */
  readonly previous_until?: string | null;
}

export const isKey: Check = /* @__PURE__ */ object({
  id: string,
  name: string,
  note: either(string, nothing),
  shown_as: string,
  quota: either(integer(), nothing),
  used: optional(integer()),
  rate: either(integer(), nothing),
  origins: array(string),
  networks: array(string),
  created_at: string,
  expires_at: either(string, nothing),
  revoked_at: either(string, nothing),
  previous_until: optional(either(string, nothing)),
});

export interface Overrides {
  readonly overrides: readonly {
    readonly domain: string;
    readonly action: 'allow' | 'deny' | 'role';
    /** Whether it holds for subdomains too. */
    readonly below: boolean;
    readonly note: string | null;
    readonly author: string | null;
    readonly created_at: string;
    readonly expires_at: string | null;
  }[];
}

export const isOverrides: Check = /* @__PURE__ */ object({
  overrides: array(object({
    domain: string,
    action: either(literal('allow'), literal('deny'), literal('role')),
    below: boolean,
    note: either(string, nothing),
    author: either(string, nothing),
    created_at: string,
    expires_at: either(string, nothing),
  })),
});

export interface Override {
  readonly domain: string;
  readonly action: 'allow' | 'deny' | 'role';
  /** Whether it holds for subdomains too. */
  readonly below: boolean;
  readonly note: string | null;
  readonly author: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

export const isOverride: Check = /* @__PURE__ */ object({
  domain: string,
  action: either(literal('allow'), literal('deny'), literal('role')),
  below: boolean,
  note: either(string, nothing),
  author: either(string, nothing),
  created_at: string,
  expires_at: either(string, nothing),
});

export interface Feeds {
  readonly snapshot: string;
  readonly domains: number;
  /** Widely used domains that only a verified list can flag; 0 before the first update of a popularity list. */
  readonly panel: number;
  readonly freshness: {
    /** `stale`: no list was checked for more than 3 days. */
    readonly status: 'fresh' | 'stale' | 'never';
    readonly checked_at: string | null;
    /** Lists whose last try did not go well. */
    readonly failing: readonly string[];
  };
  readonly feeds: readonly {
    readonly feed: string;
    /** disposable, free, relay, academic, popular or protected. */
    readonly kind: string;
    /** Whose word it is: verified, telemetry or broad. */
    readonly family: string;
    readonly verified: boolean;
    readonly licence: string;
    readonly origin: string;
    /** An operator added it with `feeds add`. */
    readonly own: boolean;
    readonly version: string;
    readonly names: number;
    /** How many entries of the list do not count, and why. */
    readonly dropped: {
      readonly malformed: number;
      /** Top-level domains and public suffixes: they would cover strangers. */
      readonly suffix: number;
      readonly duplicate: number;
      /** Well-known names that no list may flag. */
      readonly protected: number;
      readonly special_use: number;
    };
    /** Last changed; null as installed. */
    readonly updated_at: string | null;
    readonly tried_at: string | null;
    /** Last fetched and found plausible, with or without news. */
    readonly checked_at: string | null;
    /** Time since then. */
    readonly age_seconds: number | null;
    /** Names that the last change brought. */
    readonly added: number;
    /** Names that it took away. */
    readonly removed: number;
    /** Why the last try failed or was refused. */
    readonly problem: string | null;
    /** Where it was last read because its own address failed (the npm package of the same list), and why. */
    readonly fallback: string | null;
    /** Domains that a version which is held back would flag though they were asked here and safe for days: approve or reject it. */
    readonly waiting: readonly string[];
    /** Domains that an operator rejected and the version in use has all the same (of a list that clears domains: leaves out): take another version, or allow them by an override. */
    readonly rejected_in_use: readonly string[];
    /** Whether there is a version before the one in use. */
    readonly can_roll_back: boolean;
    /** Rolled back: updates leave it alone until that is undone. */
    readonly held: boolean;
    /** Of the version in the store, to roll back from; null where there is none. */
    readonly digest: string | null;
    /** The version in the store, where this server has not followed it yet; its `version` is null where that is the installed one, or none. */
    readonly next: {
      readonly version: string | null;
      readonly names: number | null;
      readonly updated_at: string | null;
    } | null;
  }[];
  /** Lists of which no version is in use: they could not be fetched, or were rolled back to nothing. */
  readonly missing: readonly {
    readonly feed: string;
    readonly tried_at: string | null;
    readonly problem: string | null;
    /** Domains that a version which is held back would flag though they were asked here and safe for days: approve or reject it. */
    readonly waiting: readonly string[];
    /** Domains that an operator rejected and the version in use has all the same (of a list that clears domains: leaves out): take another version, or allow them by an override. */
    readonly rejected_in_use: readonly string[];
    /** Whether there is a version before the one in use. */
    readonly can_roll_back: boolean;
    /** Rolled back: updates leave it alone until that is undone. */
    readonly held: boolean;
    /** Of the version in the store, to roll back from; null where there is none. */
    readonly digest: string | null;
    /** The version in the store, where this server has not followed it yet; its `version` is null where that is the installed one, or none. */
    readonly next: {
      readonly version: string | null;
      readonly names: number | null;
      readonly updated_at: string | null;
    } | null;
  }[];
}

export const isFeeds: Check = /* @__PURE__ */ object({
  snapshot: string,
  domains: integer(),
  panel: integer(),
  freshness: object({
    status: either(literal('fresh'), literal('stale'), literal('never')),
    checked_at: either(string, nothing),
    failing: array(string),
  }),
  feeds: array(object({
    feed: string,
    kind: string,
    family: string,
    verified: boolean,
    licence: string,
    origin: string,
    own: boolean,
    version: string,
    names: integer(),
    dropped: object({
      malformed: integer(),
      suffix: integer(),
      duplicate: integer(),
      protected: integer(),
      special_use: integer(),
    }),
    updated_at: either(string, nothing),
    tried_at: either(string, nothing),
    checked_at: either(string, nothing),
    age_seconds: either(integer(), nothing),
    added: integer(),
    removed: integer(),
    problem: either(string, nothing),
    fallback: either(string, nothing),
    waiting: array(string),
    rejected_in_use: array(string),
    can_roll_back: boolean,
    held: boolean,
    digest: either(string, nothing),
    next: either(object({
      version: either(string, nothing),
      names: either(integer(), nothing),
      updated_at: either(string, nothing),
    }), nothing),
  })),
  missing: array(object({
    feed: string,
    tried_at: either(string, nothing),
    problem: either(string, nothing),
    waiting: array(string),
    rejected_in_use: array(string),
    can_roll_back: boolean,
    held: boolean,
    digest: either(string, nothing),
    next: either(object({
      version: either(string, nothing),
      names: either(integer(), nothing),
      updated_at: either(string, nothing),
    }), nothing),
  })),
});

export interface FeedVersion {
  readonly feed: string;
  /** In use now; null is the installed one, or none. */
  readonly version: string | null;
  readonly names: number | null;
  readonly updated_at: string | null;
  /** Rolled back: updates leave it alone until that is undone. */
  readonly held: boolean;
}

export const isFeedVersion: Check = /* @__PURE__ */ object({
  feed: string,
  version: either(string, nothing),
  names: either(integer(), nothing),
  updated_at: either(string, nothing),
  held: boolean,
});

export interface FeedDecision {
  readonly feed: string;
  readonly approved: boolean;
  /** Those that were decided about. */
  readonly domains: readonly string[];
}

export const isFeedDecision: Check = /* @__PURE__ */ object({
  feed: string,
  approved: boolean,
  domains: array(string),
});

export interface Hosts {
  readonly hosts: readonly {
    readonly host: string;
    readonly state: 'disposable' | 'undecided' | 'shared' | 'forgotten';
    readonly flagged: number;
    readonly innocent: number;
    /** The evidence of its listed domains together; 2.1 is enough, and 2.5 for own hosts. */
    readonly sum: number;
    readonly last_seen: string | null;
    /** Listed domains that it receives mail for. */
    readonly neighbours: readonly string[];
    /** Where it is, as far as this server knows. */
    readonly addresses: readonly string[];
  }[];
}

export const isHosts: Check = /* @__PURE__ */ object({
  hosts: array(object({
    host: string,
    state: either(literal('disposable'), literal('undecided'), literal('shared'), literal('forgotten')),
    flagged: integer(),
    innocent: integer(),
    sum: number,
    last_seen: either(string, nothing),
    neighbours: array(string),
    addresses: array(string),
  })),
});

export interface HostState {
  readonly host: string;
  readonly forgotten: boolean;
}

export const isHostState: Check = /* @__PURE__ */ object({
  host: string,
  forgotten: boolean,
});

export interface Acts {
  readonly acts: readonly {
    readonly at: string;
    readonly who: string;
    readonly via: string;
    readonly action: string;
    readonly subject: string;
    readonly detail: string | null;
  }[];
}

export const isActs: Check = /* @__PURE__ */ object({
  acts: array(object({
    at: string,
    who: string,
    via: string,
    action: string,
    subject: string,
    detail: either(string, nothing),
  })),
});

export interface Traffic {
  readonly range: 'hour' | 'day' | 'week' | 'month';
  readonly from: string;
  readonly to: string;
  /** How long each slot is. The last one is not over yet. */
  readonly step_seconds: number;
  readonly total: {
    /** Requests of endpoints that use quota. */
    readonly calls: number;
    /** Domains that were judged. One call may have many. */
    readonly verdicts: number;
    /** Of these, domains with a reason other than `safe`. */
    readonly flagged: number;
    /** Of these, domains judged without DNS because it did not answer. */
    readonly degraded: number;
    /** Calls answered with 4xx, or with 503 under overload. */
    readonly refused: number;
    /** Calls answered with another 5xx. */
    readonly failed: number;
    /** Median time to answer; null without answers. */
    readonly p50_ms: number | null;
    /** 99 of 100 answers took no longer; null without answers. */
    readonly p99_ms: number | null;
  };
  /** The oldest first, those without calls included. */
  readonly slots: readonly {
    readonly at: string;
    /** Requests of endpoints that use quota. */
    readonly calls: number;
    /** Domains that were judged. One call may have many. */
    readonly verdicts: number;
    /** Of these, domains with a reason other than `safe`. */
    readonly flagged: number;
    /** Of these, domains judged without DNS because it did not answer. */
    readonly degraded: number;
    /** Calls answered with 4xx, or with 503 under overload. */
    readonly refused: number;
    /** Calls answered with another 5xx. */
    readonly failed: number;
    /** Median time to answer; null without answers. */
    readonly p50_ms: number | null;
    /** 99 of 100 answers took no longer; null without answers. */
    readonly p99_ms: number | null;
  }[];
}

export const isTraffic: Check = /* @__PURE__ */ object({
  range: either(literal('hour'), literal('day'), literal('week'), literal('month')),
  from: string,
  to: string,
  step_seconds: integer(),
  total: object({
    calls: integer(0),
    verdicts: integer(0),
    flagged: integer(0),
    degraded: integer(0),
    refused: integer(0),
    failed: integer(0),
    p50_ms: either(number, nothing),
    p99_ms: either(number, nothing),
  }),
  slots: array(object({
    at: string,
    calls: integer(0),
    verdicts: integer(0),
    flagged: integer(0),
    degraded: integer(0),
    refused: integer(0),
    failed: integer(0),
    p50_ms: either(number, nothing),
    p99_ms: either(number, nothing),
  })),
});

export interface Decisions {
  /** The DECISION_LOG of this service. */
  readonly log: 'off' | 'flagged' | 'all';
  readonly decisions: readonly {
    readonly at: string;
    /** The id of the key. */
    readonly key: string;
    readonly key_name: string | null;
    readonly domain: string;
    readonly risk_score: number;
    readonly reason: 'safe' | 'disposable' | 'undeliverable' | 'role_account';
    /** The lists that it was judged by. */
    readonly snapshot: string;
    /** Whether DNS did not answer. */
    readonly degraded: boolean;
  }[];
  /** Send it as `before` for older ones. */
  readonly next: string | null;
}

export const isDecisions: Check = /* @__PURE__ */ object({
  log: either(literal('off'), literal('flagged'), literal('all')),
  decisions: array(object({
    at: string,
    key: string,
    key_name: either(string, nothing),
    domain: string,
    risk_score: integer(),
    reason: either(literal('safe'), literal('disposable'), literal('undeliverable'), literal('role_account')),
    snapshot: string,
    degraded: boolean,
  })),
  next: either(string, nothing),
});

export interface Operators {
  /** The name that the audit log has for whoever asks. */
  readonly you: string;
  readonly operators: readonly {
    readonly name: string;
    readonly created_at: string;
    readonly revoked_at: string | null;
  }[];
}

export const isOperators: Check = /* @__PURE__ */ object({
  you: string,
  operators: array(object({
    name: string,
    created_at: string,
    revoked_at: either(string, nothing),
  })),
});

export interface MadeOperator {
  readonly name: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /** Shown this once. */
  readonly token: string;
}

export const isMadeOperator: Check = /* @__PURE__ */ object({
  name: string,
  created_at: string,
  revoked_at: either(string, nothing),
  token: string,
});
