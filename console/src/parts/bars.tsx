/** Small drawings of numbers: rows of bars with their values in words, a meter, a sparkline. */

import { number } from '../time.ts';

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** A band or nothing: the accent colour. */
  readonly tone?: string;
}

export function Bars({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <figure class="bars">
      <figcaption>{title}</figcaption>
      {bars.length === 0 && <p class="hint">None yet.</p>}
      <dl>
        {bars.map(({ name, value, tone = 'accent' }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect class={`fill-${tone}`} width={(100 * value) / most} height="10" />
              </svg>
              <b>{number(value)}</b>
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

/** `tone` tells how near to the end it is. */
export function Meter({
  label,
  used,
  limit,
  tone,
}: {
  label: string;
  used: number;
  limit: number;
  tone: string;
}) {
  const share = limit === 0 ? 100 : Math.min(100, (100 * used) / limit);
  return (
    <div class="meter">
      {/* Heard, while the drawing below is seen: browsers do not let this one be coloured alike. */}
      <meter class="hidden" aria-label={label} max={Math.max(limit, 1)} value={Math.min(used, limit)}>
        {`${number(used)} of ${number(limit)}`}
      </meter>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class={`fill-${tone}`} width={share} height="10" />
      </svg>
    </div>
  );
}

/** One bar a day. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const sum = values.reduce((all, value) => all + value, 0);
  const label = `${number(sum)} in ${values.length} days, ${number(Math.max(0, ...values))} on the busiest`;
  return (
    <svg class="sparkline" viewBox={`0 0 ${values.length * 4} 24`} role="img" aria-label={label}>
      {values.map((value, at) => {
        const height = value === 0 ? 1 : Math.max(2, (24 * value) / most);
        return (
          <rect key={at} class={value ? '' : 'none'} x={at * 4} y={24 - height} width="3" height={height} />
        );
      })}
    </svg>
  );
}
