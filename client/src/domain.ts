/** The part of an email address that may leave the process. */

/** The sign itself, its two look-alikes that IDNA maps to it, and how a URL writes it. */
const AT = /@|\uff20|\ufe6b|%40/i;
/** What no name holds: all of ASCII but letters, digits, hyphen and dot; spaces. The service judges the rest. */
const FOREIGN = /[^a-z0-9.\-\u{80}-\u{10ffff}]|[\s\p{Cc}\p{Cs}]/iu;
/** IDNA knows four of them. A name without one, such as an address that is still being typed, is never valid. */
const DOT = /[^.][.\u3002\uff0e\uff61][^.]/;
/** 253 characters and the dot of the root. */
const LONGEST = 254;

/**
 * The domain of an email address, or the domain itself; undefined when there is none. What stands before the last
 * `@` is dropped here.
 */
export function domainOf(domainOrEmail: string): string | undefined {
  if (typeof domainOrEmail !== 'string') return undefined;
  const name = domainOrEmail.split(AT).pop()!.trim().replace(/>$/, '');
  if (name.length > LONGEST || FOREIGN.test(name) || !DOT.test(name)) return undefined;
  // Only ASCII: JavaScript's lower case of a Greek word's last sigma is another letter than IDNA's. The root's dot says
  // nothing, and one name must not be known by two.
  return name.replace(/[A-Z]+/g, letters => letters.toLowerCase()).replace(/([^.])\.$/, '$1');
}
