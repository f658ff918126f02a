/** The form: whatever is typed, pasted, dropped or uploaded becomes domains before a call is spent. */

import { useMemo, useRef, useState } from 'preact/hooks';
import { lookUp, lookUpAll, typedNames } from '../lookup.ts';
import { ALL_COLUMNS, MOST_NAMES, type Names, type ReadTable, readNames } from '../names.ts';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { RecentLookups } from '../parts/recent.tsx';
import { SENT_ONCE } from '../parts/sent-once.ts';
import { SignIn } from '../parts/sign-in.tsx';
import { apiKey } from '../session.ts';
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
  const { text: secret } = useShared(apiKey);
  const [column, setColumn] = useState<number>();
  const [lacks, setLacks] = useState<Lacking>();
  const [problem, setProblem] = useState<string>();
  const place = useRef<HTMLDivElement>(null);
  const names = useMemo(() => readNames(text, column), [text, column]);
  const count = names.domains.length;

  const focusNames = () => place.current?.querySelector('textarea')?.focus();

  /** Whoever was about to look something up before they signed in need not say so twice. */
  function send(): void {
    const { text: key } = apiKey.get();
    const missing = lacking(names, key);
    setLacks(missing);
    if (missing === 'key') place.current?.querySelector<HTMLElement>('input.mono')?.focus();
    else if (missing) focusNames();
    else if (count === 1) lookUp(names.domains[0]!, key);
    else lookUpAll(names.domains, key);
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
    <div class="stack" ref={place}>
      <form
        class="card ask"
        onSubmit={event => {
          event.preventDefault();
          send();
        }}
        noValidate
        {...SENT_ONCE}
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          if (!event.dataTransfer?.files.length) return;
          event.preventDefault();
          void take(event.dataTransfer.files[0]);
        }}
      >
        <NamesField text={text} names={names} lacks={lacks} onType={type} onSend={send} />
        {names.table && <ColumnField table={names.table} onChoose={setColumn} />}
        <FileField onFile={file => void take(file)} />
        {problem && <Notice tone="error" title={problem} />}
        <button type="submit" class="button primary">
          {count > 1 ? `Look up ${count} domains` : 'Look up'}
        </button>
        <Examples onChoose={type} />
        <RecentLookups />
      </form>
      {secret === '' && <SignIn isWanted={lacks === 'key'} onDone={lacks === 'key' ? send : focusNames} />}
    </div>
  );
}

interface NamesProps {
  readonly text: string;
  readonly names: Names;
  readonly lacks: Lacking;
  onType(next: string): void;
  onSend(): void;
}

function NamesField({ text, names, lacks, onType, onSend }: NamesProps) {
  return (
    <Field label="Domain or list of domains" hint={<NamesHint names={names} lacks={lacks} onType={onType} />}>
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
          onInput={event => onType(event.currentTarget.value)}
          onKeyDown={event => {
            if (!sends(event, names.domains.length > 1 || text.includes('\n'))) return;
            event.preventDefault();
            if (!event.repeat) onSend();
          }}
        />
      )}
    </Field>
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
  readonly table: ReadTable;
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
          <option value={ALL_COLUMNS}>All columns</option>
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
