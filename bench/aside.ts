/** A thread that calls a service and starts processes, so that neither holds the loop that is watched. */

import { execFileSync } from 'node:child_process';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

type Asked = { readonly run: readonly string[] } | { readonly url: string; readonly authorization: string };

export class Aside {
  readonly #thread = new Worker(new URL(import.meta.url));

  /** One at a time; of a call its status. */
  ask(asked: Asked): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#thread.once('message', resolve);
      this.#thread.once('error', reject);
      this.#thread.postMessage(asked);
    });
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
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

if (!isMainThread)
  parentPort!.on('message', async (asked: Asked) => parentPort!.postMessage(await answer(asked)));
