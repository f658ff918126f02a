/** Light or dark: the system's choice until the person makes one. */

import { type Shared, share } from './shared.ts';

export type Theme = 'light' | 'dark';
const NAME = 'domain-risk.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | undefined {
  try {
    const text = localStorage.getItem(NAME);
    return text === 'light' || text === 'dark' ? text : undefined;
  } catch {
    return undefined;
  }
}

const current = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

export const theme: Shared<Theme> = share(current());

function show(): void {
  const choice = chosen();
  if (choice) document.documentElement.dataset.theme = choice;
  theme.set(current());
}

system.addEventListener('change', show);
show();

export function toggleTheme(): void {
  const next = theme.get() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // Then it lasts as long as the page.
  }
  theme.set(next);
}
