import { describe, expect, it } from 'vitest';
import { type Listed, type Received, type Weight, waitsForDns, weigh } from '../../src/core/corroboration.ts';
import { FAMILIES, type Family } from '../../src/core/feed.ts';
import { MAIL_STATES, type MailState } from '../../src/core/mail.ts';

const listed = (
  families: Family[],
  namedDays: number,
  popular = false,
  left = false,
  byItsSuffix: Listed['byItsSuffix'] = undefined,
): Listed => ({
  families: new Set(families),
  namedDays,
  popular,
  left,
  byItsSuffix,
});
const received = (state: MailState, settled?: Received['settled'], silent = true): Received => ({
  mail: { state, exchanges: [], stale: false },
  settled,
  silent,
});

const OTHER = received('mx');
const PLATFORM = received('mx', 'platform');
const OWN = received('mx', 'own');
const SILENT = received('unknown');
const LIED_TO = received('unknown', undefined, false);

describe('what the lists say is worth', () => {
  it.each<[Family[], number, boolean, Received, Weight]>([
    // A verified feed needs nobody else.
    [['verified'], 0, false, PLATFORM, 'verified'],
    [['verified'], 0, true, PLATFORM, 'verified'],
    [['verified', 'broad'], 400, false, OTHER, 'verified'],
    [['verified', 'telemetry'], 0, true, LIED_TO, 'verified'],
    // The panel.
    [['broad'], 0, true, OTHER, 'popular'],
    [['broad'], 400, true, OTHER, 'popular'],
    [['telemetry'], 0, true, SILENT, 'popular'],
    [['broad', 'telemetry'], 400, true, OTHER, 'popular'],
    // Two families.
    [['broad', 'telemetry'], 0, false, PLATFORM, 'two_families'],
    [['broad', 'telemetry'], 400, false, LIED_TO, 'two_families'],
    // One family, for 30 days or more.
    [['broad'], 30, false, PLATFORM, 'one_family'],
    [['broad'], 30, false, OWN, 'one_family'],
    [['broad'], 30, false, LIED_TO, 'one_family'],
    [['telemetry'], 30, false, PLATFORM, 'one_family'],
    // One family, for less.
    [['broad'], 29, false, PLATFORM, 'new'],
    [['telemetry'], 29, false, PLATFORM, 'new'],
    [['broad'], 29, false, OWN, 'new'],
    [['telemetry'], 29, false, OWN, 'one_family'],
    [['broad'], 29, false, OTHER, 'one_family'],
    [['telemetry'], 29, false, OTHER, 'one_family'],
    [['broad'], 0, false, received('nxdomain'), 'one_family'],
    [['broad'], 0, false, received('null_mx'), 'one_family'],
    [['broad'], 0, false, received('no_mail'), 'one_family'],
    [['broad'], 0, false, received('implicit_mx'), 'one_family'],
    [['broad'], 0, false, received('not_asked'), 'one_family'],
    [['broad'], 29, false, SILENT, 'unanswered'],
    [['telemetry'], 29, false, SILENT, 'unanswered'],
    [['broad'], 29, false, LIED_TO, 'new'],
    [['telemetry'], 29, false, LIED_TO, 'new'],
  ])('named by %j for %i days, popular %s: %j makes it %s', (families, days, popular, facts, weight) => {
    expect(weigh(listed(families, days, popular), facts)).toBe(weight);
  });

  it.each<[Family[], number, boolean, Weight]>([
    [['telemetry'], 29, false, 'left'],
    [['telemetry'], 30, false, 'one_family'],
    [['telemetry'], 3, true, 'popular'],
    [['telemetry', 'broad'], 3, false, 'two_families'],
    [['verified'], 3, false, 'verified'],
  ])('named by %j for %i days and taken back, popular %s, it is %s', (families, days, popular, weight) => {
    for (const facts of [OTHER, PLATFORM, OWN, SILENT, LIED_TO])
      expect(weigh(listed(families, days, popular, true), facts)).toBe(weight);
  });

  it.each<[Family[], boolean, Weight]>([
    [['verified'], true, 'popular'],
    [['verified', 'broad'], true, 'popular'],
    [['verified'], false, 'verified'],
    [['broad'], true, 'popular'],
  ])('named by %j through its suffix only, popular %s, it is %s', (families, popular, weight) => {
    for (const facts of [OTHER, PLATFORM, OWN, SILENT, LIED_TO])
      for (const days of [0, 400])
        expect(weigh(listed(families, days, popular, false, 'free'), facts)).toBe(weight);
  });

  it('depends on DNS for no others than those that wait for it', () => {
    const settled = ['platform', 'own', undefined] as const;
    for (const families of [...FAMILIES.map(one => [one]), [...FAMILIES], ['broad', 'telemetry'] as Family[]])
      for (const days of [0, 29, 30, Number.POSITIVE_INFINITY])
        for (const [popular, left, byItsSuffix] of [
          [true, false, undefined],
          [false, false, undefined],
          [false, true, undefined],
          [false, false, 'free'],
          [true, false, 'free'],
          [false, false, 'registry'],
          [true, false, 'registry'],
        ] as const) {
          const one = listed(families, days, popular, left, byItsSuffix);
          const weights = new Set(
            MAIL_STATES.flatMap(state =>
              settled.flatMap(how => [true, false].map(trusted => weigh(one, received(state, how, trusted)))),
            ),
          );
          expect(weights.size > 1, JSON.stringify(one)).toBe(waitsForDns(one));
        }
  });
});
