/**
 * Email addresses: from what a caller sent to the domain, to the little of the local part that may be shown again, and to
 * whether it stands for a role. The local part itself never leaves this file.
 */

import TABLE from '../../data/role-mailboxes.json' with { type: 'json' };
import { type Domain, parseDomain } from './domain.ts';

/** What a caller is told about each rule. Fixed sentences: nothing of the input is ever repeated. */
const DETAILS = {
  encoding:
    'The address is not valid percent-encoded UTF-8: encode it as UTF-8, every percent sign with two hex digits.',
  too_long: 'The address is too long: send at most 320 characters.',
  look_alike: 'The address holds a character that only looks like @: write @ or %40.',
  signs: 'The address holds more than one @: send one address, or the domain only.',
  no_local: 'There is nothing before the @: send a whole address, or the domain only.',
  quoted: 'The part before the @ is a quoted string, which is not supported: send the domain only.',
  local_too_long: 'The part before the @ is longer than 64 characters: shorten it.',
  invisible: 'The part before the @ holds a space, control or invisible character: remove it.',
  character: 'The part before the @ holds a character that no mailbox has (RFC 5321 4.1.2): remove it.',
  dot: 'The part before the @ begins or ends with a dot, or has two in a row: remove the dot.',
} as const;

type EmailRule = keyof typeof DETAILS;

/** An address, or a bare domain, as far as anybody may know it. */
export interface Address {
  readonly ok: true;
  readonly domain: Domain;
  /** What was sent, with the local part masked. */
  readonly shown: string;
  /** The local part stands for a role and not for a person. */
  readonly isRole: boolean;
}

export type ParsedAddress = Address | { readonly ok: false; readonly detail: string };

const MOST_CHARACTERS = 320;
const MOST_LOCAL = 64;
/** From so many characters on two are shown at each end. */
const LONG_LOCAL = 6;
const MASK = '***';

const NON_ASCII = /[^\0-\x7f]/;
/** IDNA maps both to the sign itself. */
const LOOK_ALIKE = /[\uff20\ufe6b]/;
/** Save the joiners, which are spelling in some scripts. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Z}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
/** `atext` of RFC 5322 3.2.3 with dots between, and what RFC 6531 3.3 adds to it. */
const DOT_STRING = /^[a-zA-Z0-9!#$%&'*+\-/=?^_`{|}~.\x80-\u{10ffff}]+$/u;
const MISPLACED_DOT = /^\.|\.$|\.\./;

const ROLES: ReadonlySet<string> = new Set([...TABLE.automated, ...TABLE.rfc2142, ...TABLE.departments]);

/** From one raw path segment of a request target, still percent-encoded. It is decoded exactly once. */
export function parseAddressSegment(raw: string): ParsedAddress {
  if (NON_ASCII.test(raw)) return refused('encoding');
  let text: string;
  try {
    text = decodeURIComponent(raw);
  } catch {
    return refused('encoding');
  }
  return parseAddress(text);
}

/** From decoded text: an address or a domain. */
export function parseAddress(text: string): ParsedAddress {
  if (isLonger(text, MOST_CHARACTERS)) return refused('too_long');
  if (LOOK_ALIKE.test(text)) return refused('look_alike');
  const at = text.indexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const rule =
    at < 0 ? undefined : (brokenLocal(local) ?? (text.includes('@', at + 1) ? 'signs' : undefined));
  if (rule) return refused(rule);
  // A copy: a name is kept for long, and what is cut out of a text keeps the whole of it in memory.
  const name = Buffer.from(text.slice(at + 1)).toString();
  const parsed = parseDomain(name);
  if (!parsed.ok) return parsed;
  const { domain } = parsed;
  if (at < 0) return { ok: true, domain, shown: text, isRole: false };
  return { ok: true, domain, shown: `${masked(local)}@${name}`, isRole: isRole(local) };
}

function brokenLocal(local: string): EmailRule | undefined {
  if (local === '') return 'no_local';
  if (local.startsWith('"')) return 'quoted';
  if (isLonger(local, MOST_LOCAL)) return 'local_too_long';
  if (INVISIBLE.test(local)) return 'invisible';
  if (!DOT_STRING.test(local)) return 'character';
  return MISPLACED_DOT.test(local) ? 'dot' : undefined;
}

function masked(local: string): string {
  const characters = [...local];
  if (characters.length === 1) return MASK;
  if (characters.length < LONG_LOCAL) return characters[0] + MASK;
  return characters.slice(0, 2).join('') + MASK + characters.slice(-2).join('');
}

/** Before any tag: `info+spring@…` goes to the same people. */
function isRole(local: string): boolean {
  return ROLES.has(local.split('+', 1)[0]!.toLowerCase());
}

/** None has more than two units, so few need to be counted. */
function isLonger(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most);
}

function refused(rule: EmailRule): ParsedAddress {
  return { ok: false, detail: DETAILS[rule] };
}
