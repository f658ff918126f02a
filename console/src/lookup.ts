/** Looking up one domain: each has a page of its own, and what was paid for is shown again without a call. */

import type { Answer, DomainRisk, Result } from './api.ts';
import { askDomain } from './calls.ts';
import { domainIn } from './domain-in.ts';
import { overruled } from './door.ts';
import { noteLists } from './lists-in-use.ts';
import { readNames } from './names.ts';
import { remember } from './recent.ts';
import { domainHere, domainHref, renameHere, route } from './route.ts';
import { run, startRun } from './run.ts';
import { apiKey, looksLikeKey, personal, whenForgotten } from './session.ts';

export interface Lookup {
  readonly domain: string;
  readonly isWaiting: boolean;
  /** Not there and not waiting: there is no key to ask with. */
  readonly result?: Result<DomainRisk>;
}

export const typedNames = personal('');
export const lookup = personal<Lookup | undefined>(undefined);
let stop = new AbortController();

/** A page that stays open for weeks must not keep all that it was ever asked. */
const MOST_ANSWERS = 200;
const answers = new Map<string, Answer<DomainRisk>>();

function keep(answer: Answer<DomainRisk>): void {
  answers.delete(answer.data.domain);
  answers.set(answer.data.domain, answer);
  if (answers.size > MOST_ANSWERS) answers.delete(answers.keys().next().value!);
}

whenForgotten(() => {
  stop.abort();
  stop = new AbortController();
  answers.clear();
  if (domainHere() !== undefined) renameHere('#/');
});

const isTrue = (result: Result<DomainRisk> | undefined) => !result?.ok || result.at > overruled.get();

function keptAnswer(domain: string): Result<DomainRisk> | undefined {
  const found =
    answers.get(domain) ??
    run.get()?.rows.find(({ result }) => result?.ok && result.data.domain === domain)?.result;
  return isTrue(found) ? found : undefined;
}

/** Asks, whatever is known already, and shows its page. */
export function lookUp(domain: string, secret: string): void {
  const name = domain.toWellFormed();
  void ask(name, secret);
  location.hash = domainHref(name);
}

async function ask(domain: string, secret: string): Promise<void> {
  stop.abort();
  const mine = new AbortController();
  stop = mine;
  lookup.set({ domain, isWaiting: true });
  const result = await askDomain(domain, secret, mine.signal);
  if (stop !== mine) return;
  if (!result.ok) return lookup.set({ domain, isWaiting: false, result });
  const { data } = result;
  keep(result);
  remember(data);
  if (data.evidence) void noteLists(data.evidence.snapshot);
  lookup.set({ domain: data.domain, isWaiting: false, result });
  if (domainHere() === domain && domain !== data.domain) renameHere(domainHref(data.domain));
}

/** By a link, the way back, or a reload: what is known is shown, and what is not is asked where there is a key. */
function arrive(): void {
  const domain = domainHere();
  const shown = lookup.get();
  if (domain === undefined || (shown?.domain === domain && isTrue(shown.result))) return;
  // A link may hold an email address: it stays neither here nor in the history.
  const inside = domainIn(domain);
  if (inside !== undefined && inside !== domain) return renameHere(domainHref(inside));
  if (readNames(typedNames.get()).domains.length < 2) typedNames.set(domain);
  const before = keptAnswer(domain);
  const { text: secret } = apiKey.get();
  if (!before && looksLikeKey(secret)) return void ask(domain, secret);
  stop.abort();
  stop = new AbortController();
  lookup.set({ domain, isWaiting: false, ...(before ? { result: before } : {}) });
}

route.watch(arrive);
arrive();

export function cancelLookup(): void {
  stop.abort();
}

export function lookUpAll(domains: readonly string[], secret: string): void {
  startRun(domains, secret);
  location.hash = '#/';
}
