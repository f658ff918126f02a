/** Where the reference begins. */

import { render } from 'preact';
import '../shortcut.ts';
import { whole } from './in-turn.tsx';
import { Page } from './page.tsx';

const place = document.getElementById('app');
if (place) render(<Page />, place);

// The browser looked for this part of the page before it was there.
whole.watch(() =>
  requestAnimationFrame(() => document.getElementById(location.hash.slice(1))?.scrollIntoView()),
);
