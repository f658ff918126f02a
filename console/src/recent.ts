/** The last lookups in this browser: names and scores only, never a key; for as long as the person wants it. */

import type { DomainRisk } from './api.ts';
import { isBoolean, kept } from './kept.ts';
import { whenForgotten } from './session.ts';

export interface Recent {
  readonly domain: string;
  readonly score: number;
}

const MOST_RECENT = 8;
const isRecent = (value: unknown): value is Recent => {
  const { domain, score } = (value ?? {}) as Partial<Recent>;
  return typeof domain === 'string' && typeof score === 'number';
};

export const keepsRecent = kept('domain-risk.keeps-recent', true, isBoolean);
export const recent = kept<readonly Recent[]>(
  'domain-risk.recent',
  [],
  (value): value is readonly Recent[] => Array.isArray(value) && value.every(isRecent),
);
keepsRecent.watch(isOn => {
  if (!isOn) recent.set([]);
});

whenForgotten(() => recent.set([]));

export function remember({ domain, risk_score }: DomainRisk): void {
  if (!keepsRecent.get()) return;
  const others = recent.get().filter(one => one.domain !== domain);
  recent.set([{ domain, score: risk_score }, ...others].slice(0, MOST_RECENT));
}
