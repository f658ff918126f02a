/** Who is established at which hosts, learned or not, as the store tells it: for evidence that no guest was weighed for. */

import { COLLUDING } from './colluding.ts';

/** `own@` and the domain for hosts of its own. */
export const ownOf = (domain: string) => `own@${domain}`;

/**
 * One text, in the order of its lines, and searched in: a store has 100,000 such names, and few are ever asked for. Each
 * line is a host and who is there, between spaces, and for listed names below a domain `*.` before it and `=` with the
 * marks of the keys that asked for them on four days or more, a month apart.
 */
export class Established {
  readonly #lines: string;

  constructor(lines = '') {
    this.#lines = lines;
  }

  /** Whether an unlisted domain was seen there on three days or more, a month apart. */
  has(domain: string, at: string): boolean {
    return this.#namesAt(at).includes(` ${domain} `);
  }

  /** Whether listed names below a domain were there as long, and more keys have asked for them than may be one party's. */
  isAskedBelow(domain: string, at: string): boolean {
    const names = this.#namesAt(at);
    const marked = ` *.${domain}=`;
    let keys = 0;
    for (let from = names.indexOf(marked); from >= 0; from = names.indexOf(marked, from + 1))
      keys |= Number.parseInt(names.slice(from + marked.length), 10);
    return keys.toString(2).replaceAll('0', '').length > COLLUDING;
  }

  /** With the space before and behind each; empty where there are none. */
  #namesAt(at: string): string {
    const lines = this.#lines;
    const line = `${at} `;
    let [from, to] = [0, lines.length];
    while (from < to) {
      const start = lines.lastIndexOf('\n', ((from + to) >>> 1) - 1) + 1;
      const end = lines.indexOf('\n', start);
      if (lines.startsWith(line, start)) return lines.slice(start + at.length, end < 0 ? undefined : end);
      if (lines.slice(start, start + line.length) < line) from = end < 0 ? to : end + 1;
      else to = start;
    }
    return '';
  }
}
