/** The plain sentence of an answer, and words for whatever the service may say. */

import { expect, test } from 'vitest';
import type { DomainRisk } from '../../console/src/api.ts';
import { headline, reasonWord, SENTENCES, SIGNAL_WORDS } from '../../console/src/verdict.ts';
import { SIGNALS } from '../../src/core/signals.ts';

/** They never come alone: the signal before them has the sentence. */
const ALSO = ['own_listing', 'subdomain_farm', 'typo_domain', 'dead_name', 'single_exchange'];

const risk = (signal: string, detail = '', facts: Partial<DomainRisk> = {}): DomainRisk => ({
  domain: 'x.example',
  risk_score: 84,
  reason: 'disposable',
  is_free_provider: false,
  is_corporate_email: false,
  mx_provider_label: null,
  evidence: {
    signals: [{ signal, points: 84, detail }],
    lists: ['a', 'a', 'b'].map(feed => ({ feed, entry: 'x.example', since: null })),
    dns: { state: 'mx', mx: [], stale: false },
    snapshot: 's',
  },
  ...facts,
});

test('every signal of the service has words, and a sentence where it can come first', () => {
  const signals = Object.keys(SIGNALS);
  expect(signals.filter(name => !(name in SIGNAL_WORDS))).toEqual([]);
  expect(signals.filter(name => !(name in SENTENCES) && !ALSO.includes(name))).toEqual([]);
  for (const name of Object.keys(SENTENCES)) {
    expect(signals, name).toContain(name);
    expect(headline(risk(name), false)).toMatch(/^[A-Z].*[^.]\.$/);
  }
});

test('the sentence tells how many share the mail server, and how many lists name it', () => {
  const detail =
    'mx.x also receives mail for 41 listed disposable domains (a.com …; weighed 3.0, enough from 2.1)';
  expect(headline(risk('learned_hosts', detail), false)).toBe(
    'Shares its mail server with 41 disposable domains.',
  );
  expect(headline(risk('learned_addresses', detail.replace('41', '100 or more')), false)).toBe(
    'Shares its mail server with 100 or more disposable domains.',
  );
  expect(headline(risk('two_families'), false)).toBe('Named by 2 lists of disposable email domains.');
});

test('without DNS nothing is called safe', () => {
  const safe = risk('mail_unknown', '', { reason: 'safe', risk_score: 40 });
  expect(headline(safe, true)).toBe('Unknown. DNS did not answer, so this is a neutral score.');
  expect([reasonWord('safe', true), reasonWord('safe', false)]).toEqual(['Unknown', 'Safe']);
  // What was found without it stands.
  expect(headline(risk('verified_list'), true)).toMatch(/^A temporary-inbox service/);
});

test('a signal of a newer service is told by its reason', () => {
  expect(headline(risk('brand_new', '', { reason: 'undeliverable' }), false)).toBe(
    'This domain cannot receive mail.',
  );
});
