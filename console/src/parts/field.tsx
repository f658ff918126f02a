/** A labelled control with its hint, and the field for a secret. */

import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Typed } from '../session.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly children: (ids: { id: string; 'aria-describedby'?: string }) => JSX.Element;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(hint ? { id, 'aria-describedby': hintId } : { id })}
      {hint && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface SecretProps {
  readonly label: string;
  readonly typed: Typed;
  readonly hint?: ComponentChildren;
  onType(next: Typed): void;
}

const SHOWN = { type: 'text' } as const;
const COVERED = { type: 'password' } as const;

/** It is a secret of this page, not an account of this site: password managers are asked to keep out. */
export function SecretField({ label, typed: { text, remembered }, onType, hint }: SecretProps) {
  const [isShown, setIsShown] = useState(false);
  return (
    <div class="secret">
      <Field label={label} hint={hint}>
        {ids => (
          <span class="joined">
            <input
              {...ids}
              class="mono"
              {...(isShown ? SHOWN : COVERED)}
              value={text}
              onInput={event => onType({ text: event.currentTarget.value.trim(), remembered })}
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              data-1p-ignore
              data-lpignore="true"
            />
            <button
              type="button"
              class="button"
              aria-pressed={isShown}
              aria-label={`Show ${label}`}
              onClick={() => setIsShown(!isShown)}
            >
              {isShown ? 'Hide' : 'Show'}
            </button>
          </span>
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={remembered}
          onChange={event => onType({ text, remembered: event.currentTarget.checked })}
        />
        Remember in this tab
      </label>
    </div>
  );
}
