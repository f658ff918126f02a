/** `.env`, of which Node reads the settings before anything of ours runs: a pipe there would hold it for ever. */

import { statSync } from 'node:fs';

/** The first of these that is there; a problem in words where it is no file. */
export function settingsFileOf(paths) {
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    return stat.isFile() ? { path } : { problem: `${path} must be a file, or not be there` };
  }
  return {};
}
