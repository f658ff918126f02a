/**
 * A page of keys as bytes, made between answers while it is read: 20,000 keys with 30 days each are 13 MB, and 5,000 in one
 * go held everybody else up for 1.3 s (2026-11-19).
 */

import { inTurns } from '../assemble.ts';
import { NO_VERDICTS } from '../core/mix.ts';
import type { Steps } from '../core/steps.ts';
import type { Mix } from '../mix.ts';
import type { KeyUse } from '../operate.ts';
import { joining } from './parts.ts';
import { shownUse } from './shown.ts';

type Verdicts = Awaited<ReturnType<Mix['read']>>;

function* writing(keys: readonly KeyUse[], verdicts: Verdicts): Steps<Buffer> {
  let text = '';
  for (const { days, ...use } of keys) {
    const shown = { ...shownUse(use), days, verdicts: verdicts.get(use.key.id) ?? NO_VERDICTS };
    text += `,${JSON.stringify(shown)}`;
    yield;
  }
  return Buffer.from(text);
}

/** `next`: where the next page begins, if this one may not be the last. */
export async function keysBytes(
  pages: AsyncIterable<readonly KeyUse[]>,
  most: number,
  mix: Pick<Mix, 'read'>,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let count = 0;
  let last = '';
  for await (const keys of pages) {
    const verdicts = await mix.read(keys.map(({ key }) => key.id));
    parts.push(await inTurns(writing(keys, verdicts)));
    count += keys.length;
    last = keys.at(-1)!.key.id;
  }
  const next = count < most ? null : last;
  return inTurns(joining('{"keys":[', parts, `],"next":${JSON.stringify(next)}}`));
}
