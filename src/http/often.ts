/** A rate limit for lines of the log that anybody can cause; the next line tells how many were left out. */

const MOST_A_SECOND = 50;

/** Gives how many were left out before this one, or undefined where this one is. */
export function createOften(): () => number | undefined {
  let second = 0;
  let said = 0;
  let more = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) {
      second = now;
      said = 0;
    }
    if (said === MOST_A_SECOND) {
      more++;
      return undefined;
    }
    said++;
    const left = more;
    more = 0;
    return left;
  };
}
