/** What callers and operators see of the lists: schemas, as in schemas.ts. */

import { Type } from 'typebox';
import { Moment, nullable, words } from './schemas.ts';

const DroppedSchema = Type.Object(
  {
    malformed: Type.Integer(),
    suffix: Type.Integer({
      description: 'Top-level domains and public suffixes: they would cover strangers.',
    }),
    duplicate: Type.Integer(),
    protected: Type.Integer({ description: 'Well-known names that no list may flag.' }),
    special_use: Type.Integer(),
  },
  { description: 'How many entries of the list do not count, and why.' },
);

const Next = nullable(
  Type.Object(
    { version: nullable(Type.String()), names: nullable(Type.Integer()), updated_at: nullable(Moment) },
    {
      description:
        'The version in the store, where this server has not followed it yet; its `version` is null where that is the installed one, or none.',
    },
  ),
);

const VERSIONS = {
  can_roll_back: Type.Boolean({ description: 'Whether there is a version before the one in use.' }),
  held: Type.Boolean({ description: 'Rolled back: updates leave it alone until that is undone.' }),
  digest: nullable(
    Type.String({ description: 'Of the version in the store, to roll back from; null where there is none.' }),
  ),
  next: Next,
};

const Waiting = Type.Array(Type.String(), {
  description:
    'Domains that a version which is held back would flag though they were asked here and safe for days: approve or reject it.',
});

const RejectedInUse = Type.Array(Type.String(), {
  description:
    'Domains that an operator rejected and the version in use has all the same (of a list that clears domains: leaves out): take another version, or allow them by an override.',
});

export const FeedVersionSchema = Type.Object(
  {
    feed: Type.String(),
    version: nullable(Type.String({ description: 'In use now; null is the installed one, or none.' })),
    names: nullable(Type.Integer()),
    updated_at: nullable(Moment),
    held: VERSIONS.held,
  },
  { title: 'FeedVersion' },
);

export const FeedDecisionSchema = Type.Object(
  {
    feed: Type.String(),
    approved: Type.Boolean(),
    domains: Type.Array(Type.String(), { description: 'Those that were decided about.' }),
  },
  { title: 'FeedDecision' },
);

export const FeedsSchema = Type.Object(
  {
    snapshot: Type.String(),
    domains: Type.Integer(),
    panel: Type.Integer({
      description:
        'Widely used domains that only a verified list can flag; 0 before the first update of a popularity list.',
    }),
    freshness: Type.Object({
      status: words(['fresh', 'stale', 'never'], {
        description: '`stale`: no list was checked for more than 3 days.',
      }),
      checked_at: nullable(Moment),
      failing: Type.Array(Type.String(), { description: 'Lists whose last try did not go well.' }),
    }),
    feeds: Type.Array(
      Type.Object({
        feed: Type.String(),
        kind: Type.String({ description: 'disposable, free, relay, academic, popular or protected.' }),
        family: Type.String({ description: 'Whose word it is: verified, telemetry or broad.' }),
        verified: Type.Boolean(),
        licence: Type.String(),
        origin: Type.String(),
        own: Type.Boolean({ description: 'An operator added it with `feeds add`.' }),
        version: Type.String(),
        names: Type.Integer(),
        dropped: DroppedSchema,
        updated_at: nullable(
          Type.String({ format: 'date-time', description: 'Last changed; null as installed.' }),
        ),
        tried_at: nullable(Moment),
        checked_at: nullable(
          Type.String({
            format: 'date-time',
            description: 'Last fetched and found plausible, with or without news.',
          }),
        ),
        age_seconds: nullable(Type.Integer({ description: 'Time since then.' })),
        added: Type.Integer({ description: 'Names that the last change brought.' }),
        removed: Type.Integer({ description: 'Names that it took away.' }),
        problem: nullable(Type.String({ description: 'Why the last try failed or was refused.' })),
        fallback: nullable(
          Type.String({
            description:
              'Where it was last read because its own address failed (the npm package of the same list), and why.',
          }),
        ),
        waiting: Waiting,
        rejected_in_use: RejectedInUse,
        ...VERSIONS,
      }),
    ),
    missing: Type.Array(
      Type.Object({
        ...{ feed: Type.String(), tried_at: nullable(Moment), problem: nullable(Type.String()) },
        waiting: Waiting,
        rejected_in_use: RejectedInUse,
        ...VERSIONS,
      }),
      {
        description:
          'Lists of which no version is in use: they could not be fetched, or were rolled back to nothing.',
      },
    ),
  },
  { title: 'Feeds' },
);

export const ChangesSchema = Type.Object(
  {
    changes: Type.Array(
      Type.Object({
        domain: Type.String(),
        change: words(['flagged', 'cleared'], {
          description:
            '`flagged`: the lists alone give it, and all below it, 80 or more now; `cleared`: no longer, or an operator allows it. In a copy, of a domain and its parents the change that came last decides.',
        }),
        at: Moment,
        feeds: Type.Array(Type.String(), { description: 'The lists that name it, or did.' }),
      }),
    ),
    cursor: Type.String({ description: 'Send it as `since` next time.' }),
    more: Type.Boolean({ description: 'Whether more changes wait behind these.' }),
  },
  { title: 'Changes' },
);
