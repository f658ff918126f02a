/** What the bodies that operators send are made of. */

import { Type } from 'typebox';
import { type Checked, good } from '../core/checked.ts';
import { parseMoment } from '../core/typed.ts';
import { nullable } from './schemas.ts';

export const orNull = <T extends Type.TSchema & { readonly type: string }>(schema: T) =>
  Type.Optional(nullable(schema));
export const Ending = orNull(
  Type.String({ description: 'When it ends: `2027-01-31` or `2027-01-31T12:00:00Z`. Null: never.' }),
);
export const strict = (title: string) => ({ title, additionalProperties: false });

export function momentOrNull(text: string | null, now: number): Checked<number | null> {
  return text === null ? good(null) : parseMoment(text, now);
}
