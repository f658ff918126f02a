/** RFC 9110 13.1.2: whether a caller has what a tag stands for: weak comparison, any of the listed tags or `*`. */

export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}
