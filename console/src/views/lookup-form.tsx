/** The form: whatever is typed, pasted, dropped or uploaded becomes domains before a call is spent. */

import { useMemo, useRef, useState } from 'preact/hooks';
import { lookUp, lookUpAll, typedNames } from '../lookup.ts';
import { MOST_NAMES, type Names, readNames } from '../names.ts';
import { Field, SecretField } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { RecentLookups } from '../parts/recent.tsx';
import { SENT_ONCE } from '../parts/sent-once.ts';
import { apiKey, looksLikeKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { type Lacking, NamesHint } from './names-hint.tsx';

const EXAMPLES = ['gmail.com', 'mailinator.com', 'nothing.invalid'];
/** A thousand rows of a wide table; more would make typing slow. */
const MOST_BYTES = 1_000_000;

function lacking({ domains }: Names, secret: string): Lacking {
  if (domains.length === 0) return 'domain';
  if (domains.length > MOST_NAMES) return 'fewer';
  return secret === '' ? 'key' : undefined;
}

export function LookUpForm() {
  const text = useShared(typedNames);
  const { text: secret, remembered } = useShared(apiKey);
  const [column, setColumn] = useState<number>();
  const [lacks, setLacks] = useState<Lacking>();
  const [problem, setProblem] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const names = useMemo(() => readNames(text, column), [text, column]);
  const count = names.domains.length;

  function submit(event: Event): void {
    event.preventDefault();
    const missing = lacking(names, secret);
    setLacks(missing);
    if (missing)
      form.current?.querySelector<HTMLElement>(missing === 'key' ? 'input.mono' : 'textarea')?.focus();
    else if (count === 1) lookUp(names.domains[0]!, secret);
    else lookUpAll(names.domains, secret);
  }

  function type(next: string): void {
    setLacks(undefined);
    setProblem(undefined);
    setColumn(undefined);
    typedNames.set(next);
  }

  async function take(file: File | undefined): Promise<void> {
    if (!file) return;
    if (file.size > MOST_BYTES)
      return setProblem(`${file.name} is larger than 1 MB. Split it, or use the API.`);
    type(await file.text());
  }

  return (
    <form
      class="card ask"
      ref={form}
      onSubmit={submit}
      noValidate
      {...SENT_ONCE}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void take(event.dataTransfer.files[0]);
      }}
    >
      <Field label="Domain or list of domains" hint={<NamesHint names={names} lacks={lacks} onType={type} />}>
        {ids => (
          <textarea
            {...ids}
            class="mono"
            rows={Math.min(8, Math.max(1, text.split('\n').length))}
            value={text}
            aria-invalid={lacks === 'domain' || lacks === 'fewer'}
            placeholder="example.com"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={event => type(event.currentTarget.value)}
            onKeyDown={event => {
              if (!sends(event, count > 1 || text.includes('\n'))) return;
              if (event.repeat) event.preventDefault();
              else submit(event);
            }}
          />
        )}
      </Field>
      {names.table && <ColumnField table={names.table} onChoose={setColumn} />}
      <FileField onFile={file => void take(file)} />
      {problem && <Notice tone="error" title={problem} />}
      <SecretField label="API key" secret={apiKey} hint={keyHint(secret, remembered, lacks === 'key')} />
      <button type="submit" class="button primary">
        {count > 1 ? `Look up ${count} domains` : 'Look up'}
      </button>
      <Examples onChoose={type} />
      <RecentLookups />
    </form>
  );
}

function Examples({ onChoose }: { onChoose: (name: string) => void }) {
  return (
    <p class="examples">
      Try{' '}
      {EXAMPLES.map(name => (
        <button key={name} type="button" class="chip" onClick={() => onChoose(name)}>
          {name}
        </button>
      ))}
    </p>
  );
}

/** Enter sends one domain and makes a new line in a list, which Ctrl or Cmd with Enter sends. */
function sends(event: KeyboardEvent, isList: boolean): boolean {
  if (event.key !== 'Enter' || event.isComposing) return false;
  return event.ctrlKey || event.metaKey || (!isList && !event.shiftKey);
}

interface ColumnProps {
  readonly table: NonNullable<Names['table']>;
  onChoose(column: number): void;
}

function ColumnField({ table: { head, column }, onChoose }: ColumnProps) {
  return (
    <Field label="Column with the domains or addresses">
      {ids => (
        <select {...ids} value={column} onChange={event => onChoose(Number(event.currentTarget.value))}>
          {head.map((name, at) => (
            <option key={at} value={at}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function FileField({ onFile }: { onFile: (file: File | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <p class="file">
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-hidden="true"
        accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
        onChange={event => {
          onFile(event.currentTarget.files?.[0]);
          // The same file again is a choice too.
          event.currentTarget.value = '';
        }}
      />
      <button type="button" class="button small" onClick={() => input.current?.click()}>
        Upload a file
      </button>
      <span class="hint">or drop it here: CSV or text, read in this page only.</span>
    </p>
  );
}

function keyHint(secret: string, isRemembered: boolean, isMissing: boolean) {
  if (isMissing)
    return (
      <span class="wrong" role="alert">
        Enter an API key. Lookups count against its quota.
      </span>
    );
  if (secret !== '' && !looksLikeKey(secret)) return 'This key looks incomplete.';
  return isRemembered
    ? 'Kept in this tab until you close it.'
    : 'Kept in memory. Gone when you close or reload the page.';
}
