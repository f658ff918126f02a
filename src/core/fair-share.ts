/** So many of several rows that none is cut before a longer one: nobody has more than an equal share while others want more. */

export function fairShare<T>(rows: readonly (readonly T[])[], most: number): T[] {
  const shortFirst = rows.toSorted((a, b) => a.length - b.length);
  const shared: T[] = [];
  for (const [at, row] of shortFirst.entries()) {
    const share = Math.floor((most - shared.length) / (shortFirst.length - at));
    for (const one of row.slice(0, share)) shared.push(one);
  }
  return shared;
}
