/** Which view is shown: the part of the address after `#`, so that the server never hears of it. */

import { type Shared, share } from './shared.ts';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const read = (): readonly string[] => location.hash.replace(/^#\/?/, '').split('/').map(decoded);

/** `#/operator/keys` is `['operator', 'keys']`, the front is `['']`. */
export const route: Shared<readonly string[]> = share(read());

addEventListener('hashchange', () => route.set(read()));

/** The page of a domain. A half character, as a paste may leave one, cannot be encoded. */
export const domainHref = (domain: string) => `#/d/${encodeURIComponent(domain.toWellFormed())}`;

/** The domain whose page the address is of, also before the browser has told of its change. */
export function domainHere(): string | undefined {
  const [view, domain, ...rest] = read();
  return view === 'd' && domain && rest.length === 0 ? domain : undefined;
}

/** Another name for the same page: the way back does not lead through the old one. */
export function renameHere(href: string): void {
  history.replaceState(null, '', href);
  route.set(read());
}
