/** `.env`, of which Node reads the settings before anything of ours runs: a pipe there would hold it for ever. */

import { statSync } from 'node:fs';

/** Whoever may not look into a folder has no settings there: `sudo -u` leaves its user in the current folder of another. */
function statOf(path) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The first of these that is there; a problem in words where it is no file. */
export function settingsFileOf(paths) {
  for (const path of paths) {
    const stat = statOf(path);
    if (stat === undefined) continue;
    return stat.isFile() ? { path } : { problem: `${path} must be a file, or not be there` };
  }
  return {};
}
