/** A key on the wire: what operators send of it, and the schema of what they see (`shown.ts`). */

import { Type } from 'typebox';
import { bad, type Checked, good } from '../core/checked.ts';
import { givenOf, type Limits } from '../core/key.ts';
import { MOST_LABEL, parseLabel } from '../core/label.ts';
import type { VerdictCounts } from '../core/mix.ts';
import { parseNetwork, parseOrigin } from '../core/origin.ts';
import { MAX_QUOTA } from '../core/quota.ts';
import { MAX_RATE } from '../core/rate.ts';
import { LONGEST_OVERLAP } from '../core/rotation.ts';
import { Ending, momentOrNull, orNull, strict } from './members.ts';
import { Moment, nullable } from './schemas.ts';

const MOST_RULES = 100;

/** What a caller reads who sent something else in a member of this name. */
export const KEY_MUST_BE = {
  name: `must be one line of 1 to ${MOST_LABEL} printable characters`,
  quota: `must be a whole number from 0 to ${MAX_QUOTA}, or null`,
  rate: `must be a whole number from 1 to ${MAX_RATE}, or null`,
  origins: `must be a list of at most ${MOST_RULES} origins such as https://app.example.com, or null`,
  networks: `must be a list of at most ${MOST_RULES} networks such as 192.0.2.0/24, or null`,
  expires_at: 'must be like 2027-01-31 or 2027-01-31T12:00:00Z, or null',
  overlap_seconds: `must be a whole number from 0 to ${LONGEST_OVERLAP}`,
  end_previous: 'must be true or false',
};

const Name = Type.String({ description: 'Your name for it, one line.' });
const LIMITS = {
  note: orNull(Type.String({ description: 'Your own words about it, one line. Null: none.' })),
  quota: orNull(
    Type.Integer({
      minimum: 0,
      maximum: MAX_QUOTA,
      description: 'Calls per calendar month in UTC. Null: unlimited.',
    }),
  ),
  rate: orNull(
    Type.Integer({
      minimum: 1,
      maximum: MAX_RATE,
      description: 'Calls per second and server. Null: no limit.',
    }),
  ),
  origins: orNull(
    Type.Array(Type.String(), {
      maxItems: MOST_RULES,
      description: 'Web origins that may use the key, such as `https://app.example.com`. None: all.',
    }),
  ),
  networks: orNull(
    Type.Array(Type.String(), {
      maxItems: MOST_RULES,
      description: 'Client networks that may use the key, such as `192.0.2.0/24`. None: all.',
    }),
  ),
  expires_at: Ending,
};

export const NewKeyBody = Type.Object({ name: Name, ...LIMITS }, strict('NewKey'));
export const KeyBody = Type.Object({ name: Type.Optional(Name), ...LIMITS }, strict('KeyChange'));
export const RotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_OVERLAP,
        default: 0,
        description: 'How long the old secret keeps working.',
      }),
    ),
    end_previous: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Rotate also while the secret before still works (`previous_until`), and end that one now. Without it 422; where `overlap_seconds` is 0, all old secrets end anyway.',
      }),
    ),
  },
  strict('Rotation'),
);

/** What is not sent is not there: it stays as it is. */
export function limitsFrom(body: Type.Static<typeof KeyBody>, now: number): Checked<Partial<Limits>> {
  const name = body.name === undefined ? good(undefined) : parseLabel(body.name);
  if (!name.ok) return bad(`name ${name.problem}`);
  const note = labelOrNull(body.note ?? null);
  if (!note.ok) return bad(`note ${note.problem}`);
  const origins = allOf(body.origins ?? [], parseOrigin);
  if (!origins.ok) return bad(`origins: ${origins.problem}`);
  const networks = allOf(body.networks ?? [], parseNetwork);
  if (!networks.ok) return bad(`networks: ${networks.problem}`);
  const moment = momentOrNull(body.expires_at ?? null, now);
  if (!moment.ok) return bad(`expires_at ${moment.problem}`);
  const limits = givenOf({
    name: name.value,
    note: body.note === undefined ? undefined : note.value,
    quota: body.quota,
    rate: body.rate,
    origins: body.origins === undefined ? undefined : origins.value,
    networks: body.networks === undefined ? undefined : networks.value,
    expiresAt: body.expires_at === undefined ? undefined : moment.value,
  });
  return good(limits);
}

function labelOrNull(text: string | null): Checked<string | null> {
  return text === null ? good(null) : parseLabel(text);
}

function allOf(texts: readonly string[], parse: (text: string) => Checked<string>): Checked<string[]> {
  const values: string[] = [];
  for (const text of texts) {
    const checked = parse(text);
    if (!checked.ok) return checked;
    values.push(checked.value);
  }
  return good(values);
}

const KEY_MEMBERS = {
  id: Type.String(),
  name: Type.String(),
  note: nullable(Type.String({ description: 'Your own words about it; null is none.' })),
  shown_as: Type.String({ description: 'The first and the last characters of the secret.' }),
  quota: nullable(Type.Integer({ description: 'Calls per calendar month in UTC; null is unlimited.' })),
  used: Type.Optional(Type.Integer({ description: 'Calls counted in this month.' })),
  rate: nullable(Type.Integer({ description: 'Calls per second and server; null is no limit.' })),
  origins: Type.Array(Type.String()),
  networks: Type.Array(Type.String()),
  created_at: Moment,
  expires_at: nullable(Moment),
  revoked_at: nullable(Moment),
  previous_until: Type.Optional(
    nullable(Type.String({ format: 'date-time', description: 'Until then the secret before works too.' })),
  ),
};

export const KeySchema = Type.Object(KEY_MEMBERS, { title: 'Key' });
export const MadeKeySchema = Type.Object(
  { ...KEY_MEMBERS, key: Type.String({ description: 'The secret, returned only once.' }) },
  { title: 'MadeKey' },
);
const Count = Type.Integer({ minimum: 0 });
const VERDICTS = {
  ...{ safe: Count, disposable: Count, undeliverable: Count, role_account: Count },
  degraded: Type.Integer({ minimum: 0, description: 'Of these, judged without DNS.' }),
} satisfies Record<keyof VerdictCounts, unknown>;

export const KeysSchema = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        ...KEY_MEMBERS,
        last_used_at: nullable(
          Type.String({
            format: 'date-time',
            description: 'When a call of it was counted last; null is never.',
          }),
        ),
        days: Type.Array(Type.Integer(), {
          description: 'Calls of the last 30 days, the oldest first, today last.',
        }),
        verdicts: Type.Object(VERDICTS, {
          description: 'Domains judged for it in the last 30 days, by reason. Up to 10 seconds behind.',
        }),
      }),
    ),
    next: nullable(Type.String({ description: 'Send it as `after` for the keys that were made later.' })),
  },
  { title: 'Keys' },
);
