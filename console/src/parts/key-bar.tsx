/** The key, and the button that asks with it. */

import type { ComponentChildren } from 'preact';
import { apiKey } from '../session.ts';
import { useShared } from '../shared.ts';
import { SecretField } from './field.tsx';
import { SENT_ONCE } from './sent-once.ts';

export function KeyBar(props: {
  button: string;
  isWaiting: boolean;
  onAsk: () => void;
  children?: ComponentChildren;
}) {
  const { text: secret } = useShared(apiKey);
  return (
    <form
      class="card bar-form"
      onSubmit={event => {
        event.preventDefault();
        if (secret !== '') props.onAsk();
      }}
      {...SENT_ONCE}
    >
      <SecretField label="API key" secret={apiKey} />
      <button type="submit" class="button primary" disabled={secret === '' || props.isWaiting}>
        {props.button}
      </button>
      {props.children}
    </form>
  );
}
