/** Words for automated mail in a name: a domain that is set aside for it has nobody to write to. */

/** The first label below the registrable domain that is such a word; the registrable domain itself never counts. */
export function roleWord(
  name: string,
  registrable: string | undefined,
  words: ReadonlySet<string>,
): string | undefined {
  if (registrable === undefined || name.length === registrable.length) return undefined;
  const below = name.slice(0, -registrable.length - 1);
  return below.split('.').find(label => words.has(label));
}
