/** A rate limit for lines of the log that anybody can cause; the next line tells how many were left out. */

const FIFTY_A_SECOND = { most: 50, everyMs: 1_000 };

/** Gives how many were left out before this one, or undefined where this one is. */
export function createOften({ most, everyMs } = FIFTY_A_SECOND): () => number | undefined {
  let span = -1;
  let said = 0;
  let more = 0;
  return () => {
    const now = Math.floor(performance.now() / everyMs);
    if (now !== span) {
      span = now;
      said = 0;
    }
    if (said === most) {
      more++;
      return undefined;
    }
    said++;
    const left = more;
    more = 0;
    return left;
  };
}
