/** The reference as a whole: what is where, the visitor's key, and every operation. */

import reference from 'virtual:reference';
import type { ComponentChildren } from 'preact';
import { Brand, Elsewhere, Footer, ThemeButton } from '../parts/frame.tsx';
import { Session, SignIn } from '../parts/sign-in.tsx';
import { adminToken, apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { InTurn, whole } from './in-turn.tsx';
import { Members, OperationCard } from './operation.tsx';
import type { Section } from './shown.ts';
import { Words } from './words.tsx';

const TITLES = { callers: 'API', operators: 'Operator API' } as const;

export function Page() {
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <Brand href="/" />
        <nav aria-label="Main">
          <ul>
            <li>
              <a href="/">Console</a>
            </li>
            <li>
              <a href="/#/docs">Getting started</a>
            </li>
            <li>
              <a href="/docs" aria-current="page">
                API reference
              </a>
            </li>
          </ul>
        </nav>
        <Session href="#sign-in" />
        <ThemeButton />
      </header>
      <div class="reference">
        <Contents />
        <Main>
          <div class="intro">
            <h1>API reference</h1>
            {reference.description.map(text => (
              <p key={text}>
                <Words text={text} />
              </p>
            ))}
            <p class="hint">
              Version {reference.version} · Base URL <code>{location.origin}</code> ·{' '}
              <Elsewhere href="/openapi.json">OpenAPI document</Elsewhere>
            </p>
          </div>
          <Filling />
          {reference.sections.map(section => (
            <SectionPart key={section.name} section={section} />
          ))}
          <Errors />
        </Main>
      </div>
      <Footer />
    </>
  );
}

function Main({ children }: { children: ComponentChildren }) {
  const isWhole = useShared(whole);
  return (
    <main id="content" tabIndex={-1} aria-busy={!isWhole}>
      {children}
    </main>
  );
}

/** Open where there is room for it. */
function Contents() {
  return (
    <nav class="contents" aria-label="Contents">
      <details open={matchMedia('(min-width: 64rem)').matches}>
        <summary>Contents</summary>
        {reference.sections.map(({ name, operations }) => (
          <div key={name}>
            <a class="contents-title" href={`#${name}`}>
              {TITLES[name]}
            </a>
            <ul>
              {operations.map(({ id, summary }) => (
                <li key={id}>
                  <a href={`#${id}`}>{summary}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <a class="contents-title" href="#errors">
          Errors
        </a>
      </details>
    </nav>
  );
}

/** The form, until there is both a key and a token to fill in. */
function Filling() {
  const { text: key } = useShared(apiKey);
  const { text: token } = useShared(adminToken);
  return (
    <div id="sign-in">
      {(key === '' || token === '') && (
        <SignIn>
          <p>
            Sign in to have your key or token in every sample below: masked on the screen, complete when you
            copy.
          </p>
        </SignIn>
      )}
    </div>
  );
}

function SectionPart({ section }: { section: Section }) {
  const { name, description, operations } = section;
  const { text: secret } = useShared(name === 'operators' ? adminToken : apiKey);
  return (
    <>
      <div class="intro section" id={name}>
        <h2>{TITLES[name]}</h2>
        <p>
          <Words text={description} />
        </p>
      </div>
      {operations.map(operation => (
        <InTurn key={operation.id}>
          <OperationCard operation={operation} secret={secret} />
        </InTurn>
      ))}
    </>
  );
}

function Errors() {
  return (
    <section class="card" id="errors" aria-labelledby="errors-title">
      <h2 id="errors-title">Errors</h2>
      <p>
        Every error has this shape, whatever its status. On 429, 5xx or a timeout, let the sign-up through.
      </p>
      <Members members={reference.errorFields} />
    </section>
  );
}
