/** What the service sends. Generated from its schemas by scripts/client-types.ts: do not edit. */
// biome-ignore-all format: generated

import { array, boolean, type Check, either, integer, literal, nothing, object, optional, string } from './shape.ts';

export interface DomainRisk {
  /** The domain in canonical form: lower case, A-labels, no trailing dot. */
  readonly domain: string;
  /** 0 to 100; higher means riskier. */
  readonly risk_score: number;
  readonly reason: 'safe' | 'disposable' | 'undeliverable' | 'role_account';
  /** True for consumer webmail providers. */
  readonly is_free_provider: boolean;
  /** True for domains with a professional MX configuration. */
  readonly is_corporate_email: boolean;
  /** Who receives the mail; null when nobody or unknown. */
  readonly mx_provider_label: string | null;
  readonly evidence?: {
    /** Every point of the score; the points add up to risk_score. */
    readonly signals: readonly {
      readonly signal: string;
      readonly points: number;
      readonly detail: string;
    }[];
    readonly lists: readonly {
      readonly feed: string;
      /** The name on the list: the domain or a parent of it. */
      readonly entry: string;
      /** Since when the list names it, as far as is known. */
      readonly since: string | null;
    }[];
    readonly dns: {
      readonly state: 'mx' | 'null_mx' | 'implicit_mx' | 'no_mail' | 'nxdomain' | 'unknown' | 'not_asked';
      readonly mx: readonly string[];
      readonly stale: boolean;
    };
    /** Mail hosts that the domain shares with listed ones. Absent where there are none. */
    readonly graph?: readonly {
      readonly host: string;
      readonly addresses: readonly string[];
      /** How many listed disposable domains it also receives for. */
      readonly listed_guests: number;
      /** Some of them; at most 50 in one answer. */
      readonly guests: readonly string[];
    }[];
    /** Which version of the lists this was judged by. */
    readonly snapshot: string;
  };
}

export const isDomainRisk: Check = /* @__PURE__ */ object({
  domain: string,
  risk_score: integer(0, 100),
  reason: either(literal('safe'), literal('disposable'), literal('undeliverable'), literal('role_account')),
  is_free_provider: boolean,
  is_corporate_email: boolean,
  mx_provider_label: either(string, nothing),
  evidence: optional(object({
    signals: array(object({
      signal: string,
      points: integer(),
      detail: string,
    })),
    lists: array(object({
      feed: string,
      entry: string,
      since: either(string, nothing),
    })),
    dns: object({
      state: either(literal('mx'), literal('null_mx'), literal('implicit_mx'), literal('no_mail'), literal('nxdomain'), literal('unknown'), literal('not_asked')),
      mx: array(string),
      stale: boolean,
    }),
    graph: optional(array(object({
      host: string,
      addresses: array(string),
      listed_guests: integer(),
      guests: array(string),
    }))),
    snapshot: string,
  })),
});

export interface TopDomains {
  readonly domains: readonly {
    readonly domain: string;
    /** 0 to 100; higher means riskier. */
    readonly risk_score: number;
    readonly reason: 'disposable' | 'undeliverable' | 'role_account';
    /** How often it was flagged here in the last 30 days: once per key and day. */
    readonly flags?: number;
    /** Whether lookups flagged it here, or only lists name it, which pad the answer. */
    readonly source?: 'observed' | 'lists';
  }[];
  /** Number of domains returned. */
  readonly count: number;
}

export const isTopDomains: Check = /* @__PURE__ */ object({
  domains: array(object({
    domain: string,
    risk_score: integer(0, 100),
    reason: either(literal('disposable'), literal('undeliverable'), literal('role_account')),
    flags: optional(integer()),
    source: optional(either(literal('observed'), literal('lists'))),
  })),
  count: integer(),
});

export interface Usage {
  readonly monthly_limit: number | null;
  readonly month_count: number;
  readonly remaining_month: number | null;
  readonly reset_at: string;
  /** Calls counted on each day in UTC, the oldest first, today last. */
  readonly days?: readonly {
    readonly day: string;
    readonly count: number;
  }[];
}

export const isUsage: Check = /* @__PURE__ */ object({
  monthly_limit: either(integer(), nothing),
  month_count: integer(),
  remaining_month: either(integer(), nothing),
  reset_at: string,
  days: optional(array(object({
    day: string,
    count: integer(),
  }))),
});

export interface EmailCheck {
  /** What you sent, with the part before the @ masked: `ja***oe@example.com`. */
  readonly email: string;
  /** True from a risk score of 65 on. */
  readonly is_risky: boolean;
  /** 0 to 100; higher means riskier. */
  readonly risk_score: number;
  readonly reason: 'safe' | 'disposable' | 'undeliverable' | 'role_account';
  /** 0 to 100; 0 when the domain receives no mail, 50 when that is unknown. */
  readonly deliverability_score: number;
  /** The domain of a large mailbox provider that was probably meant. */
  readonly did_you_mean: string | null;
  /** True for consumer webmail providers. */
  readonly is_free_provider: boolean;
  /** True for domains with a professional MX configuration. */
  readonly is_corporate_email: boolean;
  /** True for addresses of privacy relays. */
  readonly is_alias_email: boolean;
  /** Who receives the mail; null when nobody or unknown. */
  readonly mx_provider_label: string | null;
}

export const isEmailCheck: Check = /* @__PURE__ */ object({
  email: string,
  is_risky: boolean,
  risk_score: integer(0, 100),
  reason: either(literal('safe'), literal('disposable'), literal('undeliverable'), literal('role_account')),
  deliverability_score: integer(0, 100),
  did_you_mean: either(string, nothing),
  is_free_provider: boolean,
  is_corporate_email: boolean,
  is_alias_email: boolean,
  mx_provider_label: either(string, nothing),
});

export interface DomainRisks {
  /** One for each name, in the order of the names. */
  readonly results: readonly {
    /** In canonical form; as you sent it when it is not valid. */
    readonly domain: string;
    /** 0 to 100; higher means riskier. */
    readonly risk_score?: number;
    readonly reason?: 'safe' | 'disposable' | 'undeliverable' | 'role_account';
    /** True for consumer webmail providers. */
    readonly is_free_provider?: boolean;
    /** True for domains with a professional MX configuration. */
    readonly is_corporate_email?: boolean;
    /** Who receives the mail; null when nobody or unknown. */
    readonly mx_provider_label?: string | null;
    readonly evidence?: {
      /** Every point of the score; the points add up to risk_score. */
      readonly signals: readonly {
        readonly signal: string;
        readonly points: number;
        readonly detail: string;
      }[];
      readonly lists: readonly {
        readonly feed: string;
        /** The name on the list: the domain or a parent of it. */
        readonly entry: string;
        /** Since when the list names it, as far as is known. */
        readonly since: string | null;
      }[];
      readonly dns: {
        readonly state: 'mx' | 'null_mx' | 'implicit_mx' | 'no_mail' | 'nxdomain' | 'unknown' | 'not_asked';
        readonly mx: readonly string[];
        readonly stale: boolean;
      };
      /** Mail hosts that the domain shares with listed ones. Absent where there are none. */
      readonly graph?: readonly {
        readonly host: string;
        readonly addresses: readonly string[];
        /** How many listed disposable domains it also receives for. */
        readonly listed_guests: number;
        /** Some of them; at most 50 in one answer. */
        readonly guests: readonly string[];
      }[];
      /** Which version of the lists this was judged by. */
      readonly snapshot: string;
    };
    /** DNS did not answer in time: judged by name and lists alone. */
    readonly degraded?: 'dns';
    /** The name is not a valid domain. */
    readonly error?: 'validation_error';
    /** What exactly is wrong with it. */
    readonly detail?: string;
  }[];
  /** Number of results. */
  readonly count: number;
}

export const isDomainRisks: Check = /* @__PURE__ */ object({
  results: array(object({
    domain: string,
    risk_score: optional(integer(0, 100)),
    reason: optional(either(literal('safe'), literal('disposable'), literal('undeliverable'), literal('role_account'))),
    is_free_provider: optional(boolean),
    is_corporate_email: optional(boolean),
    mx_provider_label: optional(either(string, nothing)),
    evidence: optional(object({
      signals: array(object({
        signal: string,
        points: integer(),
        detail: string,
      })),
      lists: array(object({
        feed: string,
        entry: string,
        since: either(string, nothing),
      })),
      dns: object({
        state: either(literal('mx'), literal('null_mx'), literal('implicit_mx'), literal('no_mail'), literal('nxdomain'), literal('unknown'), literal('not_asked')),
        mx: array(string),
        stale: boolean,
      }),
      graph: optional(array(object({
        host: string,
        addresses: array(string),
        listed_guests: integer(),
        guests: array(string),
      }))),
      snapshot: string,
    })),
    degraded: optional(either(literal('dns'))),
    error: optional(either(literal('validation_error'))),
    detail: optional(string),
  })),
  count: integer(),
});

export interface Changes {
  readonly changes: readonly {
    readonly domain: string;
    /** `flagged`: the lists alone give it, and all below it, 80 or more now; `cleared`: no longer, or an operator allows it. In a copy, of a domain and its parents the change that came last decides. */
    readonly change: 'flagged' | 'cleared';
    readonly at: string;
    /** The lists that name it, or did. */
    readonly feeds: readonly string[];
  }[];
  /** Send it as `since` next time. */
  readonly cursor: string;
  /** Whether more changes wait behind these. */
  readonly more: boolean;
}

export const isChanges: Check = /* @__PURE__ */ object({
  changes: array(object({
    domain: string,
    change: either(literal('flagged'), literal('cleared')),
    at: string,
    feeds: array(string),
  })),
  cursor: string,
  more: boolean,
});
