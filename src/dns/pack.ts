/** A mail answer as one text, in place of an object and two more for each exchange. */

import type { Exchange, Mail } from '../core/mail.ts';
import { mailOf } from './finding.ts';

/** How the text ends where there are others that were not read. */
const CUT = '\n';
const CUT_BESIDE = '\n\n';

/** Answers without exchanges are few objects, shared by all names, and stay what they are. */
export function packMail(mail: Mail): string | Mail {
  if (mail.exchanges.length === 0) return mail;
  const lines = mail.exchanges.map(({ host, preference }) => `${preference} ${host}`).join('\n');
  if (!mail.cut) return lines;
  return lines + (mail.cut === 'beside' ? CUT_BESIDE : CUT);
}

export function unpackMail(packed: string | Mail): Mail {
  if (typeof packed !== 'string') return packed;
  const cut = packed.endsWith(CUT_BESIDE) ? 'beside' : packed.endsWith(CUT) || undefined;
  const exchanges = packed
    .trimEnd()
    .split('\n')
    .map((line): Exchange => {
      const space = line.indexOf(' ');
      return Object.freeze({ host: line.slice(space + 1), preference: Number(line.slice(0, space)) });
    });
  return mailOf(Object.freeze(exchanges), cut);
}
