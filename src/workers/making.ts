/** A thread that makes one thing of the lists and ends. */

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { handingOver, inTurns } from '../assemble.ts';
import { joinCatalog, joinStore } from '../compose.ts';
import { filterHere, makeHere } from '../make.ts';
import type { FromMaking, Jobs, MakingStart } from './maker.ts';
import { unpackOverrides } from './override-lines.ts';

/** Of the connections of PostgreSQL it needs the fewest. */
const SHARE = 8;
/** There it is this thread's own; elsewhere the whole program's. */
const HAS_OWN_PRIORITY = process.platform === 'linux';

const { config, store: ports, job } = workerData as MakingStart;
const tell = (message: FromMaking, transfer: readonly ArrayBuffer[] = []) =>
  parentPort!.postMessage(message, transfer);

async function makeNext({ current, unreadable }: Jobs['next']['asked']): Promise<Jobs['next']['made']> {
  const next = await withStore(async make => make.next(await joinCatalog(config, current), unreadable, 0));
  return { next: next && (await inTurns(handingOver(next))), unreadable };
}

async function tellChanges({ before, after, ...told }: Jobs['tell']['asked']): Promise<boolean> {
  const both = { before: await joinCatalog(config, before), after: await joinCatalog(config, after) };
  return withStore(make => make.tell({ ...told, ...both }));
}

async function makeFilter({ catalog, overrides, now, secret }: Jobs['filter']['asked']) {
  const of = { catalog: await joinCatalog(config, catalog), overrides: unpackOverrides(overrides) };
  const file = await filterHere(of, now, secret);
  // Of its own, so that it can be given away.
  return { ...file, bytes: new Uint8Array(file.bytes) };
}

async function withStore<T>(work: (make: ReturnType<typeof makeHere>) => Promise<T>): Promise<T> {
  const store = await joinStore(config, ports, SHARE);
  try {
    const { feedsOff } = config;
    return await work(
      makeHere({ feedsOff, store, onError: error => tell({ problem: (error as Error).message }) }),
    );
  } finally {
    await store.close();
  }
}

if (HAS_OWN_PRIORITY) setPriority(10);
if (job.kind === 'next') tell({ made: await makeNext(job.asked) });
else if (job.kind === 'tell') tell({ made: await tellChanges(job.asked) });
else {
  const made = await makeFilter(job.asked);
  tell({ made }, [made.bytes.buffer]);
}
