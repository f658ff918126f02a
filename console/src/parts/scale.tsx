/** The score on its scale: five bands from accept to confirmed. */

import { BANDS, type Band, bandOf } from '../verdict.ts';

/** Bands by what they mean, not by their length: the one point of `confirmed` must be seen too. In percent. */
const WIDTHS: Readonly<Record<Band['name'], number>> = {
  accept: 26,
  look: 20,
  warn: 24,
  block: 18,
  confirmed: 12,
};

function position(score: number): number {
  const active = bandOf(score);
  const before = BANDS.filter(band => band.to < active.from).reduce((sum, { name }) => sum + WIDTHS[name], 0);
  return before + (WIDTHS[active.name] * (score - active.from + 0.5)) / (active.to - active.from + 1);
}

/** Drawn for the eye; the number and the band stand beside it in words. */
export function Scale({ score }: { score?: number }) {
  const active = score === undefined ? undefined : bandOf(score).name;
  return (
    <div class="scale" aria-hidden="true">
      {score !== undefined && (
        <span class={`needle band-${active}`} style={{ left: `${position(score)}%` }} />
      )}
      {BANDS.map(({ name, short, from }) => (
        <span key={name} class={`step band-${name} ${active && active !== name ? 'faded' : ''}`}>
          <i />
          <b>{from}</b>
          <span>{short}</span>
        </span>
      ))}
    </div>
  );
}

/** In a table: the number with a short bar. */
export function ScoreCell({ score }: { score: number }) {
  const { name } = bandOf(score);
  return (
    <span class="score-cell">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="8" rx="2" />
        <rect class={`fill-${name}`} width={Math.max(score, 2)} height="8" rx="2" />
      </svg>
      <b>{score}</b>
    </span>
  );
}

/** `isShort` in tables. */
export function BandBadge({ score, isShort = false }: { score: number; isShort?: boolean }) {
  const { name, word, short } = bandOf(score);
  return <span class={`badge band-${name}`}>{isShort ? short : word}</span>;
}
