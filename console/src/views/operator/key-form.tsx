/** A key's name and limits, typed: for a new key and for one that is there. */

import { useState } from 'preact/hooks';
import type { KeyLimits } from '../../admin.ts';
import type { Result } from '../../api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Field } from '../../parts/field.tsx';

interface KeyFormProps<T> {
  readonly title: string;
  readonly verb: string;
  readonly before?: KeyLimits;
  send(limits: KeyLimits): Promise<Result<T>>;
  onAnswered(): void;
  onDone?(data: T): void;
  onClosed(): void;
}

/** All as text, the way it is typed. */
interface Typed {
  readonly name: string;
  readonly note: string;
  readonly quota: string;
  readonly rate: string;
  readonly origins: string;
  readonly networks: string;
  readonly expires: string;
}

function typedFrom(before: KeyLimits | undefined): Typed {
  return {
    name: before?.name ?? '',
    note: before?.note ?? '',
    quota: before?.quota?.toString() ?? '',
    rate: before?.rate?.toString() ?? '',
    origins: before?.origins.join('\n') ?? '',
    networks: before?.networks.join('\n') ?? '',
    expires: before?.expires_at?.slice(0, 10) ?? '',
  };
}

const items = (text: string) => text.split(/[\s,;]+/).filter(item => item !== '');
const numberOrNone = (text: string) => (text.trim() === '' ? null : Number(text));

function limitsFrom(typed: Typed, before: KeyLimits | undefined): KeyLimits {
  const { expires } = typed;
  const day = expires === '' ? null : `${expires}T00:00:00.000Z`;
  // The hour that was set elsewhere stays while the day does.
  const had = before?.expires_at ?? '';
  return {
    name: typed.name.trim(),
    note: typed.note.trim() || null,
    quota: numberOrNone(typed.quota),
    rate: numberOrNone(typed.rate),
    origins: items(typed.origins),
    networks: items(typed.networks),
    expires_at: day !== null && had.startsWith(expires) ? had : day,
  };
}

/** Only what was changed here: another operator may have changed the rest since it was shown. */
export function changedLimits(before: KeyLimits, after: KeyLimits): Partial<KeyLimits> {
  const had: Readonly<Record<string, unknown>> = { ...before };
  const isOther = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(had[name]);
  return Object.fromEntries(Object.entries(after).filter(isOther));
}

export function KeyForm<T>({ before, send, ...rest }: KeyFormProps<T>) {
  const [typed, setTyped] = useState(() => typedFrom(before));
  const bind = (name: keyof Typed) => ({
    value: typed[name],
    onInput: (event: { currentTarget: { value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
  });
  return (
    <Confirm {...rest} act={() => send(limitsFrom(typed, before))}>
      <Field label="Name" hint="Which application uses it.">
        {ids => <input {...ids} {...bind('name')} required maxLength={100} autocomplete="off" />}
      </Field>
      <Field label="Note" hint="For you and other operators. Callers never see it.">
        {ids => <input {...ids} {...bind('note')} maxLength={200} autocomplete="off" />}
      </Field>
      <div class="form-row">
        <Field label="Calls per month" hint="Empty: no limit.">
          {ids => <input {...ids} {...bind('quota')} type="number" min="0" step="1" inputMode="numeric" />}
        </Field>
        <Field label="Calls per second" hint="Empty: no limit.">
          {ids => <input {...ids} {...bind('rate')} type="number" min="1" step="1" inputMode="numeric" />}
        </Field>
        <Field label="Expires" hint="At 00:00 UTC on this date. Empty: never.">
          {ids => <input {...ids} {...bind('expires')} type="date" />}
        </Field>
      </div>
      <Field
        label="Origins"
        hint="One a line, such as https://app.example.com or https://*.example.com. Empty: any."
      >
        {ids => <textarea {...ids} {...bind('origins')} class="mono" rows={2} spellcheck={false} />}
      </Field>
      <Field label="Networks" hint="One a line, such as 192.0.2.0/24. Empty: any.">
        {ids => <textarea {...ids} {...bind('networks')} class="mono" rows={2} spellcheck={false} />}
      </Field>
    </Confirm>
  );
}
