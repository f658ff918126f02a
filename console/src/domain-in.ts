/** The domain in what a person wrote: a name, a URL, an address. Never the part of an address before its `@`. */

/** The longest URLs that anybody has. */
const MOST_CHARACTERS = 2_000;
/** Full stops of other scripts too, which IDNA reads as dots (UTS 46). */
const DOTS = /[.\u3002\uff0e\uff61]/;
/** Emoji too: some registries give them away. */
const NO_LETTER =
  /[^\u200c-\u200d\p{L}\p{M}\p{N}\u00b7\u30fb\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}-]/u;

const isLabel = (label: string) =>
  label !== '' && label.length <= 63 && !NO_LETTER.test(label) && !/^-|-$/.test(label);

/** Roughly what the service takes: what is surely no domain should not cost a call, and the service has the last word. */
function isDomain(name: string): boolean {
  const labels = name.split(DOTS);
  return name.length <= 253 && labels.length >= 2 && labels.every(isLabel) && !/^\d+$/.test(labels.at(-1)!);
}

const BEFORE = /[\s<("'[]/;
const BEHIND = /[\s>)"'\],;:!?]/;

/** Without what stands around a name in a sentence. A pattern for both ends takes quadratic time (20 s for 1 MB of colons). */
function bareOf(word: string): string {
  let [from, to] = [0, word.length];
  while (from < to && BEFORE.test(word[from]!)) from++;
  while (from < to && BEHIND.test(word[to - 1]!)) to--;
  return word.slice(from, to);
}

const untilPath = (text: string) => text.replace(/[/?#].*$/s, '');

/** Who it is for, of a URL. */
function hostOfUrl(rest: string): string {
  const authority = untilPath(rest);
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/**
 * What is behind the `@`: before it any of `/?#` may stand (RFC 5321, 4.1.2), so that it is no path. Nothing of `site/@ann`,
 * which may be either.
 */
function hostOfAddress(text: string): string {
  const at = text.indexOf('@');
  if (text[at - 1] === '/') return '';
  return hostOfUrl(text.slice(at + 1));
}

function hostOf(bare: string): string {
  const [scheme = ''] = /^(?:mailto:|[a-z][a-z0-9+.-]*:\/\/|\/\/)/.exec(bare) ?? [];
  const rest = bare.slice(scheme.length);
  if (scheme.endsWith('/')) return hostOfUrl(rest);
  if (rest.includes('@')) return hostOfAddress(rest);
  return scheme === '' ? untilPath(rest) : '';
}

/** `https://ann@shop.example:8080/x`, `mailto:ann@shop.example`, `Ann <ann@shop.example>` are all `shop.example`. */
export function domainIn(word: string): string | undefined {
  if (word.length > MOST_CHARACTERS || !DOTS.test(word)) return undefined;
  const host = hostOf(bareOf(word).toLowerCase())
    .replace(/:\d{1,5}$/, '')
    .replace(/^\*?\.|\.$/g, '');
  return isDomain(host) ? host : undefined;
}
