/** The reference as a whole: what is where, the visitor's key, and every operation. */

import reference from 'virtual:reference';
import { SecretField } from '../parts/field.tsx';
import { Brand, Footer, ThemeButton } from '../parts/frame.tsx';
import { adminToken, apiKey, looksLikeKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { Members, OperationCard } from './operation.tsx';
import type { Section } from './shown.ts';
import { Words } from './words.tsx';

const TITLES = { callers: 'API', operators: 'Operator API' } as const;
/** The shape only, as with keys. */
const looksLikeToken = (text: string) => /^[\x21-\x7e]{32,}$/.test(text);

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
        <ThemeButton />
      </header>
      <div class="reference">
        <Contents />
        <main id="content" tabIndex={-1}>
          <div class="intro">
            <h1>API reference</h1>
            {reference.description.map(text => (
              <p key={text}>
                <Words text={text} />
              </p>
            ))}
            <p class="hint">
              Version {reference.version} · Base URL <code>{location.origin}</code> ·{' '}
              <a href="/openapi.json">OpenAPI document</a>
            </p>
          </div>
          {reference.sections.map(section => (
            <SectionPart key={section.name} section={section} />
          ))}
          <Errors />
        </main>
      </div>
      <Footer />
    </>
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

function SectionPart({ section }: { section: Section }) {
  const { name, description, operations } = section;
  const isOperators = name === 'operators';
  const { text } = useShared(isOperators ? adminToken : apiKey);
  const isFilled = isOperators ? looksLikeToken(text) : looksLikeKey(text);
  return (
    <>
      <div class="intro section" id={name}>
        <h2>{TITLES[name]}</h2>
        <p>
          <Words text={description} />
        </p>
      </div>
      <form class="card" onSubmit={event => event.preventDefault()}>
        {isOperators ? (
          <SecretField label="Admin token" secret={adminToken} hint={hintFor(text, isFilled, 'token')} />
        ) : (
          <SecretField label="API key" secret={apiKey} hint={hintFor(text, isFilled, 'key')} />
        )}
      </form>
      {operations.map(operation => (
        <OperationCard key={operation.id} operation={operation} secret={isFilled ? text : ''} />
      ))}
    </>
  );
}

function hintFor(text: string, isFilled: boolean, what: string): string {
  if (isFilled) return `Your ${what} is in every sample below. It is masked here and complete when you copy.`;
  if (text !== '') return `This ${what} looks incomplete.`;
  return `Enter your ${what} to fill it into the samples. Kept in memory; gone when you close or reload the page.`;
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
