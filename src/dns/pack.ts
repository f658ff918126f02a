/** A mail answer as one text, in place of an object and two more for each exchange. */

import type { Exchange, Mail } from '../core/mail.ts';

/** Answers without exchanges are few objects, shared by all names, and stay what they are. */
export function packMail(mail: Mail): string | Mail {
  if (mail.exchanges.length === 0) return mail;
  return mail.exchanges.map(({ host, preference }) => `${preference} ${host}`).join('\n');
}

export function unpackMail(packed: string | Mail): Mail {
  if (typeof packed !== 'string') return packed;
  const exchanges = packed.split('\n').map((line): Exchange => {
    const space = line.indexOf(' ');
    return Object.freeze({ host: line.slice(space + 1), preference: Number(line.slice(0, space)) });
  });
  return Object.freeze({ state: 'mx', exchanges: Object.freeze(exchanges), stale: false });
}
