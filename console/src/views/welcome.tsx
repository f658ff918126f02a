/** Where the link of the first start leads: it signs the first person in, once. */

import { useEffect, useState } from 'preact/hooks';
import { askWelcome, type Result, type Welcomed } from '../api.ts';
import { door } from '../door.ts';
import { Notice, Waiting } from '../parts/notice.tsx';
import { renameHere, route } from '../route.ts';
import { adminToken, apiKey } from '../session.ts';

/** For this tab until it is closed. */
function signIn({ api_key, operator_token }: Welcomed): void {
  apiKey.set({ text: api_key, remembered: true });
  if (operator_token === null) return;
  adminToken.set({ text: operator_token, remembered: true });
  door.set('open');
}

export function Welcome() {
  const [code] = useState(() => route.get()[1] ?? '');
  const [result, setResult] = useState<Result<Welcomed>>();
  useEffect(() => {
    // The code leaves the address before anything else happens.
    renameHere('#/welcome');
    void askWelcome(code).then(heard => {
      if (heard.ok) signIn(heard.data);
      setResult(heard);
    });
  }, []);
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Welcome</h1>
      </div>
      {!result && <Waiting doing="Signing in" for="with your first key" />}
      {result?.ok && (
        <Notice tone="info" title="You are signed in">
          <p>
            With your first API key{result.data.operator_token !== null && ' and as an operator'}, in this tab
            until you close it. <a href="#/">Look up a domain</a>
            {result.data.operator_token !== null && (
              <>
                {' '}
                or <a href="#/operator">open the operator's view</a>
              </>
            )}
            .
          </p>
        </Notice>
      )}
      {result && !result.ok && (
        <Notice tone="error" title="This link does not work any more">
          <p>
            It works once, within ten minutes of the first start. Use the API key that was printed beside it.{' '}
            <a href="#/">Continue</a>
          </p>
        </Notice>
      )}
    </>
  );
}
