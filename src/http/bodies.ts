/** The bodies that operators send: a schema for each, and what the command line checks of the same values. */

import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { bad, type Checked, good } from '../core/checked.ts';
import { parseNetwork, parseOrigin } from '../core/origin.ts';
import { OVERRIDE_ACTIONS, type Override } from '../core/override.ts';
import { MAX_QUOTA } from '../core/quota.ts';
import { MAX_RATE } from '../core/rate.ts';
import { MOST_LABEL, parseLabel, parseMoment } from '../core/typed.ts';
import type { Limits } from '../operate.ts';
import { nullable, words } from './schemas.ts';

const MOST_RULES = 100;
const LONGEST_OVERLAP = 366 * 86_400;

/** What a caller reads who sent something else in a member of this name. */
const MUST_BE: Readonly<Record<string, string>> = {
  name: `must be one line of 1 to ${MOST_LABEL} printable characters`,
  quota: `must be a whole number from 0 to ${MAX_QUOTA}, or null`,
  rate: `must be a whole number from 1 to ${MAX_RATE}, or null`,
  origins: `must be a list of at most ${MOST_RULES} origins such as https://app.example.com, or null`,
  networks: `must be a list of at most ${MOST_RULES} networks such as 192.0.2.0/24, or null`,
  expires_at: 'must be like 2027-01-31 or 2027-01-31T12:00:00Z, or null',
  overlap_seconds: `must be a whole number from 0 to ${LONGEST_OVERLAP}`,
  action: `must be one of ${OVERRIDE_ACTIONS.join(', ')}`,
  below: 'must be true or false',
  note: `must be one line of 1 to ${MOST_LABEL} printable characters, or null`,
};

const orNull = <T extends Type.TSchema & { readonly type: string }>(schema: T) =>
  Type.Optional(nullable(schema));
const Name = Type.String({ description: 'Your name for it, one line.' });
const Moment = orNull(
  Type.String({ description: 'When it ends: `2027-01-31` or `2027-01-31T12:00:00Z`. Null: never.' }),
);
const strict = (title: string) => ({ title, additionalProperties: false });

const LIMITS = {
  quota: orNull(
    Type.Integer({
      minimum: 0,
      maximum: MAX_QUOTA,
      description: 'Calls per calendar month in UTC. Null: unlimited.',
    }),
  ),
  rate: orNull(
    Type.Integer({ minimum: 1, maximum: MAX_RATE, description: 'Calls per second. Null: no limit.' }),
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
  expires_at: Moment,
};

export const NoBody = Type.Object({}, strict('Nothing'));
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
  },
  strict('Rotation'),
);
export const OverrideBody = Type.Object(
  {
    action: words(OVERRIDE_ACTIONS, {
      description: '`allow` makes it safe, `deny` disposable, `role` a role account.',
    }),
    below: Type.Optional(Type.Boolean({ default: false, description: 'Include subdomains.' })),
    note: orNull(Type.String({ description: 'Why, for your colleagues, one line.' })),
    expires_at: Moment,
  },
  strict('NewOverride'),
);

/** The shape alone; the problem names the member and what it must be. */
export function readBody<T extends Type.TObject>(schema: T, body: unknown): Checked<Type.Static<T>> {
  if (Value.Check(schema, body)) return good(body);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return bad('the body must be a JSON object');
  const known = Object.keys(schema.properties);
  const strange = Object.keys(body).find(name => !known.includes(name));
  if (strange !== undefined) {
    const shown = JSON.stringify(strange.slice(0, 50).toWellFormed());
    return bad(`${shown} has no place in the body; it takes ${known.join(', ') || 'nothing'}`);
  }
  const wrong = known.find(name => {
    const member = schema.properties[name]!;
    const isMissing = !Object.hasOwn(body, name);
    return isMissing ? schema.required?.includes(name) : !Value.Check(member, Reflect.get(body, name));
  });
  return bad(`${wrong} ${MUST_BE[wrong!]}`);
}

/** What is not sent is not there: it stays as it is. */
export function limitsFrom(body: Type.Static<typeof KeyBody>, now: number): Checked<Partial<Limits>> {
  const name = body.name === undefined ? good(undefined) : parseLabel(body.name);
  if (!name.ok) return bad(`name ${name.problem}`);
  const origins = allOf(body.origins ?? [], parseOrigin);
  if (!origins.ok) return bad(`origins: ${origins.problem}`);
  const networks = allOf(body.networks ?? [], parseNetwork);
  if (!networks.ok) return bad(`networks: ${networks.problem}`);
  const moment = momentOrNull(body.expires_at ?? null, now);
  if (!moment.ok) return bad(`expires_at ${moment.problem}`);
  return good({
    ...(name.value === undefined ? {} : { name: name.value }),
    ...(body.quota === undefined ? {} : { quota: body.quota }),
    ...(body.rate === undefined ? {} : { rate: body.rate }),
    ...(body.origins === undefined ? {} : { origins: origins.value }),
    ...(body.networks === undefined ? {} : { networks: networks.value }),
    ...(body.expires_at === undefined ? {} : { expiresAt: moment.value }),
  });
}

type Decision = Pick<Override, 'action' | 'below' | 'note' | 'expiresAt'>;

export function decisionFrom(body: Type.Static<typeof OverrideBody>, now: number): Checked<Decision> {
  const { action, below = false, note = null, expires_at = null } = body;
  const label = note === null ? good(null) : parseLabel(note);
  if (!label.ok) return bad(`note ${label.problem}`);
  const moment = momentOrNull(expires_at, now);
  if (!moment.ok) return bad(`expires_at ${moment.problem}`);
  return good({ action, below, note: label.value, expiresAt: moment.value });
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

function momentOrNull(text: string | null, now: number): Checked<number | null> {
  return text === null ? good(null) : parseMoment(text, now);
}
