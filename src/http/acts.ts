/** What operators ask and do over HTTP: each endpoint below `/admin` with its body and its answer. */

import type { Type } from 'typebox';
import type { Actor } from '../core/audit.ts';
import type { Catalog } from '../core/catalog.ts';
import { parseSegment } from '../core/domain.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Checked } from '../core/origin.ts';
import type { Clock, Store } from '../core/ports.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { parseHost } from '../core/typed.ts';
import type { Operate, Problem } from '../operate.ts';
import {
  decisionFrom,
  KeyBody,
  limitsFrom,
  NewKeyBody,
  NoBody,
  OverrideBody,
  RotationBody,
  readBody,
} from './bodies.ts';
import { readCount } from './query.ts';
import {
  FEWEST_SHOWN,
  MOST_SHOWN,
  shownAct,
  shownFeeds,
  shownHost,
  shownKey,
  shownOverride,
} from './shown.ts';

/** What was asked, by whom. */
export interface Wish {
  /** The raw segment in the place of `:name`, still encoded. */
  readonly segment: string;
  readonly query: string;
  /** Parsed JSON; undefined where none was sent. */
  readonly body: unknown;
  readonly actor: Actor;
}

/** Without a body: 204. */
export interface Done {
  readonly status: 200 | 201 | 204;
  readonly body?: object;
}

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:name` stands for one segment. */
  readonly path: string;
  readonly handle: (wish: Wish) => Promise<Done | Refusal>;
}

const DEFAULT_ACTS = 100;
const MOST_ACTS_SHOWN = 1_000;

export function createEndpoints(parts: {
  operate: Operate;
  store: Store;
  catalog: () => Catalog;
  clock: Clock;
}): Endpoint[] {
  const { operate, store, catalog, clock } = parts;

  async function keyAnswer(result: KeyRecord | Problem): Promise<Done | Refusal> {
    if ('problem' in result) return refusalOf(result);
    return ok(shownKey(result, await operate.usedBy(result)));
  }

  async function createKey({ actor }: Wish, body: Type.Static<typeof NewKeyBody>): Promise<Done | Refusal> {
    const limits = limitsFrom(body, clock());
    if (!limits.ok) return invalid(limits.problem);
    const { key, secret } = await operate.createKey({ name: body.name, ...limits.value }, actor);
    return { status: 201, body: shownKey(key, 0, secret) };
  }

  async function updateKey(wish: Wish, body: Type.Static<typeof KeyBody>): Promise<Done | Refusal> {
    const limits = limitsFrom(body, clock());
    if (!limits.ok) return invalid(limits.problem);
    return keyAnswer(await operate.updateKey(wish.segment, limits.value, wish.actor));
  }

  async function rotateKey(wish: Wish, body: Type.Static<typeof RotationBody>): Promise<Done | Refusal> {
    const overlap = (body.overlap_seconds ?? 0) * 1_000;
    const made = await operate.rotateKey(wish.segment, overlap, wish.actor);
    if ('problem' in made) return refusalOf(made);
    return ok(shownKey(made.key, await operate.usedBy(made.key), made.secret));
  }

  async function setOverride(wish: Wish, body: Type.Static<typeof OverrideBody>): Promise<Done | Refusal> {
    const parsed = parseSegment(wish.segment);
    if (!parsed.ok) return invalid(parsed.detail);
    const decision = decisionFrom(body, clock());
    if (!decision.ok) return invalid(decision.problem);
    const { actor } = wish;
    const wanted = { domain: parsed.domain, author: actor.who, ...decision.value };
    return ok(shownOverride(await operate.setOverride(wanted, actor)));
  }

  async function removeOverride({ segment, actor }: Wish): Promise<Done | Refusal> {
    const parsed = parseSegment(segment);
    if (!parsed.ok) return invalid(parsed.detail);
    const problem = await operate.removeOverride(parsed.domain, actor);
    return problem ? refusalOf(problem) : { status: 204 };
  }

  async function setForgotten({ segment, actor }: Wish, forgotten: boolean): Promise<Done | Refusal> {
    const host = hostFrom(segment);
    if (!host.ok) return invalid(`the host ${host.problem}`);
    const { forgetHost, relearnHost } = operate;
    const problem = await (forgotten ? forgetHost : relearnHost)(host.value, actor);
    return problem ? refusalOf(problem) : ok({ host: host.value, forgotten });
  }

  async function audit({ query }: Wish): Promise<Done | Refusal> {
    const limit = readCount(query, 'limit', MOST_ACTS_SHOWN) ?? DEFAULT_ACTS;
    if (typeof limit === 'object') return limit;
    return ok({ acts: (await store.audit(limit)).map(shownAct) });
  }

  return [
    read('/admin/keys', async () => {
      const keys = await operate.listKeys();
      return ok({ keys: keys.map(({ key, used, days }) => ({ ...shownKey(key, used), days })) });
    }),
    change('POST', '/admin/keys', NewKeyBody, createKey),
    change('PATCH', '/admin/keys/:name', KeyBody, updateKey),
    change('POST', '/admin/keys/:name/rotate', RotationBody, rotateKey),
    change('POST', '/admin/keys/:name/revoke', NoBody, async ({ segment, actor }) =>
      keyAnswer(await operate.revokeKey(segment, actor)),
    ),
    read('/admin/overrides', async () =>
      ok({ overrides: (await store.listOverrides()).overrides.map(shownOverride) }),
    ),
    change('PUT', '/admin/overrides/:name', OverrideBody, setOverride),
    change('DELETE', '/admin/overrides/:name', NoBody, removeOverride),
    read('/admin/feeds', async () => ok(shownFeeds(catalog()))),
    read('/admin/infra', async () => {
      const hosts = await store.listHosts(FEWEST_SHOWN, MOST_SHOWN);
      return ok({ hosts: hosts.map(host => shownHost(host, catalog())) });
    }),
    change('POST', '/admin/infra/:name/forget', NoBody, wish => setForgotten(wish, true)),
    change('POST', '/admin/infra/:name/relearn', NoBody, wish => setForgotten(wish, false)),
    read('/admin/audit', audit),
  ];
}

function read(path: string, handle: Endpoint['handle']): Endpoint {
  return { method: 'GET', path, handle };
}

function change<T extends Type.TObject>(
  method: Exclude<Endpoint['method'], 'GET'>,
  path: string,
  schema: T,
  work: (wish: Wish, body: Type.Static<T>) => Promise<Done | Refusal>,
): Endpoint {
  return {
    method,
    path,
    async handle(wish) {
      const body = readBody(schema, wish.body ?? {});
      return body.ok ? work(wish, body.value) : invalid(body.problem);
    },
  };
}

const ok = (body: object): Done => ({ status: 200, body });
const invalid = (detail: string) => refuse('validation_error', detail);

function refusalOf({ problem, detail }: Problem): Refusal {
  if (problem === 'not_found') return refuse('not_found', detail);
  return problem === 'contended' ? refuse('overloaded', detail, 1) : invalid(detail);
}

function hostFrom(segment: string): Checked<string> {
  try {
    return parseHost(decodeURIComponent(segment));
  } catch {
    return { ok: false, problem: 'is not valid percent-encoding' };
  }
}
