import { describe, expect, test } from 'vitest';
import type { Domain } from '../../src/core/domain.ts';
import { allowanceOf, monthOf } from '../../src/core/quota.ts';
import { REFUSALS, type RefusalCode } from '../../src/core/refusal.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import {
  domainJson,
  errorJson,
  explainedJson,
  FLAG_REASONS,
  topDomainJson,
  usageJson,
} from '../../src/http/wire.ts';
import type { Answer } from '../../src/lookup.ts';

const verdict = (facts: Partial<Verdict> = {}): Verdict => ({
  domain: 'acme.com' as Domain,
  riskScore: 3,
  reason: 'safe',
  isFreeProvider: false,
  isCorporateEmail: true,
  mxProviderLabel: 'Google',
  signals: [{ signal: 'business_platform', points: 3, detail: 'Google (aspmx.l.google.com)' }],
  ...facts,
});
const SIX = {
  domain: 'acme.com',
  risk_score: 3,
  reason: 'safe',
  is_free_provider: false,
  is_corporate_email: true,
  mx_provider_label: 'Google',
};
const MONTH = monthOf(Date.UTC(2026, 10, 15));

describe('a verdict', () => {
  test.each<[string, Partial<Verdict>, object]>([
    ['is told in six fields', {}, SIX],
    ['has no label where nobody is known', { mxProviderLabel: null }, { ...SIX, mx_provider_label: null }],
    [
      'has a label of any characters',
      { mxProviderLabel: 'A "b" \\ ü' },
      { ...SIX, mx_provider_label: 'A "b" \\ ü' },
    ],
    [
      'may be one of a free provider',
      { isFreeProvider: true, isCorporateEmail: false, riskScore: 5 },
      { ...SIX, is_free_provider: true, is_corporate_email: false, risk_score: 5 },
    ],
  ])('%s', (_, facts, expected) => {
    const told = JSON.parse(domainJson(verdict(facts)));
    expect(told).toEqual(expected);
    expect(Object.keys(told)).toEqual(Object.keys(SIX));
  });

  test('is explained by its signals, the lists, what DNS said and the lists in use', () => {
    const answer = {
      verdict: verdict(),
      evidence: {
        lists: [{ feed: 'a', entry: 'acme.com', since: null }],
        mail: { state: 'mx', exchanges: [{ host: 'mx.acme.com', preference: 5 }], stale: true },
        override: { note: 'a secret of the operator' },
      },
      snapshot: 'g1',
      graph: () => [],
    } as unknown as Answer;
    const evidence = {
      signals: verdict().signals,
      lists: [{ feed: 'a', entry: 'acme.com', since: null }],
      dns: { state: 'mx', mx: ['mx.acme.com'], stale: true },
      snapshot: 'g1',
    };
    expect(JSON.parse(explainedJson(answer))).toEqual({ ...SIX, evidence });

    const exchanges = Array.from({ length: 64 }, (_, at) => ({ host: `mx${at}.acme.com`, preference: at }));
    const many = {
      ...answer,
      evidence: { ...answer.evidence, mail: { ...answer.evidence.mail, exchanges } },
    };
    expect(JSON.parse(explainedJson(many)).evidence.dns.mx).toEqual(
      exchanges.slice(0, 20).map(({ host }) => host),
    );

    const shared = { host: 'mx.box.net', addresses: ['192.0.2.1'], guests: ['spam.com'] };
    const graph = () => [{ ...shared, listedGuests: 41 }];
    expect(JSON.parse(explainedJson({ ...answer, graph }))).toEqual({
      ...SIX,
      evidence: { ...evidence, graph: [{ ...shared, listed_guests: 41 }] },
    });
  });
});

test('a top domain tells what it is, and how often and whence only where that was asked for', () => {
  const row = { domain: 'spam.com', riskScore: 95, reason: 'disposable' as const, flags: 7 };
  const shown = { domain: 'spam.com', risk_score: 95, reason: 'disposable' };
  expect(JSON.parse(topDomainJson(row))).toEqual(shown);
  expect(JSON.parse(topDomainJson(row, true))).toEqual({ ...shown, flags: 7, source: 'observed' });
  expect(JSON.parse(topDomainJson({ ...row, flags: 0 }, true))).toMatchObject({ flags: 0, source: 'lists' });
  expect(FLAG_REASONS).toEqual(['disposable', 'undeliverable', 'role_account']);
});

test('usage tells the quota, and days only where they were asked for', () => {
  const usage = { monthly_limit: 10, month_count: 3, remaining_month: 7, reset_at: '2026-12-01T00:00:00Z' };
  expect(JSON.parse(usageJson(allowanceOf(10, 3, MONTH)))).toEqual(usage);
  const days = [{ day: '2026-11-15', count: 3 }];
  expect(JSON.parse(usageJson(allowanceOf(10, 3, MONTH), days))).toEqual({ ...usage, days });
  expect(JSON.parse(usageJson(allowanceOf(null, 3, MONTH)))).toMatchObject({
    monthly_limit: null,
    remaining_month: null,
  });
});

describe('an error', () => {
  test.each(Object.keys(REFUSALS) as RefusalCode[])('%s is told in both shapes', refused => {
    const { status, message } = REFUSALS[refused];
    const plain = { error: refused, message, detail: 'why "so"', request_id: 'r1' };
    const refusal = { refused, detail: 'why "so"' };
    expect(JSON.parse(errorJson(refusal, 'r1', false))).toEqual(plain);
    expect(JSON.parse(errorJson(refusal, 'r1', true))).toEqual({
      type: 'about:blank',
      title: message,
      status,
      ...plain,
    });
  });

  test('without a detail says so, with a quota when it resets', () => {
    const told = JSON.parse(
      errorJson({ refused: 'quota_exceeded', detail: null }, 'r1', false, allowanceOf(1, 1, MONTH)),
    );
    expect(told).toMatchObject({ detail: null, reset_at: '2026-12-01T00:00:00Z' });
  });
});
