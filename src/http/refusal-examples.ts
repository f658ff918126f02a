/** Real examples for the OpenAPI document: each refusal of each operation, as the service sends it. */

import { MISSED } from '../core/listing-change.ts';
import { secondsLeft } from '../core/quota.ts';
import { type Refusal, type RefusalCode, refuse } from '../core/refusal.ts';
import { MOST_BODY } from './body.ts';
import { KEY_ID, NOW, QUOTA, USED_UP } from './examples.ts';
import type { OperationId, Refused, Route } from './routes.ts';

const UNDERSCORE =
  'The name holds an underscore: a mail domain has only letters, digits and hyphens in its labels.';
const QUOTA_RULE = 'quota must be a whole number from 0 to 2147483648, or null';
const LIMIT_RULE = 'limit must be a whole number from 1 to 1000';
const HOST_RULE =
  'the host must be a name such as mx.example.com or *.example.com, or an address such as 192.0.2.1';

/** What a 422 says about the value that is wrong most often. */
const INVALID: Readonly<Partial<Record<OperationId, string>>> = {
  getDomain: UNDERSCORE,
  checkEmail: 'There is nothing before the @: send a whole address, or the domain only.',
  getDomains: 'domains must be a list of 1 to 1000 names',
  listTopDomains: LIMIT_RULE,
  getUsage: 'days must be a whole number from 1 to 30',
  listChanges: 'since must be the cursor of an earlier answer',
  createKey: QUOTA_RULE,
  updateKey: QUOTA_RULE,
  rotateKey: `the key ${KEY_ID} is revoked, which cannot be undone: create a new one`,
  revokeKey: '"reason" is not a field of this body; it takes nothing',
  setOverride: 'action must be one of allow, deny, role',
  removeOverride: UNDERSCORE,
  rollBackFeed: 'another version of castle is in use by now: look at it first',
  returnFeed: 'another version of castle is in use by now: look at it first',
  approveFeed: 'other domains of castle wait by now: look at them first',
  rejectFeed: 'other domains of castle wait by now: look at them first',
  ignoreHost: HOST_RULE,
  watchHost: HOST_RULE,
  listActs: LIMIT_RULE,
  getTraffic: 'range must be one of hour, day, week, month',
  addOperator: 'there is an operator named "Ada" already',
  revokeOperator: '"reason" is not a field of this body; it takes nothing',
  listDecisions: 'since must be like 2027-01-31 or 2027-01-31T12:00:00Z',
};

const NO_SUCH_KEY = 'there is no such key';
const NO_SUCH_HOST =
  'nothing is known of mx.example.com; a host that only its own domain has is known by its address';
const MISSING: Readonly<Partial<Record<OperationId, string>>> = {
  updateKey: NO_SUCH_KEY,
  rotateKey: NO_SUCH_KEY,
  revokeKey: NO_SUCH_KEY,
  removeOverride: 'there is no override for partner.example.org',
  rollBackFeed: 'no update of castle is in use',
  returnFeed: 'no newer version of castle is kept',
  approveFeed: 'no version of castle waits',
  rejectFeed: 'no version of castle waits',
  revokeOperator: 'there is no active operator of this name',
  ignoreHost: NO_SUCH_HOST,
  watchHost: NO_SUCH_HOST,
};

const FROM_CALLERS = {
  401: [refuse('unauthorized')],
  403: [refuse('forbidden', 'the origin "https://other.example" is not allowed for this key')],
  429: [
    refuse('quota_exceeded', `quota: ${QUOTA} calls per month, used up`, secondsLeft(USED_UP.month, NOW)),
    refuse('rate_limited', 'limit: 50 calls per second', 1),
  ],
} as const;

/** Every refusal that an operation answers with this status. */
export function refusalsOf(
  { door, mostBody }: Route,
  operation: OperationId,
  status: Refused,
): readonly Refusal[] {
  switch (status) {
    case 401:
      return door === 'operator'
        ? [refuse('unauthorized', 'use the ADMIN_TOKEN of the service or an operator token')]
        : FROM_CALLERS[401];
    case 403:
    case 429:
      return FROM_CALLERS[status];
    case 404:
      return [refuse('not_found', MISSING[operation])];
    case 410:
      return [refuse('gone', MISSED)];
    case 413:
      return [refuse('content_too_large', `at most ${mostBody?.bytes ?? MOST_BODY} bytes`)];
    case 415:
      return [refuse('unsupported_media_type')];
    case 422:
      return [refuse('validation_error', INVALID[operation])];
    case 500:
      return [refuse('internal_error')];
    case 503:
      return [refuse('overloaded', null, 1)];
  }
}

export const METHOD_REFUSAL = refuse('method_not_allowed');

/** What every path may answer, whatever it is asked for. */
export const TRANSPORT_REFUSALS: readonly Refusal[] = [
  refuse('bad_request', 'the request has no Host header'),
  refuse('uri_too_long', 'at most 2048 characters'),
  refuse('headers_too_large', 'at most 8 KiB in all'),
];

/** In a few words, for whoever chooses between examples. */
export const SAID: Readonly<Partial<Record<RefusalCode, string>>> = {
  quota_exceeded: 'The quota is used up',
  rate_limited: 'Too many calls per second',
  bad_request: 'Not valid HTTP',
  uri_too_long: 'The address is too long',
  headers_too_large: 'The headers are too large',
};
