/** What every page of ours has around its content: the name, the switch for light and dark, the links at the end. */

import { useShared } from '../shared.ts';
import { theme, toggleTheme } from '../theme.ts';
import { Icon } from './icon.tsx';

export function Brand({ href }: { href: string }) {
  return (
    <a class="brand" href={href}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <path class="arc" d="M5 22a11 11 0 0 1 22 0" />
        <path class="arc-on" d="M5 22a11 11 0 0 1 15-10.3" />
        <circle cx="16" cy="22" r="3" />
      </svg>
      domain-risk
    </a>
  );
}

export function ThemeButton() {
  const shade = useShared(theme);
  return (
    <button
      type="button"
      class="button plain"
      onClick={toggleTheme}
      aria-label={shade === 'dark' ? 'Switch to the light theme' : 'Switch to the dark theme'}
    >
      <Icon name={shade === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}

/** What an operator switched off, or has at another port. */
const WITHOUT = document.documentElement.dataset.without?.split(' ') ?? [];

/** Another page than this one: in a tab of its own, so that who is signed in here and what they asked stay. */
export function Elsewhere({ href, children }: { href: string; children: string }) {
  if (WITHOUT.includes(href)) return null;
  return (
    <a href={href} target="_blank" rel="noopener">
      {children}
      <span class="hidden"> (new tab)</span>
    </a>
  );
}

export function Footer() {
  return (
    <footer>
      <p>
        <Elsewhere href="/docs">API reference</Elsewhere>
        <Elsewhere href="/openapi.json">OpenAPI document</Elsewhere>
        <Elsewhere href="/readyz">Readiness</Elsewhere>
        <Elsewhere href="/metrics">Metrics</Elsewhere>
      </p>
    </footer>
  );
}
