/** What a server says of a list that it sent, so that it need not send the same again (RFC 9110, 8.8 and 13.1). */

export interface Tag {
  /** SHA-256 of the address that sent it: the address itself may have a secret in its query. */
  readonly address: string;
  readonly etag: string | null;
  /** `Last-Modified`, as it stood there. */
  readonly modified: string | null;
}

/** Of the version that is in use. */
export interface KeptTag extends Tag {
  /** Of the snapshot that was made of it, or that says the same. */
  readonly digest: string;
  /** When it was last sent whole. Milliseconds since the epoch. */
  readonly wholeAt: number;
}

/** Servers use up to some tens of characters. */
const MOST_ETAG = 200;
/** What RFC 9110, 8.8.3 allows, but for characters above ASCII: whatever else stands there is not sent back. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]+"$/;
/** The one form that servers may send (RFC 9110, 5.6.7). */
const MODIFIED = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Undefined where the server says nothing that it could be asked with. */
export function tagOf(
  address: string,
  {
    etag,
    'last-modified': modified,
  }: { readonly etag?: string | undefined; readonly 'last-modified'?: string | undefined },
): Tag | undefined {
  const tag = {
    address,
    etag: etag !== undefined && etag.length <= MOST_ETAG && ETAG.test(etag) ? etag : null,
    modified: modified !== undefined && MODIFIED.test(modified) ? modified : null,
  };
  return tag.etag === null && tag.modified === null ? undefined : tag;
}

/** A server that says for ever that nothing changed is asked for the whole list so often all the same. */
const WHOLE_MS = 7 * 86_400_000;

/** What a server may be asked with; undefined where it is of another version than the one in use, or too old. */
export function usableTag(
  kept: KeptTag | null | undefined,
  digest: string | undefined,
  now: number,
): KeptTag | undefined {
  if (!kept || kept.digest !== digest) return undefined;
  // A clock that was ahead would put the week off.
  return kept.wholeAt <= now && now - kept.wholeAt < WHOLE_MS ? kept : undefined;
}
