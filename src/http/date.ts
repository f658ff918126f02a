/** The time for `Date` (RFC 9110 6.6.1), written once a second. */

let text = '';
let until = 0;

export function dateText(): string {
  const now = performance.now();
  if (now >= until) {
    text = new Date().toUTCString();
    until = now + 1_000;
  }
  return text;
}
