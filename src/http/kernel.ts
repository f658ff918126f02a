/**
 * What the kernel keeps of answers that were sent: of the peer's end too, where that is on the same machine. Nothing else
 * tells whether a peer reads: it takes megabytes for one that does not, and a request behind an answer proves nothing.
 */

import { isIP } from 'node:net';
import { MessageChannel, type MessagePort, SHARE_ENV, Worker } from 'node:worker_threads';
import { groupsOf } from '../core/address.ts';
import { plainAddress } from '../core/origin.ts';
import type { Look } from './looking.ts';

/** proc(5): one line for each socket of this network namespace. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Asks for the next part. */
const NEXT = 0;
/** Of a thread that reads and no more. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

/** The ends of a connection as Node gives them. */
export interface Ends {
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** Bytes that wait to be taken by the kernel. */
  readonly writableLength?: number;
}

/** A connection of which the kernel keeps less is in the middle of reading. */
export const LITTLE_BYTES = 2 * 1024;
/** With 100,000 connections that have ended it takes a second. */
const MOST_MS = 10_000;

/** Bytes by the name of a connection (nameOf); none for those of which little is kept. */
export type Kept = ReadonlyMap<string, number>;

interface Looking {
  readonly tables?: readonly string[];
  readonly least?: number;
  readonly mostMs?: number;
  readonly start?: () => Worker;
}

/**
 * Undefined where the system does not tell. In a thread of its own: lines come 4 KiB at a time however much is asked for, and
 * with 6,000 connections asking for them from here took 80 ms of the processor in place of 25, and a fifth of a second of one
 * that is busy (2026-11-18). It is there from the first time on, and ends with the process.
 */
export function lookingIn(looking: Looking = {}): () => Promise<Kept | undefined> {
  const { tables = TABLES, least = LITTLE_BYTES, mostMs = MOST_MS, start = startLooking } = looking;
  let thread: Worker | undefined;

  function forget(one: Worker): void {
    if (thread === one) thread = undefined;
  }

  /** There may be none: descriptors and threads can be short. */
  function running(): Worker | undefined {
    if (thread) return thread;
    try {
      const one = start();
      thread = one.on('error', () => forget(one)).on('exit', () => forget(one));
    } catch {
      return undefined;
    }
    return thread;
  }

  return async () => {
    const one = running();
    if (!one) return undefined;
    const { port1: answer, port2 } = new MessageChannel();
    one.postMessage({ tables, least, answer: port2 } satisfies Look, [port2]);
    const kept = await allOf(answer, mostMs);
    answer.close();
    if (kept !== 'lost') return kept;
    forget(one);
    void one.terminate();
    return undefined;
  };
}

export const keptByKernel = lookingIn();

/** Lost where the thread has ended, which closes the port, or says nothing. */
type Told = Kept | undefined | 'lost';

/** A part in each turn of the event loop: 20,000 connections of a stranger, at once, held it for 5 to 40 ms (2026-11-18). */
async function allOf(answer: MessagePort, mostMs: number): Promise<Told> {
  const kept = new Map<string, number>();
  for (;;) {
    const part = await nextOf(answer, mostMs);
    if (part === undefined || part === 'lost') return part;
    if (part.size === 0) return kept;
    for (const [name, bytes] of part) kept.set(name, bytes);
  }
}

function nextOf(answer: MessagePort, mostMs: number): Promise<Told> {
  const { promise, resolve } = Promise.withResolvers<Told>();
  const end = () => resolve('lost');
  const timer = setTimeout(end, mostMs);
  answer.once('message', resolve).once('close', end);
  answer.postMessage(NEXT);
  return promise.finally(() => {
    clearTimeout(timer);
    answer.off('message', resolve).off('close', end);
  });
}

function startLooking(): Worker {
  const file = new URL(import.meta.url.endsWith('.ts') ? './looking.ts' : './looking.js', import.meta.url);
  const thread = new Worker(file, { env: SHARE_ENV, resourceLimits: LIMITS });
  thread.unref();
  return thread;
}

/** As in that table: four bytes at a time, the last one first, on all machines that count so (elsewhere nothing is found). */
export function nameOf({ localPort = 0, remoteAddress = '', remotePort = 0 }: Ends): string {
  const address = plainAddress(remoteAddress);
  const bytes =
    isIP(address) === 4
      ? address.split('.').map(part => hex(Number(part), 2))
      : groupsOf(address).flatMap(group => group.padStart(4, '0').toUpperCase().match(/../g)!);
  const words = bytes.map((_, at) => bytes[at - (at % 4) + 3 - (at % 4)]);
  return `${hex(localPort, 4)} ${words.join('')}:${hex(remotePort, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
