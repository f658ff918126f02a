/** What operators ask and do about the lists: the paths below `/admin/feeds`. */

import { Type } from 'typebox';
import { MOST_NAMES_BODY, SeenBody, SeenVersionBody } from './bodies.ts';
import type { feedEndpoints } from './endpoints/feeds.ts';
import type { Parameter, Route } from './routes.ts';
import type { RouteOf } from './rows-of-operators.ts';
import { FeedDecisionSchema, FeedsSchema, FeedVersionSchema } from './schemas-of-feeds.ts';

export type FeedRows = ReturnType<typeof feedEndpoints>;

const FEED: Parameter = {
  name: 'feed',
  in: 'path',
  required: true,
  description: 'The name of a list, as `GET /admin/feeds` has it.',
  schema: Type.String({ minLength: 1, examples: ['castle'] }),
};

export function feedRoutes(row: RouteOf, feeds: FeedRows): Route[] {
  return [
    row({
      at: ['GET', '/admin/feeds'],
      says: [
        'listFeeds',
        'List feeds',
        'The lists in use: when each was last checked and changed, and what went wrong.',
      ],
      answer: FeedsSchema,
      work: feeds.list,
    }),
    row({
      at: ['POST', '/admin/feeds/{feed}/rollback'],
      says: [
        'rollBackFeed',
        'Roll back a list',
        'To the version before the one in use. The last three are kept; before them comes the installed one, or none. Updates leave the list alone until this is undone. Servers follow within a minute.',
      ],
      body: SeenVersionBody,
      answer: FeedVersionSchema,
      parameters: [FEED],
      refusals: [404],
      work: feeds.rollBack,
    }),
    row({
      at: ['POST', '/admin/feeds/{feed}/return'],
      says: ['returnFeed', 'Undo a rollback', 'To the next newer version that is kept.'],
      body: SeenVersionBody,
      answer: FeedVersionSchema,
      parameters: [FEED],
      refusals: [404],
      work: feeds.goForth,
    }),
    ...decisionRoutes(row, feeds),
  ];
}

/** What to do with a version that is held back. */
function decisionRoutes(row: RouteOf, feeds: FeedRows): Route[] {
  return [
    row({
      at: ['POST', '/admin/feeds/{feed}/approve'],
      says: [
        'approveFeed',
        'Approve a version that is held back',
        'It may flag the domains that wait, which you send: refused with 422 where they no longer wait, since others do or another operator has decided. The next update takes it, which a service that updates by itself begins within two minutes. A list that was rolled back is not approved: no update would take it.',
      ],
      body: SeenBody,
      mostBody: MOST_NAMES_BODY,
      answer: FeedDecisionSchema,
      parameters: [FEED],
      refusals: [404],
      work: feeds.approve,
    }),
    row({
      at: ['POST', '/admin/feeds/{feed}/reject'],
      says: [
        'rejectFeed',
        'Reject a version that is held back',
        'A version that flags any of these domains is refused from now on, without asking again. Send the domains that wait: refused with 422 where they no longer wait, since others do or another operator has decided. Approving takes that back.',
      ],
      body: SeenBody,
      mostBody: MOST_NAMES_BODY,
      answer: FeedDecisionSchema,
      parameters: [FEED],
      refusals: [404],
      work: feeds.reject,
    }),
  ];
}
