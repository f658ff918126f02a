/** Asks what is needed to know who receives one name's mail (RFC 5321 5.1): MX, and where there is none, A and AAAA. */

import type { Asking } from './ask.ts';
import {
  type Finding,
  type Found,
  mailFromAddresses,
  mailFromMx,
  publicAddresses,
  type TtlLimits,
  UNKNOWN,
} from './finding.ts';
import type { QuestionType } from './wire.ts';

/** Puts one question to the servers and waits for `withinMs` at most. */
export type Put = (name: string, type: QuestionType, withinMs: number) => Asking;

/** At most one MX, one A and one AAAA question, all within one budget. */
export async function inquire(put: Put, name: string, budgetMs: number, limits: TtlLimits): Promise<Finding> {
  const startedAt = performance.now();
  const mx = await answerOf(put(name, 'MX', budgetMs));
  if (!mx) return UNKNOWN;
  const settled = mailFromMx(mx, limits);
  if (settled) return settled;
  const left = budgetMs - (performance.now() - startedAt);
  if (left <= 0) return UNKNOWN;
  return mailFromAddresses(mx.ttl, await askAddresses(put, name, left, true), limits);
}

/** The public addresses of a host; undefined when asking failed. */
export async function inquireAddresses(
  put: Put,
  host: string,
  budgetMs: number,
): Promise<string[] | undefined> {
  const found = await askAddresses(put, host, budgetMs, false);
  const addresses = found.flatMap(publicAddresses);
  return addresses.length === 0 && found.includes(undefined) ? undefined : addresses;
}

/** Both at once. With `oneIsEnough` the first public address ends the wait: broken AAAA servers are common. */
async function askAddresses(
  put: Put,
  name: string,
  withinMs: number,
  oneIsEnough: boolean,
): Promise<(Found | undefined)[]> {
  const askings = [put(name, 'A', withinMs), put(name, 'AAAA', withinMs)];
  const answers: (Found | undefined)[] = [];
  await new Promise<void>(resolve => {
    for (const asking of askings) {
      void answerOf(asking).then(found => {
        answers.push(found);
        const enough = oneIsEnough && publicAddresses(found).length > 0;
        if (enough || answers.length === askings.length) resolve();
      });
    }
  });
  for (const asking of askings) asking.cancel();
  return answers;
}

async function answerOf(asking: Asking): Promise<Found | undefined> {
  const answered = await asking.answered;
  return 'found' in answered ? answered.found : undefined;
}
