/** The one form to sign in with, and the one place that says who is signed in. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { door } from '../door.ts';
import { adminToken, apiKey, operatorName } from '../session.ts';
import { useShared } from '../shared.ts';
import { isShared, type Kind, kindOf, signIn, signOut } from '../sign-in.ts';
import { Field, SecretField } from './field.tsx';
import { FailureNotice, Notice } from './notice.tsx';

const HINTS: Readonly<Record<Kind, string | undefined>> = {
  nothing: undefined,
  key: undefined,
  token: undefined,
  incomplete: 'This key looks incomplete.',
  neither: 'This is neither an API key (drk_…) nor an operator token.',
};

interface SignInProps {
  /** What it is good for. */
  readonly children?: ComponentChildren;
  /** Somebody wanted to do something for which they have to be signed in. */
  readonly isWanted?: boolean;
  onDone?(): void;
}

export function SignIn({ children, isWanted = false, onDone = focusHeading }: SignInProps) {
  const [typed, setTyped] = useState({ text: '', remembered: false });
  const [name, setName] = useState('');
  const [state, setState] = useState<Failure | 'waiting'>();
  const kind = kindOf(typed.text);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if ((kind !== 'key' && kind !== 'token') || state === 'waiting') return;
    setState('waiting');
    const failure = await signIn({ ...typed, name });
    setState(failure);
    if (failure) return;
    setTyped({ text: '', remembered: false });
    onDone();
  }

  return (
    <form class="card sign-in" aria-label="Sign in" onSubmit={event => void submit(event)} noValidate>
      {children}
      <SecretField
        label="API key or operator token"
        typed={typed}
        onType={setTyped}
        hint={<Hint kind={kind} isWanted={isWanted} isRemembered={typed.remembered} />}
      />
      {isShared(typed.text) && (
        <Field label="Your name" hint="Recorded in the audit log with each change.">
          {ids => (
            <input
              {...ids}
              value={name}
              maxLength={100}
              placeholder="operator"
              autocomplete="off"
              onInput={event => setName(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      <button type="submit" class="button" disabled={state === 'waiting'}>
        {state === 'waiting' ? 'Signing in…' : 'Sign in'}
      </button>
      {state !== undefined && state !== 'waiting' && <Refused failure={state} />}
    </form>
  );
}

function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

function Hint({ kind, isWanted, isRemembered }: { kind: Kind; isWanted: boolean; isRemembered: boolean }) {
  if (isWanted && kind === 'nothing')
    return (
      <span class="wrong" role="alert">
        Enter an API key. Lookups count against its quota.
      </span>
    );
  if (HINTS[kind]) return <>{HINTS[kind]}</>;
  return isRemembered ? (
    <>Kept in this tab until you close it.</>
  ) : (
    <>Kept in memory. Gone when you close or reload the page.</>
  );
}

/** Where nobody can operate, it is said how to change that. */
export function Refused({ failure }: { failure: Failure }) {
  const isToken = failure.path?.startsWith('/admin/');
  if (isToken && failure.status === 404)
    return (
      <Notice tone="error" title="Operator sign-in is not enabled">
        <p>
          Start the service with a token to enable it: set <code>ADMIN_TOKEN</code> to 32 characters or more
          (for example the output of <code>openssl rand -hex 32</code>) and start the service again. Where{' '}
          <code>METRICS_PORT</code> is set, operators sign in at that port.
        </p>
      </Notice>
    );
  return <FailureNotice failure={failure} />;
}

/** As the list of keys has it. */
const shortened = (secret: string) => `${secret.slice(0, 8)}…${secret.slice(-4)}`;

/** In the head of every page. */
export function Session({ href }: { href: string }) {
  const { text: key } = useShared(apiKey);
  const { text: token } = useShared(adminToken);
  const { text: name } = useShared(operatorName);
  const state = useShared(door);
  if (key === '' && token === '')
    return (
      <p class="session">
        <a href={href}>Sign in</a>
      </p>
    );
  return (
    <p class="session">
      <span>
        Signed in: {key !== '' && <code>{shortened(key)}</code>}
        {key !== '' && token !== '' && ', '}
        {token !== '' && <strong>{name || 'operator'}</strong>}
        {typeof state === 'object' && token !== '' && ' (not checked: no answer)'}
      </span>
      <button type="button" class="button small" onClick={signOut}>
        Sign out
      </button>
    </p>
  );
}
