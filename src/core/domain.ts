/** Domain names: from what a caller sent to the one canonical form, or to the rule that it breaks. */

import { getDomain, getPublicSuffix } from 'tldts';
import { toASCII, toUnicode } from 'tr46';
import TABLE from '../../data/suffixes.json' with { type: 'json' };
import { keepsItsALabels, leastLength, NON_ASCII } from './idna.ts';
import { isSpecialUse } from './special-use.ts';

declare const brand: unique symbol;

/** A checked name in canonical form: lower case, A-labels, no trailing dot. Only this file makes one. */
export type Domain = string & { readonly [brand]: true };

/** What a caller is told about each rule. Fixed sentences: nothing of the input is ever repeated. */
const DETAILS = {
  empty: 'The domain is empty: send a name such as gmail.com.',
  encoding:
    'The name is not valid percent-encoded UTF-8: encode it as UTF-8, every percent sign with two hex digits.',
  surrogate: 'The name holds half of a character (a lone UTF-16 surrogate): send whole characters.',
  double_encoding: 'The name still holds a percent sign after decoding: percent-encode it once, not twice.',
  too_long: 'The name is too long: send at most 253 characters, and at most 1024 as written in the URL.',
  invisible: 'The name holds a space, control or invisible character: remove it.',
  email: 'This is an email address: send the domain only, without the part before the @ and the @ itself.',
  url: 'This is a URL or a path: send the domain only, without scheme, slashes, query or fragment.',
  port: 'The name holds a colon: send the domain only, without scheme or port.',
  ip: 'This is an IP address: send a domain name.',
  underscore:
    'The name holds an underscore: a mail domain has only letters, digits and hyphens in its labels.',
  character: 'The name holds a character other than letters, digits, hyphens and dots: remove it.',
  empty_label: 'The name has an empty label: remove the leading or doubled dot.',
  label_too_long: 'A label is longer than 63 characters, counted in its ASCII form: shorten it.',
  hyphen: 'A label begins or ends with a hyphen: remove the hyphen.',
  idna: 'The name is not a valid internationalised domain name by UTS 46: check its characters and their order.',
  a_label:
    'A label that begins with xn-- is not valid Punycode of an allowed label: send the name it stands for.',
  single_label: 'The name has one label only: send a full domain such as gmail.com.',
  numeric_last_label: 'The last label is a number, which no top-level domain is: send a full domain name.',
  public_suffix: 'This is a public suffix, below which domains are registered: send a domain below it.',
} as const;

export type DomainRule = keyof typeof DETAILS;
export const DOMAIN_RULES = Object.keys(DETAILS) as readonly DomainRule[];

export type Parsed =
  | { readonly ok: true; readonly domain: Domain }
  | { readonly ok: false; readonly rule: DomainRule; readonly detail: string };

/** Looked at before any other work, so that the cost of a hostile text is bounded. */
const LONGEST_TEXT = 1024;

const PLAIN = /^[a-z0-9.-]*$/;
const HOST = /^[a-z0-9._-]*$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/** Characters that show as nothing, though Unicode gives them no property that says so. */
const BLANKS = '\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}';
/** Zero-width joiner and non-joiner: spelling in some scripts, which UTS 46 knows by its ContextJ rules (RFC 5892 A). */
const JOINER = /[\u200c\u200d]/;
const INVISIBLE = new RegExp(
  `(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Z}\\p{Default_Ignorable_Code_Point}${BLANKS}]`,
  'u',
);
const BLANK = new RegExp(`[${BLANKS}]`, 'u');

/** Refused as typed, first match first: IDNA mapping would drop or rewrite some of these (UTS 46 section 4). */
const REFUSED_AS_TYPED: readonly (readonly [RegExp, DomainRule])[] = [
  [/\p{Surrogate}/u, 'surrogate'],
  [INVISIBLE, 'invisible'],
  [/:\/\//, 'url'],
  [/[@\uff20\ufe6b]/, 'email'],
  [/[/\\?#]/, 'url'],
  [/^\[|:.*:/, 'ip'],
  [/:/, 'port'],
  [/%/, 'double_encoding'],
  [/_/, 'underscore'],
  [/[^a-zA-Z0-9.\-\x80-\u{10ffff}]/u, 'character'],
];

const UTS46 = {
  checkHyphens: false,
  checkBidi: true,
  checkJoiners: true,
  useSTD3ASCIIRules: true,
  transitionalProcessing: false,
  verifyDNSLength: false,
} as const;

/** The public suffix list as tldts reads it, for names that are checked already. */
const ICANN = {
  allowPrivateDomains: false,
  extractHostname: false,
  validateHostname: false,
  mixedInputs: false,
  detectIp: false,
} as const;
const WITH_PRIVATE = { ...ICANN, allowPrivateDomains: true } as const;

/** What that list leaves out: dynamic DNS and other names that are given to anybody. */
const SHARED_SUFFIXES: ReadonlySet<string> = new Set(Object.values(TABLE.suffixes).flat());
/** Of what it has: what would else be taken for registries that sell names. */
const FREE_REGISTRIES: ReadonlySet<string> = new Set(Object.values(TABLE.freeRegistries).flat());

/** Nearly every name at one glance; what it does not match is looked at rule by rule. */
const WELL_SHAPED = /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z][a-z0-9]*(?:-+[a-z0-9]+)*$/;
/** Two labels or more that are no longer than this together: none of them has more than 63 characters. */
const NO_LONG_LABEL = 65;

/** From one raw path segment of a request target, still percent-encoded. It is decoded exactly once. */
export function parseSegment(raw: string): Parsed {
  if (raw.length > LONGEST_TEXT) return refused('too_long');
  if (NON_ASCII.test(raw)) return refused('encoding');
  if (!raw.includes('%')) return parseDomain(raw);
  let text: string;
  try {
    text = decodeURIComponent(raw);
  } catch {
    return refused('encoding');
  }
  return parseDomain(text);
}

/** From decoded text, as a person types it. */
export function parseDomain(text: string): Parsed {
  if (text.length > LONGEST_TEXT) return refused('too_long');
  // The hot path: lower-case ASCII without A-labels is its own canonical form and needs no IDNA.
  if (PLAIN.test(text) && !text.includes('xn--')) return parseAscii(text);
  for (const [pattern, rule] of REFUSED_AS_TYPED) if (pattern.test(text)) return refused(rule);
  const lower = text.toLowerCase();
  if (!PLAIN.test(lower)) return parseInternational(text);
  const parsed = parseAscii(lower);
  return parsed.ok && lower.includes('xn--') ? parseInternational(lower) : parsed;
}

/** The name and its parents, nearest first, up to but not including the ICANN public suffix. */
export function lineage(name: string): string[] {
  const suffix = getPublicSuffix(name, ICANN) ?? name;
  const names: string[] = [];
  for (let at = 0; name.length - at > suffix.length; at = name.indexOf('.', at) + 1)
    names.push(name.slice(at));
  return names;
}

/** What has more stands in no list and no table: 50 mail hosts of 100 labels cost 15 ms with every lookup (2026-11-19). */
const MOST_LABELS = 10;

/** Of the name and its parents those that may stand in one. */
export function shortLineage(name: string): string[] {
  let from = name.length;
  for (let labels = MOST_LABELS; labels > 0 && from > 0; labels--) from = name.lastIndexOf('.', from - 2) + 1;
  return lineage(name.slice(from));
}

/** What we know beside the public suffix list. */
export const sharedSuffixes = (): Iterable<string> => SHARED_SUFFIXES;

/** Names below it are anybody's for nothing, by our own table. */
export function isGivenAway(suffix: string): boolean {
  return SHARED_SUFFIXES.has(suffix) || FREE_REGISTRIES.has(suffix);
}

/**
 * By the whole public suffix list, private part included, and what we know beside it: `foo.github.io` is one, and so is
 * `foo.mooo.com`. None for a suffix itself.
 */
export function registrableDomain(name: string): string | undefined {
  const domain = getDomain(name, WITH_PRIVATE) ?? undefined;
  if (domain === undefined || !SHARED_SUFFIXES.has(domain)) return domain;
  if (name === domain) return undefined;
  return name.slice(name.lastIndexOf('.', name.length - domain.length - 2) + 1);
}

/**
 * The same, and for a private suffix that gives no names away its own name: what is below it is its customers', but
 * freedesktop.org and surge.sh are also who they are themselves, with mail hosts and people of their own.
 */
export function ownDomain(name: string): string | undefined {
  const registrable = registrableDomain(name);
  if (registrable !== undefined || isGivenAway(name)) return registrable;
  return paidDomain(name) === undefined ? undefined : name;
}

/** By the ICANN part of the list only: the part of a name that somebody paid for. */
export function paidDomain(name: string): string | undefined {
  return getDomain(name, ICANN) ?? undefined;
}

/**
 * Whether a text from DNS is a host name, already lower case and without trailing dot, and no IP address. Labels below
 * the registered name may hold an underscore: Cloudflare names the exchange of a proxied host `_dc-mx.…`.
 */
export function isHostName(name: string): boolean {
  if (name.length > 253 || !HOST.test(name)) return false;
  if (!name.includes('_')) return brokenShape(name) === undefined;
  const registered = registrableDomain(name) ?? name;
  return !registered.includes('_') && brokenShape(name.replaceAll('_', 'x')) === undefined;
}

function parseInternational(text: string): Parsed {
  if (leastLength(text) > 253) return refused('too_long');
  const unicode = toUnicode(text, UTS46);
  if (unicode.error)
    return refused(JOINER.test(text) ? 'invisible' : NON_ASCII.test(text) ? 'idna' : 'a_label');
  if (BLANK.test(unicode.domain)) return refused('invisible');
  for (const label of unicode.domain.split('.')) {
    if (endsInHyphen(label)) return refused('hyphen');
    // No label of 63 bytes stands for more than 63 characters; encoding a far longer one takes quadratic time.
    if (label.length > 2 * 63) return refused('label_too_long');
  }
  const ascii = toASCII(text, UTS46);
  if (ascii === null) return refused('idna');
  if (!keepsItsALabels(text, ascii)) return refused('a_label');
  return parseAscii(ascii);
}

function parseAscii(dotted: string): Parsed {
  const name = dotted.endsWith('.') ? dotted.slice(0, -1) : dotted;
  const rule = brokenShape(name);
  if (rule) return refused(rule);
  if (getPublicSuffix(name, ICANN) === name && !isSpecialUse(name)) return refused('public_suffix');
  return { ok: true, domain: name as Domain };
}

/** Numbers come first: `2130706433` and `0x7f.1` are addresses to every C library, whatever else is wrong. */
function brokenShape(name: string): DomainRule | undefined {
  if (name.length <= NO_LONG_LABEL && WELL_SHAPED.test(name)) return undefined;
  if (name === '') return 'empty';
  const labels = name.split('.');
  if (isNumber(labels[labels.length - 1]!)) return labels.every(isNumber) ? 'ip' : 'numeric_last_label';
  for (const label of labels) {
    if (label === '') return 'empty_label';
    if (label.length > 63) return 'label_too_long';
    if (endsInHyphen(label)) return 'hyphen';
  }
  if (name.length > 253) return 'too_long';
  return labels.length < 2 ? 'single_label' : undefined;
}

function isNumber(label: string): boolean {
  return NUMBER.test(label);
}

function endsInHyphen(label: string): boolean {
  return label.startsWith('-') || label.endsWith('-');
}

function refused(rule: DomainRule): Parsed {
  return { ok: false, rule, detail: DETAILS[rule] };
}
