/** Bars as an SVG that reads on a light page and on a dark one. */

export interface Chart {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly perSecond: number }[];
}

const WIDTH = 760;
const LABEL = 220;
const BAR = 22;
const ROW = 30;
const TITLE = 34;
const GREY = '#8a8f98';
const OURS = '#2f7d4f';

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The first bar of each is ours. */
export function chart(charts: readonly Chart[]): string {
  const most = Math.max(...charts.flatMap(({ bars }) => bars.map(({ perSecond }) => perSecond)));
  const lines: string[] = [];
  let y = 0;
  for (const { title, bars } of charts) {
    lines.push(`<text x="0" y="${y + 22}" font-weight="600">${escaped(title)}: answers per second</text>`);
    y += TITLE;
    for (const [at, { name, perSecond }] of bars.entries()) {
      const width = Math.max(2, Math.round((perSecond / most) * (WIDTH - LABEL - 90)));
      const middle = y + BAR / 2 + 5;
      lines.push(
        `<text x="0" y="${middle}">${escaped(name)}</text>`,
        `<rect x="${LABEL}" y="${y}" width="${width}" height="${BAR}" rx="3" fill="${at === 0 ? OURS : GREY}"/>`,
        `<text x="${LABEL + width + 8}" y="${middle}">${Math.round(perSecond).toLocaleString('en-US')}</text>`,
      );
      y += ROW;
    }
    y += 12;
  }
  const style = `text{font:14px system-ui,sans-serif;fill:#1f2328}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="Answers per second, compared"><style>${style}</style>${lines.join('')}</svg>\n`;
}
