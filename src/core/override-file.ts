/** Overrides as a file of comma-separated values: what an operator brings, checked, and what is written out. */

import { bad, type Checked, good } from './checked.ts';
import { csvLine, parseCsv } from './csv.ts';
import { parseDomain } from './domain.ts';
import { parseLabel } from './label.ts';
import { OVERRIDE_ACTIONS, type Override, type OverrideAction } from './override.ts';
import { toSecond } from './quota.ts';
import { parseTime } from './typed.ts';

const COLUMNS = ['domain', 'action', 'below', 'note', 'author', 'expires_at'] as const;
type Column = (typeof COLUMNS)[number];

/** Every server has all overrides in memory, and reads them anew when one changes. Those that stand already are free. */
export const MOST_IMPORTED = 20_000;
/** What was exported can be read again, however often something was imported before. */
export const MOST_LINES = 200_000;

type Wanted = Omit<Override, 'createdAt'>;

interface Read {
  readonly overrides: readonly Wanted[];
  /** Lines that have ended since they were written, and are left out. */
  readonly expired: number;
  readonly problems: readonly string[];
}

const unread = (problem: string): Read => ({ overrides: [], expired: 0, problems: [problem] });

/** All of them, or what is wrong, line by line. `author`: of lines that name none. */
export function parseOverrides(text: string, author: string | null, now: number): Read {
  const rows = parseCsv(text);
  if (typeof rows === 'number')
    return unread(`line ${rows}: a quote is not closed, or something stands beside a value in quotes`);
  const [header, ...lines] = rows;
  const columns = header?.values.map(name => name.toLowerCase()) ?? [];
  const strange = columns.find(name => !COLUMNS.includes(name as Column));
  if (strange !== undefined || !columns.includes('domain') || !columns.includes('action'))
    return unread(
      `the first line must name columns: domain, action, and any of ${COLUMNS.slice(2).join(', ')}`,
    );
  const twice = columns.find((name, at) => columns.indexOf(name) < at);
  if (twice !== undefined) return unread(`the first line names the column ${twice} twice: leave one of them`);
  if (lines.length > MOST_LINES) return unread(`${lines.length} lines, at most ${MOST_LINES} at once`);
  const overrides = new Map<string, Wanted>();
  const problems: string[] = [];
  let expired = 0;
  for (const { line, values } of lines) {
    const of = (column: Column) => values[columns.indexOf(column)] ?? '';
    const override = values.length > columns.length ? bad('has too many values') : overrideOf(of, author);
    if (!override.ok) problems.push(`line ${line}: ${override.problem}`);
    else if ((override.value.expiresAt ?? Number.POSITIVE_INFINITY) <= now) expired++;
    else if (overrides.has(override.value.domain))
      problems.push(`line ${line}: ${override.value.domain} comes twice`);
    else overrides.set(override.value.domain, override.value);
  }
  return { overrides: [...overrides.values()], expired, problems };
}

const YES_NO: ReadonlyMap<string, boolean> = new Map([
  ['', false],
  ['false', false],
  ['no', false],
  ['true', true],
  ['yes', true],
]);

function overrideOf(of: (column: Column) => string, author: string | null): Checked<Wanted> {
  const parsed = parseDomain(of('domain'));
  if (!parsed.ok) return bad(`domain: ${parsed.detail}`);
  const action = of('action').toLowerCase();
  if (!OVERRIDE_ACTIONS.includes(action as OverrideAction))
    return bad(`action must be one of ${OVERRIDE_ACTIONS.join(', ')}`);
  const below = YES_NO.get(of('below').toLowerCase());
  if (below === undefined) return bad('below must be yes or no');
  const note = labelOf(of('note'));
  if (!note.ok) return bad(`note ${note.problem}`);
  const by = labelOf(of('author'));
  if (!by.ok) return bad(`author ${by.problem}`);
  const expiry = of('expires_at') === '' ? good(null) : parseTime(of('expires_at'));
  if (!expiry.ok) return bad(`expires_at ${expiry.problem}`);
  return good({
    ...{ domain: parsed.domain, action: action as OverrideAction, below },
    ...{ note: note.value, author: by.value ?? author, expiresAt: expiry.value },
  });
}

const labelOf = (text: string): Checked<string | null> => (text === '' ? good(null) : parseLabel(text));

/** To the last digit, where it has a fraction of a second: what is imported again is the same. */
const written = (at: number) => (at % 1_000 === 0 ? toSecond(at) : new Date(at).toISOString());

/** What can be imported again: overrides that have ended are left out. */
export function writtenOverrides(overrides: readonly Override[], now: number): string {
  const lines = overrides
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map(({ domain, action, below, note, author, expiresAt }) =>
      csvLine([
        domain,
        action,
        below ? 'yes' : 'no',
        note,
        author,
        expiresAt === null ? null : written(expiresAt),
      ]),
    );
  return csvLine(COLUMNS) + lines.join('');
}
