/**
 * What a row of the table of routes holds: path, method, door, body, answer, price and handler. The rows themselves are
 * in `routes-of-….ts`, and those of the console's files in `endpoints/console.ts`.
 */

import type { Type } from 'typebox';
import type { BodyLimits } from './body.ts';
import type { Call } from './call.ts';
import { PRICES } from './prices.ts';

export interface Route {
  /** A GET answers HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{…}` stands for one segment. */
  readonly path: string;
  /** What the logs and metrics call it. */
  readonly name: string;
  /** Who may come in. The key is judged by the handler, since that counts; the operator before any body is read. */
  readonly door: 'none' | 'key' | 'operator';
  /** What one answer costs: see prices.ts. */
  readonly price: number;
  /** Answered whatever the load: who watches the service would take a 503 for its death. */
  readonly isProbe?: true;
  /** Of the request; without it no body is read. */
  readonly body?: Type.TObject;
  /** Where it may be larger than others. */
  readonly mostBody?: BodyLimits;
  /** A schema, the media type of a page, or nothing. */
  readonly answer: Type.TSchema | string | undefined;
  /** What the reference says about it; without it, it is not there. */
  readonly reference?: Reference;
  readonly handle: Handle;
}

export type Handle = (call: Call, body: unknown) => void | Promise<void>;

/** What programs call an operation; its examples are in examples.ts under the same name. */
export type OperationId = CallersOperation | OperatorsOperation;
type CallersOperation =
  | 'getDomain'
  | 'listTopDomains'
  | 'getUsage'
  | 'checkEmail'
  | 'getDomains'
  | 'listChanges'
  | 'getFilter';
export type OperatorsOperation =
  | 'listKeys'
  | 'createKey'
  | 'updateKey'
  | 'rotateKey'
  | 'revokeKey'
  | 'listOverrides'
  | 'setOverride'
  | 'removeOverride'
  | 'listFeeds'
  | 'listHosts'
  | 'ignoreHost'
  | 'watchHost'
  | 'listActs'
  | 'rollBackFeed'
  | 'returnFeed'
  | 'approveFeed'
  | 'rejectFeed'
  | 'getTraffic'
  | 'listDecisions'
  | 'listOperators'
  | 'addOperator'
  | 'revokeOperator';

export interface Reference {
  readonly id: OperationId;
  readonly summary: string;
  readonly description: string;
  /** Of an answer that went well, where it is not 200. */
  readonly status?: 201 | 204;
  readonly parameters: readonly Parameter[];
  readonly refusals: readonly Refused[];
  readonly isCounted: boolean;
  /** Only once its body was found to be valid: a 422 is not. */
  readonly isCountedLate?: true;
  /** `Cache-Control` of an answer that went well. */
  readonly caching: string;
  /** Answers carry an ETag and can be asked for by If-None-Match. */
  readonly hasTag?: true;
  /** Without DNS it is answered all the same, and says so in `X-Risk-Degraded`. */
  readonly canDegrade?: true;
}

/** Statuses that an operation names; 405 and what the transport refuses are everywhere. */
export type Refused = 401 | 403 | 404 | 410 | 413 | 415 | 422 | 429 | 500 | 503;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Type.TSchema;
}

/** An answer that is made once for all: a probe, a document. */
export function page(path: string, name: string, answer: string, handle: Handle): Route {
  return { method: 'GET', path, name, door: 'none', price: PRICES.bytes, answer, handle };
}
