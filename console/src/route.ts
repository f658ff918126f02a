/** Which view is shown: the part of the address after `#`, so that the server never hears of it. */

import { type Shared, share } from './shared.ts';

const read = (): readonly string[] => location.hash.replace(/^#\/?/, '').split('/');

/** `#/operator/keys` is `['operator', 'keys']`, the front is `['']`. */
export const route: Shared<readonly string[]> = share(read());

addEventListener('hashchange', () => route.set(read()));
