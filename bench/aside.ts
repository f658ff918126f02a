/** A process that calls a service and starts others, so that neither holds the loop that is watched. */

import { execFileSync, fork } from 'node:child_process';

type Asked = { readonly run: readonly string[] } | { readonly url: string; readonly authorization: string };

/** Begun before there is much in memory: a thread that starts processes has all of it mapped twice, for 9 ms. */
export class Aside {
  readonly #process = fork(import.meta.filename);

  /** One at a time; of a call its status. */
  ask(asked: Asked): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#process.once('message', (status: number) => resolve(status));
      this.#process.once('exit', code => reject(new Error(`it ended with ${code}`)));
      this.#process.send(asked);
    });
  }

  close(): void {
    this.#process.kill();
  }
}

async function answer(asked: Asked): Promise<number> {
  if ('run' in asked) {
    execFileSync(process.execPath, asked.run);
    return 0;
  }
  const { url, authorization } = asked;
  const response = await fetch(url, { headers: { authorization } });
  await response.arrayBuffer();
  return response.status;
}

if (import.meta.main) process.on('message', async (asked: Asked) => process.send!(await answer(asked)));
