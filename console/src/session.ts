/** What a person typed in to be let in: in memory, and in this tab's session storage only where they asked for it. */

import { type Shared, share } from './shared.ts';

export interface Typed {
  readonly text: string;
  /** Kept for this tab until it is closed. */
  readonly remembered: boolean;
}

const storedText = (name: string): string | null => {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
};

function store(name: string, { text, remembered }: Typed): void {
  try {
    if (remembered) sessionStorage.setItem(name, text);
    else sessionStorage.removeItem(name);
  } catch {
    // A browser that forbids storage: then it stays in memory.
  }
}

function typed(name: string): Shared<Typed> {
  const before = storedText(name);
  const shared = share<Typed>({ text: before ?? '', remembered: before !== null });
  shared.watch(next => store(name, next));
  return shared;
}

export const apiKey = typed('domain-risk.key');
export const adminToken = typed('domain-risk.token');
export const operatorName = typed('domain-risk.operator');
adminToken.watch(({ remembered }) => operatorName.set({ ...operatorName.get(), remembered }));

/** As `domain-risk keys list` shows it: enough to tell keys apart. */
export function masked(secret: string): string {
  return secret.length > 16 ? `${secret.slice(0, 8)}${'•'.repeat(8)}${secret.slice(-4)}` : '•'.repeat(12);
}

/** The shape only: whether it is valid the service knows. */
export const looksLikeKey = (text: string) => /^drk_[0-9A-Za-z]{49}$/.test(text);
