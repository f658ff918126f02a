/** The page around the views: where one is, where one can go, light or dark. */

import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { isOperatorPath } from './operator-path.ts';
import { Brand, Footer, ThemeButton } from './parts/frame.tsx';
import { lazily } from './parts/lazy-view.tsx';
import { Notice } from './parts/notice.tsx';
import { Session } from './parts/sign-in.tsx';
import { route } from './route.ts';
import { departures } from './session.ts';
import { useShared } from './shared.ts';
import { takesFocus } from './shortcut.ts';
import { comeBack } from './sign-in.ts';
import { LookUp } from './views/lookup.tsx';
import { NotFound } from './views/not-found.tsx';
import { SignInView } from './views/sign-in.tsx';
import { Welcome } from './views/welcome.tsx';

interface ViewRow {
  readonly path: string;
  readonly name: string;
  readonly View: () => preact.JSX.Element;
  /** The addresses that it is for, where that is not its path alone. */
  isFor?(path: readonly string[]): boolean;
}

const Top = lazily('the view', async () => (await import('./views/top.tsx')).Top);
const Quota = lazily('the view', async () => (await import('./views/quota.tsx')).Quota);
const Operator = lazily('the view', async () => (await import('./views/operator.tsx')).Operator);
const Docs = lazily('the view', async () => (await import('./views/docs.tsx')).Docs);

const VIEWS: readonly ViewRow[] = [
  { path: '', name: 'Look up', View: LookUp, isFor: isLookUpPath },
  { path: 'top', name: 'Top domains', View: Top },
  { path: 'quota', name: 'Quota', View: Quota },
  { path: 'operator', name: 'Operator', View: Operator, isFor: isOperatorPath },
  { path: 'docs', name: 'Docs', View: Docs },
];
/** Not in the menu: only links lead there. */
const LINKED: readonly ViewRow[] = [
  {
    path: 'welcome',
    name: 'Welcome',
    View: Welcome,
    isFor: ([first, ...rest]) => first === 'welcome' && rest.length <= 1,
  },
  { path: 'sign-in', name: 'Sign in', View: SignInView },
];
const NOT_FOUND: ViewRow = { path: '?', name: 'Page not found', View: NotFound };

function isLookUpPath([first, second, ...rest]: readonly string[]): boolean {
  return rest.length === 0 && (first === 'd' ? !!second : first === '' && second === undefined);
}

function viewOf(path: readonly string[]): ViewRow {
  const isFor = (view: ViewRow) =>
    view.isFor ? view.isFor(path) : path.length === 1 && path[0] === view.path;
  return [...VIEWS, ...LINKED].find(isFor) ?? NOT_FOUND;
}

void comeBack();

export function App() {
  const path = useShared(route);
  const visit = useShared(departures);
  const current = viewOf(path);
  const domain = current.path === '' ? path[1] : undefined;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  useEffect(() => {
    document.title = `${domain ?? current.name} · domain-risk`;
    const isAsking =
      domain !== undefined && document.activeElement?.matches('.ask :is(textarea, input, button)');
    const heading = domain === undefined ? 'h1' : '#result-title';
    if (!takesFocus() && !isFirst.current && !isAsking)
      main.current?.querySelector<HTMLElement>(heading)?.focus();
    isFirst.current = false;
  }, [current, domain, visit]);

  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of the page, but the address holds the view */}
      <a
        class="skip"
        href="#main"
        onClick={event => {
          event.preventDefault();
          main.current?.querySelector<HTMLElement>('h1')?.focus();
        }}
      >
        Skip to content
      </a>
      <Header current={current.path} />
      <main id="main" ref={main}>
        <Boundary key={`${current.path} ${visit}`} View={current.View} />
      </main>
      <Footer />
    </>
  );
}

function Header({ current }: { current: string }) {
  return (
    <header class="top">
      <Brand href="#/" />
      <nav aria-label="Main">
        <ul>
          {VIEWS.map(({ path, name }) => (
            <li key={path}>
              <a href={`#/${path}`} aria-current={path === current ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Session href="#/sign-in" />
      <ThemeButton />
    </header>
  );
}

/** A view that fails takes neither the page nor what was typed with it. */
function Boundary({ View }: { View: () => preact.JSX.Element }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return <View />;
  return (
    <>
      <h1 tabIndex={-1}>This view failed</h1>
      <Notice tone="error" title="Something in this page is wrong">
        <p>It is a fault of the page, not yours. What you typed is still there.</p>
        <button type="button" class="button" onClick={reset}>
          Show it again
        </button>
      </Notice>
    </>
  );
}
