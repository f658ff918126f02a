/** Which Node runs the service: the host's where it is new enough, else the one that came along where that runs here. */

/** `node:sqlite` with a SQLite that does not corrupt a WAL with two writers. */
export const OLDEST = [24, 15];

/**
 * @param {{ version: string, path: string }} host
 * @param {string | undefined} bundled where npm has put it; undefined where it did not
 * @param {(path: string) => boolean} runs
 * @returns {{ node: string } | { problem: string }}
 */
export function chooseNode(host, bundled, runs) {
  const [major = 0, minor = 0] = host.version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return { node: host.path };
  if (bundled !== undefined && runs(bundled)) return { node: bundled };
  const why =
    bundled === undefined
      ? 'none came along for this system (npm leaves it out with --omit=optional)'
      : 'the one that came along does not run here (it needs glibc; Alpine has musl)';
  return {
    problem: `Node ${OLDEST.join('.')} or later is needed, this is ${host.version}, and ${why}: install a newer one from https://nodejs.org or your system's packages`,
  };
}
