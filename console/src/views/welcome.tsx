/** Where the link of the first start leads: it signs the first person in, once. */

import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { askWelcome, type Welcomed } from '../calls.ts';
import { door } from '../door.ts';
import { FailureNotice, Notice, Waiting } from '../parts/notice.tsx';
import { explain } from '../problem.ts';
import { renameHere, route } from '../route.ts';
import { adminToken, apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { comeBack } from '../sign-in.ts';

/** For this tab until it is closed. */
async function signIn({ api_key, operator_token }: Welcomed): Promise<void> {
  apiKey.set({ text: api_key, remembered: true });
  if (operator_token === null) return;
  adminToken.set({ text: operator_token, remembered: true });
  await comeBack();
}

export function Welcome() {
  const [, inAddress = ''] = useShared(route);
  const [code, setCode] = useState('');
  const [state, setState] = useState<Failure | 'waiting'>();
  const { text: key } = useShared(apiKey);

  async function take(given: string): Promise<void> {
    setState('waiting');
    const result = await askWelcome(given);
    if (result.ok) await signIn(result.data);
    setState(result.ok ? undefined : result);
  }
  useEffect(() => {
    if (inAddress === '') return;
    // The code leaves the address before anything else happens.
    renameHere('#/welcome');
    setCode(inAddress);
    void take(inAddress);
  }, [inAddress]);

  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Welcome</h1>
      </div>
      {inAddress === '' && <Outcome state={state} isSignedIn={key !== ''} onRetry={() => void take(code)} />}
    </>
  );
}

interface OutcomeProps {
  readonly state: Failure | 'waiting' | undefined;
  readonly isSignedIn: boolean;
  onRetry(): void;
}

function Outcome({ state, isSignedIn, onRetry }: OutcomeProps) {
  if (state === 'waiting') return <Waiting doing="Signing in with" for="your first key" />;
  // The link may be good still: nobody said that it is not.
  if (state && explain(state).canRetry) return <FailureNotice failure={state} onRetry={onRetry} />;
  return isSignedIn ? <SignedIn /> : <NotWelcome />;
}

function SignedIn() {
  const isOperator = useShared(door) === 'open';
  const { remembered } = useShared(apiKey);
  return (
    <Notice tone="info" title="You are signed in">
      <p>
        With an API key{isOperator && ' and as an operator'}
        {remembered && ', in this tab until you close it'}. <a href="#/">Look up a domain</a>
        {isOperator && (
          <>
            {' '}
            or <a href="#/operator">open the operator's view</a>
          </>
        )}
        .
      </p>
    </Notice>
  );
}

function NotWelcome() {
  return (
    <Notice tone="error" title="This link does not work any more">
      <p>
        It works once, within ten minutes of the first start. Use the API key that was printed beside it.{' '}
        <a href="#/">Continue</a>
      </p>
    </Notice>
  );
}
