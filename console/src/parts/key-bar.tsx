/** The button that asks with the key, or the form to sign in with one. */

import type { ComponentChildren } from 'preact';
import { apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { SENT_ONCE } from './sent-once.ts';
import { SignIn } from './sign-in.tsx';

export function KeyBar(props: {
  button: string;
  isWaiting: boolean;
  onAsk: () => void;
  children?: ComponentChildren;
}) {
  const { text: secret } = useShared(apiKey);
  if (secret === '') return <SignIn />;
  return (
    <form
      class="card toolbar"
      onSubmit={event => {
        event.preventDefault();
        props.onAsk();
      }}
      {...SENT_ONCE}
    >
      <button type="submit" class="button primary" disabled={props.isWaiting}>
        {props.button}
      </button>
      {props.children}
    </form>
  );
}
