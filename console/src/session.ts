/** Who is signed in: in memory, and in this tab's session storage only where they asked for it; and what goes with them. */

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

/** How often somebody left: views that hold something of a person begin anew with it. */
export const departures = share(0);

const belongings = new Set<() => void>();
export const whenForgotten = (forget: () => void) => void belongings.add(forget);

/** What belongs to whoever is signed in. */
export function personal<T>(first: T): Shared<T> {
  const shared = share(first);
  whenForgotten(() => shared.set(first));
  return shared;
}

/** What one person typed, asked and was told is not for the next one. */
export function forgetPerson(): void {
  for (const forget of belongings) forget();
  departures.set(departures.get() + 1);
}

let keyBefore = apiKey.get().text;
apiKey.watch(({ text }) => {
  if (text !== '' && keyBefore !== '' && text !== keyBefore) forgetPerson();
  keyBefore = text;
});

/** As `domain-risk keys list` shows it: enough to tell keys apart. */
export function masked(secret: string): string {
  return secret.length > 16 ? `${secret.slice(0, 8)}${'•'.repeat(8)}${secret.slice(-4)}` : '•'.repeat(12);
}

/** The shape only: whether it is valid the service knows. */
export const looksLikeKey = (text: string) => /^drk_[0-9A-Za-z]{49}$/.test(text);
