/** Where the page begins. */

import { render } from 'preact';
import { App } from './app.tsx';

const place = document.getElementById('app');
if (place) render(<App />, place);
