/** What becomes of what was typed: how many domains, what it costs, and what was left out. */

import { MOST_NAMES, type Names } from '../names.ts';
import { plural } from '../time.ts';

export type Lacking = 'domain' | 'key' | 'fewer' | undefined;

interface NamesHintProps {
  readonly names: Names;
  /** Why it was not sent, where the person tried to. */
  readonly lacks: Lacking;
  onType(text: string): void;
}

const MOST_SHOWN = 3;

export function NamesHint({ names, lacks, onType }: NamesHintProps) {
  const { domains, leftOut } = names;
  if (domains.length === 0 && (lacks === 'domain' || leftOut.length > 0))
    return (
      <span {...(lacks === 'domain' ? { class: 'wrong', role: 'alert' } : {})}>
        {leftOut.length > 0 ? `No domain in ${some(leftOut)}. ` : ''}Enter a domain such as gmail.com.
      </span>
    );
  if (domains.length > MOST_NAMES)
    return (
      <span class="wrong" {...(lacks === 'fewer' ? { role: 'alert' } : {})}>
        {plural(domains.length, 'domain')}: at most {MOST_NAMES} at once, so none is looked up.{' '}
        <button type="button" class="link" onClick={() => onType(domains.slice(0, MOST_NAMES).join('\n'))}>
          Keep the first {MOST_NAMES}
        </button>
      </span>
    );
  if (domains.length > 1)
    return (
      <span>
        <strong>Uses {plural(domains.length, 'lookup')} of your quota.</strong> {whatBecame(names)}
        <kbd>Ctrl</kbd>+<kbd>Enter</kbd> sends.
      </span>
    );
  return (
    <span>
      Uses one lookup of your quota. {whatBecame(names) || `Paste up to ${MOST_NAMES}: URLs, addresses, CSV.`}
    </span>
  );
}

/** Whole sentences, each with a space behind it. */
function whatBecame({ domains, leftOut, repeated, cut, table }: Names): string {
  const [only] = domains;
  return [
    table !== undefined &&
      table.elsewhere > 0 &&
      `Only the column ${table.head[table.column]} is read. Left out in other columns: ${plural(table.elsewhere, 'domain')}.`,
    cut > 0 &&
      (domains.length === 1 ? `Only ${only} is sent.` : 'Of addresses and URLs only the domain is sent.'),
    repeated > 0 && `${plural(repeated, 'duplicate')} left out.`,
    leftOut.length > 0 && `Left out, no domain: ${some(leftOut)}.`,
  ]
    .filter(one => one !== false)
    .map(one => `${one} `)
    .join('');
}

function some(words: readonly string[]): string {
  const shown = words.slice(0, MOST_SHOWN).map(word => (word.length > 30 ? `${word.slice(0, 29)}…` : word));
  const rest = words.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
