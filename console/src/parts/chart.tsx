/** A chart over time. Its library is loaded when the first one is shown: most visitors never need it. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { useShared } from '../shared.ts';
import { theme } from '../theme.ts';
import { shortDay } from '../time.ts';
import { Empty } from './notice.tsx';

export interface Series {
  readonly name: string;
  /** A CSS custom property that holds a colour. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  /** What it shows, in a sentence: the numbers themselves stand in a table beside it. */
  readonly label: string;
  readonly kind: 'bars' | 'lines';
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit?: string;
  /** How long each point lasts, in seconds, where they follow each other without gaps. */
  readonly step?: number;
}

const HEIGHT = 220;
const HALF_DAY = 43_200;
/** Less time than this is not spread over the whole width: each new point would move all others. In seconds. */
const SHORTEST = 60;
/** Steps of an axis that counts: half a call is none. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map(step => step * 10 ** power),
).flat();
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

export function Chart(props: ChartProps) {
  const { label, kind, times, series, step } = props;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const data = useRef<uPlot.AlignedData>([[]]);
  const shade = useShared(theme);
  const [isLost, setIsLost] = useState(false);
  data.current = [[...times], ...series.map(({ values }) => [...values])];
  const names = series.map(({ name }) => name).join();

  // New numbers are handed to the chart that is there: only another kind, other lines or other colours make a new one.
  useEffect(() => {
    const node = box.current;
    if (!node) return;
    let isGone = false;
    const resize = new ResizeObserver(() =>
      chart.current?.setSize({ width: node.clientWidth, height: HEIGHT }),
    );
    void import('uplot').then(
      ({ default: Plot }) => {
        if (isGone) return;
        chart.current = new Plot(optionsFor(props, node, Plot), data.current, node);
        resize.observe(node);
      },
      // After an upgrade the service no longer has the file that this page knows by name.
      () => setIsLost(true),
    );
    return () => {
      isGone = true;
      resize.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, [kind, names, shade, step]);

  useEffect(() => chart.current?.setData(data.current), [times, series]);
  if (isLost)
    return (
      <Empty title="The chart could not be loaded">
        <p>Load the page again.</p>
      </Empty>
    );
  return <div class="chart" role="img" aria-label={label} ref={box} />;
}

/** A canvas knows no custom properties: the browser works them out on an element. */
function colorIn(node: HTMLElement, name: string): string {
  const probe = node.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Half a day at both ends, for the first and the last bar to be whole. */
const wholeDays = (_plot: uPlot, first: number, last: number): [number, number] => [
  first - HALF_DAY,
  last + HALF_DAY,
];

/** One point alone has no length: the library makes a day of it, of which every tick has the same time. */
function aWhile({ data: [times] }: uPlot, first: number, last: number): [number, number] {
  const end = times.length > 1 ? last : first;
  return [Math.min(first, end - SHORTEST), end];
}

const HOUR = 3_600;
const DAY = 24 * HOUR;

function timeWords(at: number, step = 0): string {
  const time = new Date(at).toISOString();
  if (step === 0) return time.slice(11, 19);
  if (step <= HOUR) return time.slice(11, 16);
  return step < DAY ? `${shortDay(at)} ${time.slice(11, 16)}` : shortDay(at);
}

/** Beside the pointer: the moment and every value there. For readers the numbers are in the table. */
function tooltipIn(inWords: (seconds: number) => string, unit: string) {
  return (plot: uPlot) => {
    const box = plot.over.appendChild(document.createElement('div'));
    box.className = 'tooltip';
    box.hidden = true;
    plot.hooks.setCursor = [
      () => {
        const { idx, left = -1 } = plot.cursor;
        const at = idx == null || left < 0 ? undefined : plot.data[0][idx];
        box.hidden = at === undefined;
        if (at === undefined) return;
        const values = plot.series.slice(1).map(({ label }, one) => {
          const value = plot.data[one + 1]?.[idx!];
          return `${label} ${value == null ? '–' : `${compact.format(value)}${unit}`}`;
        });
        box.textContent = [inWords(at), ...values].join('\n');
        const isRight = left > plot.over.clientWidth / 2;
        box.style.insetInlineStart = isRight ? '' : `${left + 12}px`;
        box.style.insetInlineEnd = isRight ? `${plot.over.clientWidth - left + 12}px` : '';
      },
    ];
  };
}

function optionsFor(
  { kind, series, unit = '', step }: ChartProps,
  node: HTMLElement,
  Plot: typeof uPlot,
): uPlot.Options {
  const soft = colorIn(node, '--soft');
  const line = colorIn(node, '--line');
  const inWords = (seconds: number) => timeWords(seconds * 1000, kind === 'bars' ? DAY : step);
  const axis = {
    stroke: soft,
    grid: { show: false },
    ticks: { stroke: line, size: 4 },
    font: '12px system-ui',
  };
  const bars = Plot.paths.bars?.({ size: [0.7, 28], radius: 0.15 });
  return {
    width: node.clientWidth,
    height: HEIGHT,
    tzDate: seconds => Plot.tzDate(new Date(seconds * 1000), 'UTC'),
    hooks: { init: [tooltipIn(inWords, unit)] },
    cursor: { y: false, points: { show: kind === 'lines' } },
    legend: { show: series.length > 1 || kind === 'bars', live: true },
    scales: {
      x: { range: kind === 'bars' ? wholeDays : aWhile },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        space: step !== undefined && step > HOUR ? 100 : 70,
        values: (_plot, ticks) => ticks.map(inWords),
      },
      {
        ...axis,
        size: 56,
        grid: { stroke: line, width: 1 },
        ...(kind === 'bars' ? { incrs: WHOLE_STEPS } : {}),
        values: (_plot, ticks) => ticks.map(tick => `${compact.format(tick)}${unit}`),
      },
    ],
    series: [
      {
        label: kind === 'bars' ? 'Day' : 'Time',
        value: (_plot: uPlot, value: number | null) => (value == null ? '–' : inWords(value)),
      },
      ...series.map(({ name, color }) => ({
        label: name,
        stroke: colorIn(node, color),
        width: kind === 'bars' ? 0 : 2,
        ...(kind === 'bars' && bars ? { fill: colorIn(node, color), paths: bars } : {}),
        // A line needs two, and between gaps a point may stand alone.
        points: { show: (plot: uPlot) => kind === 'lines' && (!!step || plot.data[0].length === 1) },
        value: (_plot: uPlot, value: number | null) =>
          value == null ? '–' : `${Math.round(value * 100) / 100}${unit}`,
      })),
    ],
  };
}
