/** The table of signals: what each fact is worth, and the reason that it gives. */

export const REASONS = ['safe', 'disposable', 'undeliverable', 'role_account'] as const;
export type Reason = (typeof REASONS)[number];

/** Bands: safe below 50, role_account, new listings and disposable exchanges beside others from 50, the rest from 80, 100 when confirmed. */
export const SIGNALS = {
  operator_allow: { points: 0, reason: 'safe' },
  operator_deny: { points: 100, reason: 'disposable' },
  operator_role: { points: 60, reason: 'role_account' },

  verified_list: { points: 100, reason: 'disposable' },
  two_families: { points: 100, reason: 'disposable' },
  one_family: { points: 90, reason: 'disposable' },
  // On top of one_family: being below a host that gives subdomains away says less than being named.
  own_listing: { points: 5, reason: 'disposable' },
  // One family's word that is not a month old, against a name that looks like a company: a warning.
  new_listing: { points: 60, reason: 'disposable' },
  // Many people use it, and nobody who looked at it calls it disposable.
  popular_listing: { points: 45, reason: 'safe' },
  // What kind of a listed name it is: says nothing about how sure that is.
  subdomain_farm: { points: 0, reason: 'disposable' },
  typo_domain: { points: 0, reason: 'disposable' },
  dead_name: { points: 0, reason: 'disposable' },

  special_use: { points: 95, reason: 'undeliverable' },
  nxdomain: { points: 90, reason: 'undeliverable' },
  null_mx: { points: 90, reason: 'undeliverable' },
  no_mail_host: { points: 85, reason: 'undeliverable' },
  parked: { points: 80, reason: 'undeliverable' },

  // Hosts that people put into the table by hand: the top of the band 80 to 89.
  disposable_hosts: { points: 89, reason: 'disposable' },
  // Beside others that senders try first, if these exist: a warning.
  disposable_exchange: { points: 60, reason: 'disposable' },
  // Learned, but most that were seen there are unlisted: a hoster may have such guests, of whom more are looked up.
  few_listed_guests: { points: 60, reason: 'disposable' },
  // Learned, but not by the surest alone, and the domain is established there: whoever writes a list or has domains of his own
  // can do that to a hoster.
  earlier_guest: { points: 60, reason: 'disposable' },
  // Hosts that were learned from their guests; by address is one step further away.
  learned_hosts: { points: 84, reason: 'disposable' },
  listed_exchange: { points: 82, reason: 'disposable' },
  learned_addresses: { points: 80, reason: 'disposable' },
  listed_siblings: { points: 80, reason: 'disposable' },

  role_word: { points: 60, reason: 'role_account' },

  security_gateway: { points: 0, reason: 'safe' },
  business_platform: { points: 3, reason: 'safe' },
  consumer_webmail: { points: 5, reason: 'safe' },
  mailbox_provider: { points: 5, reason: 'safe' },
  hosting: { points: 10, reason: 'safe' },
  self_hosted: { points: 10, reason: 'safe' },
  third_party: { points: 15, reason: 'safe' },
  // On top of self_hosted and third_party: nobody takes over when the one host is down.
  single_exchange: { points: 5, reason: 'safe' },
  transactional: { points: 25, reason: 'safe' },
  privacy_relay: { points: 30, reason: 'safe' },
  forwarding: { points: 30, reason: 'safe' },
  implicit_mx: { points: 35, reason: 'safe' },
  mail_unknown: { points: 40, reason: 'safe' },
} as const satisfies Record<string, { readonly points: number; readonly reason: Reason }>;

export type SignalName = keyof typeof SIGNALS;
