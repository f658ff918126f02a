/** A thread that owns one connection to the embedded store, so that no lock and no fsync stops the event loop. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FormChange, SetAside } from '../form.ts';
import { StoreRefused } from '../refused.ts';
import type { Answer, Newcomer, Question } from './asking.ts';
import {
  type Connection,
  type Counter,
  connectCounter,
  connectFirst,
  connectRecords,
  type Records,
} from './connection.ts';
import { type Copier, createCopier } from './copier.ts';
import { failureOf, SharedCommits } from './shared-commits.ts';
import type { Spender } from './spender.ts';

export interface WorkerData {
  readonly path: string;
  /** The counter counts calls and does nothing else, a copier makes copies; one of records does all the rest. */
  readonly role: 'counter' | 'records' | 'copier';
  /** A descriptor of the file, which the first one has opened, by its own. */
  readonly file?: number;
}

export type Reply =
  | { readonly isUp: true; readonly file: number | undefined }
  | { readonly change: FormChange | SetAside }
  | { readonly refused: Pick<StoreRefused, 'problem' | 'fix'> }
  | { readonly failed: Error }
  | Answer;

const port = parentPort!;
const { path, role, file } = workerData as WorkerData;
const tell = (reply: Reply, to = port) => to.postMessage(reply, handedOver(reply));
/** The question that is being worked at, and who has asked it. */
let current = { id: 0, from: port };

/** Bytes are not copied: whoever made them has no more use for them. */
function handedOver(reply: Reply): ArrayBuffer[] {
  const value = 'value' in reply ? reply.value : undefined;
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
}

/** Nothing where the start is refused. It is told in words: on the way an error loses its kind. */
function openFirst(): Connection<Records> | undefined {
  try {
    return connectFirst(path, true, change => tell({ change }));
  } catch (error) {
    if (error instanceof StoreRefused) tell({ refused: { problem: error.problem, fix: error.fix } });
    else tell({ failed: error as Error });
    return undefined;
  }
}

/** For who has asked what is being worked at now. */
function reporting(): (done: number, total: number) => void {
  const { id, from } = current;
  return (done, total) => tell({ id, done, total }, from);
}

/** A copier has no connection of its own: each copy has two. */
type Work = Omit<Connection<Counter | Records | Copier>, 'file'> & { readonly file?: number };

function answerWith({ ops, before, behind, file }: Work, spender?: Spender): void {
  async function answer({ id, op, args }: Question, from: MessagePort): Promise<void> {
    current = { id, from };
    try {
      if (op !== 'close') before();
      const value = await (ops[op as keyof typeof ops] as (...args: readonly unknown[]) => unknown)(...args);
      if (op !== 'close') behind();
      tell({ id, value }, from);
    } catch (error) {
      tell(failureOf(id, error), from);
    }
  }

  const spend: Spender['spend'] = groups => {
    before();
    const results = spender!.spend(groups);
    behind();
    return results;
  };
  const commits = spender && new SharedCommits(spend, tell);
  port.on('message', (message: Question | Newcomer) => {
    if (!('newcomer' in message)) return void answer(message, port);
    const { newcomer } = message;
    newcomer.on('message', (question: Question) => {
      if (commits && question.op === 'spend') commits.add(question, newcomer);
      else void answer(question, newcomer);
    });
  });
  tell({ isUp: true, file });
}

function serve(): void {
  if (role === 'copier') return answerWith({ ops: createCopier(path, reporting), before() {}, behind() {} });
  if (role === 'counter') {
    const counter = connectCounter(path, file!);
    return answerWith(counter, counter.ops);
  }
  const records = file === undefined ? openFirst() : connectRecords(path, file);
  if (records) answerWith(records);
}

serve();
