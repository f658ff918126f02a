/** `.env`: which one counts. The program reads it, and says what is wrong with it. */

import { statSync } from 'node:fs';

/** Whoever may not look into a folder has no settings there: `sudo -u` leaves its user in the current folder of another. */
function isThere(path) {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The first of these that is there, whatever it is. */
export function settingsFileOf(paths) {
  return paths.find(isThere);
}
