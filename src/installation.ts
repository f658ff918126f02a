/** Where the program is: what relative paths in settings are relative to, from whatever folder it is started. */

import { findPackageJSON } from 'node:module';
import { dirname, sep } from 'node:path';

/**
 * A clone's own folder. Where npm has installed the package it is the folder that holds the outermost `node_modules`: what is
 * inside goes with the next update.
 */
export function installationOf(packageFolder: string): string {
  const [outside] = `${packageFolder}${sep}`.split(`${sep}node_modules${sep}`);
  return outside === `${packageFolder}${sep}` ? packageFolder : outside || sep;
}

export const INSTALLATION = installationOf(dirname(findPackageJSON(import.meta.url)!));
