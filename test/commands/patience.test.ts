import { describe, expect, it } from 'vitest';
import type { DomainRisks, Result } from '../../client/src/index.ts';
import { type Failure, failure } from '../../client/src/result.ts';
import { patiently } from '../../src/commands/patience.ts';

const RISK = { risk_score: 5, reason: 'safe', is_free_provider: false, is_corporate_email: false } as const;

function answerFor(names: readonly string[]): Result<DomainRisks> {
  const results = names.map(domain => ({ domain, ...RISK, mx_provider_label: null }));
  return { ok: true, data: { results, count: names.length }, quota: null, degraded: false, fromCache: false };
}

const refused = (status: number, code: string, more: Partial<Failure> = {}) =>
  failure(status < 500 ? 'refused' : 'server', `It is ${code}.`, { status, code, ...more });
const tooFast = refused(429, 'rate_limited', { retryAfter: 1 });
const busy = refused(503, 'overloaded', { retryAfter: 2 });
const late = failure('timeout', 'Too late.');

/** A service that has these to say in turn, and an answer to all that comes after. */
function serviceOf(...said: (Failure | undefined)[]) {
  const asked: number[] = [];
  const paused: number[] = [];
  const lookUp = patiently({
    async ask(names) {
      asked.push(names.length);
      return said.shift() ?? answerFor(names);
    },
    pause: async seconds => paused.push(seconds),
  });
  return { lookUp, asked, paused };
}

const NAMES = Array.from({ length: 10 }, (_, at) => `a${at}.com`);
const errorsOf = (rows: readonly { error?: string }[]) => rows.map(({ error }) => error ?? 'ok').join(' ');

describe('many names of a service', () => {
  it('wait for as long as it says where it is too fast or has too much to do, and are then answered', async () => {
    const { lookUp, asked, paused } = serviceOf(tooFast, busy, tooFast);
    expect(errorsOf(await lookUp(NAMES))).toBe(Array(10).fill('ok').join(' '));
    expect([asked, paused]).toEqual([
      [10, 10, 10, 10],
      [1, 2, 1],
    ]);
  });

  it('wait for a second where it says to come again at once', async () => {
    const { lookUp, asked, paused } = serviceOf(refused(429, 'rate_limited', { retryAfter: 0 }));
    expect(errorsOf(await lookUp(['a.com']))).toBe('ok');
    expect([asked, paused]).toEqual([[1, 1], [1]]);
  });

  it('wait for five minutes at the most, and not at all for a service that does not say how long', async () => {
    const slow = refused(429, 'rate_limited', { retryAfter: 100 });
    const { lookUp, paused } = serviceOf(slow, slow, slow, slow);
    expect(await lookUp(['a.com'])).toEqual([
      { domain: 'a.com', error: 'rate_limited', detail: 'It is rate_limited.' },
    ]);
    expect(paused).toEqual([100, 100, 100]);
    const silent = serviceOf(refused(503, 'overloaded'));
    expect(errorsOf(await silent.lookUp(['a.com']))).toBe('overloaded');
    expect(silent.paused).toEqual([]);
  });

  it('use what is left of a quota; the rest says why it has no answer, and nothing more is asked', async () => {
    const left = (remaining: number) =>
      refused(429, 'quota_exceeded', {
        // In the last minute of a month: it would be waited for, and what the next month has would go to these.
        retryAfter: 60,
        quota: { limit: 50, remaining, resetAt: 0 },
      });
    const { lookUp, asked, paused } = serviceOf(undefined, left(4), undefined, left(0));
    expect(errorsOf(await lookUp(NAMES))).toBe(Array(10).fill('ok').join(' '));
    const [four, six] = ['ok '.repeat(4), 'quota_exceeded '.repeat(6)];
    expect(errorsOf(await lookUp(NAMES))).toBe((four + six).trim());
    expect(errorsOf(await lookUp(['b.com']))).toBe('quota_exceeded');
    expect([asked, paused]).toEqual([[10, 10, 4, 4], []]);
  });

  it('whose text is too long for one call go in several', async () => {
    const { lookUp, asked } = serviceOf(refused(413, 'too_large'), refused(413, 'too_large'));
    expect(errorsOf(await lookUp(NAMES))).toBe(Array(10).fill('ok').join(' '));
    expect(asked).toEqual([10, 5, 3, 3, 3, 1]);
    expect(errorsOf(await serviceOf(refused(413, 'too_large')).lookUp(['a.com']))).toBe('too_large');
  });

  it('that came too late are not asked again, which might count twice; those after them are', async () => {
    const { lookUp, asked } = serviceOf(late, undefined, late, late, undefined, late, late, late);
    const found: string[] = [];
    for (let at = 0; at < 9; at++) found.push(errorsOf(await lookUp(['a.com'])));
    expect(found.join(' ')).toBe('timeout ok timeout timeout ok timeout timeout timeout timeout');
    // Three in a row are enough.
    expect(asked).toHaveLength(8);
  });

  it.each([
    ['unauthorized', refused(401, 'unauthorized')],
    ['network', failure('network', 'Nobody is there.')],
    ['answer', failure('answer', 'This is a page.')],
    ['aborted', failure('aborted', 'By its signal.')],
  ])('end with the first call that is %s', async (error, said) => {
    const { lookUp, asked } = serviceOf(undefined, said);
    expect(errorsOf(await lookUp(['a.com']))).toBe('ok');
    expect(errorsOf(await lookUp(NAMES))).toBe(Array(10).fill(error).join(' '));
    await lookUp(NAMES);
    expect(asked).toEqual([1, 10]);
  });
});
