/** Where the link in the head leads: the form alone. */

import { door } from '../door.ts';
import { SignIn } from '../parts/sign-in.tsx';

export function SignInView() {
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Sign in</h1>
        <p>With an API key to look up domains, with an operator token to run the service, or with both.</p>
      </div>
      <div class="columns">
        <SignIn
          onDone={() => {
            location.hash = door.get() === 'open' ? '#/operator' : '#/';
          }}
        />
      </div>
    </>
  );
}
