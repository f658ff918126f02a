/** Sends events to `ALERT_WEBHOOK`, signed as Standard Webhooks 1.0.0 has it, again and again until it is taken. */

import { createHmac, hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Event } from './core/event.ts';
import type { Clock } from './core/ports.ts';
import { toSecond } from './core/quota.ts';

/** Before each further try; up to a fifth more by chance, so that receivers are not asked by all at once. */
const WAITS_MS = [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000];
const TRY_MS = 15_000;
/** Events that wait for their next try; more are dropped, and stand in the log only. */
export const MOST_WAITING = 100;
const GONE = 410;

export interface WebhookSettings {
  readonly url: string;
  /** The bytes that signatures are made with. */
  readonly secret: Buffer;
}

interface Parts extends WebhookSettings {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly waits?: readonly number[];
  readonly tryMs?: number;
}

export interface Webhook {
  send(event: Event, at: number): void;
  /** What waits is given up, and told. */
  close(): void;
}

export function createWebhook(parts: Parts): Webhook {
  const { log, waits = WAITS_MS } = parts;
  const closing = new AbortController();
  let waiting = 0;
  let isGone = false;
  /** One at a time, whoever it is for: a receiver that is slow is not asked by many at once. */
  let posting: Promise<unknown> = Promise.resolve();

  function post(event: Event, body: string): Promise<number | string> {
    const mine = posting.then(() => postOnce(parts, event, body, closing.signal));
    posting = mine;
    return mine;
  }

  async function deliver(event: Event, body: string): Promise<void> {
    let answer: number | string = '';
    for (const wait of [0, ...waits]) {
      if (wait > 0)
        await pause(wait * (1 + Math.random() / 5), undefined, { signal: closing.signal, ref: false });
      if (isGone) return;
      answer = await post(event, body);
      closing.signal.throwIfAborted();
      if (typeof answer === 'number' && answer >= 200 && answer < 300) return;
      if (answer === GONE) {
        isGone = true;
        log.error('ALERT_WEBHOOK answered 410 Gone: nothing more is sent there until the next start');
        return;
      }
    }
    log.error({ event: event.kind, subject: event.subject, answer }, 'an event could not be sent: given up');
  }

  return {
    send(event, at) {
      if (isGone || closing.signal.aborted) return;
      if (waiting >= MOST_WAITING) {
        log.error(
          { event: event.kind, subject: event.subject },
          'an event is not sent: too many wait already',
        );
        return;
      }
      waiting++;
      const { kind, subject, text } = event;
      const body = JSON.stringify({ type: kind, timestamp: toSecond(at), data: { subject, text } });
      deliver(event, body)
        .catch(() => log.warn({ event: kind, subject }, 'an event was not sent before the end'))
        .finally(() => {
          waiting--;
        });
    },
    close: () => closing.abort(),
  };
}

/** The same for every try and every server: receivers know doubles by it. Without a full stop, which parts what is signed. */
const idOf = ({ id }: Event) => `evt_${hash('sha256', id, 'hex').slice(0, 32)}`;

/** The status of the answer, of which no more is read, or what kept it from coming. */
async function postOnce(
  { url, secret, clock, tryMs = TRY_MS }: Parts,
  event: Event,
  body: string,
  closing: AbortSignal,
): Promise<number | string> {
  const id = idOf(event);
  const timestamp = String(Math.floor(clock() / 1_000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'domain-risk',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      // Whoever moves says so in the setting: what is signed goes to no other place.
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(tryMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const { cause = error } = error as Error;
    const { code, message } = cause as NodeJS.ErrnoException;
    return code ?? message;
  }
}
