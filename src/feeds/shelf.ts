/** Keeps the last large catalog in a file, so that the next start need not make it of the lists again. */

import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InTurns, Saved, Shelf } from '../core/saved.ts';
import type { Steps } from '../core/steps.ts';

/** Of what is written: one that another version of the program wrote is made anew. */
const FORM = 3;
const NAME = /^catalog-[0-9a-f]{12}\.names(?:\.partial)?$/;
/** Beginning of the file: JSON, filled up with spaces. */
const HEAD_BYTES = 1_024;
/** Read and written in one go. */
const PIECE = 2 ** 18;
/** Hashed in one step: 0.2 ms. Four times as much, beside other long work, took 1 to 2 ms each time (2026-11-17). */
const HASHED = 2 ** 16;

interface Head {
  readonly form: number;
  readonly program: string;
  readonly generation: string;
  /** SHA-256 of all that follows. */
  readonly digest: string;
  /** Their lengths: text, table of disposable names, panel, days. */
  readonly parts: readonly number[];
}

/** `folder` is never made: where there is none, nothing is kept. */
export function openShelf(folder: string, program: string): Pick<Shelf, 'read' | 'write'> {
  const pathOf = (generation: string) => join(folder, `catalog-${generation}.names`);
  const expected = { form: FORM, program };

  async function read(generation: string): Promise<Saved | undefined> {
    let file: FileHandle | undefined;
    try {
      file = await open(pathOf(generation));
      return await readFrom(file, { ...expected, generation });
    } catch {
      // Missing, torn or another's: the catalog is made of its lists, and this is replaced.
      return undefined;
    } finally {
      await file?.close();
    }
  }

  async function write(generation: string, saved: Saved, stop: AbortSignal, inTurns: InTurns): Promise<void> {
    const parts = partsOf(saved);
    const path = pathOf(generation);
    const partial = `${path}.partial`;
    try {
      const digest = await inTurns(digesting(parts, stop));
      await rm(partial, { force: true });
      const file = await open(partial, 'wx', 0o600);
      try {
        await writeTo(file, parts, { ...expected, generation, digest }, stop);
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {});
      if (stop.aborted || (error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    for (const name of await readdir(folder))
      if (NAME.test(name) && join(folder, name) !== path) await rm(join(folder, name), { force: true });
  }

  return { read, write };
}

type Expected = Pick<Head, 'form' | 'program' | 'generation'>;

async function readFrom(file: FileHandle, expected: Expected): Promise<Saved | undefined> {
  const { size } = await file.stat();
  const first = Buffer.alloc(HEAD_BYTES);
  await file.read(first, 0, HEAD_BYTES, 0);
  const { form, program, generation, digest, parts } = JSON.parse(first.toString('utf8')) as Head;
  const isOurs = form === expected.form && program === expected.program && generation === expected.generation;
  const isWhole = parts.length === 4 && parts.every(length => Number.isSafeInteger(length) && length >= 0);
  const total = parts.reduce((sum, length) => sum + length, HEAD_BYTES);
  if (!isOurs || !isWhole || total !== size) return undefined;
  const buffers = parts.map(length => new SharedArrayBuffer(length));
  const sum = createHash('sha256');
  let from = HEAD_BYTES;
  for (const buffer of buffers)
    for (const piece of piecesOf(new Uint8Array(buffer))) {
      const { bytesRead } = await file.read(piece, 0, piece.length, from);
      if (bytesRead !== piece.length) return undefined;
      sum.update(piece);
      from += bytesRead;
    }
  if (sum.digest('hex') !== digest) return undefined;
  const [text, disposable, panel, days] = buffers as [SharedArrayBuffer, ...SharedArrayBuffer[]];
  return { text: new Uint8Array(text), disposable: disposable!, panel: panel!, days: new Uint8Array(days!) };
}

const partsOf = ({ text, disposable, panel, days }: Saved) => [
  text,
  new Uint8Array(disposable),
  new Uint8Array(panel),
  days,
];

function* digesting(parts: readonly Uint8Array[], stop: AbortSignal): Steps<string> {
  const sum = createHash('sha256');
  for (const part of parts)
    for (const piece of piecesOf(part, HASHED)) {
      stop.throwIfAborted();
      sum.update(piece);
      yield;
    }
  return sum.digest('hex');
}

async function writeTo(
  file: FileHandle,
  parts: readonly Uint8Array[],
  described: Omit<Head, 'parts'>,
  stop: AbortSignal,
): Promise<void> {
  let to = HEAD_BYTES;
  for (const part of parts)
    for (const piece of piecesOf(part)) {
      stop.throwIfAborted();
      await file.write(piece, 0, piece.length, to);
      to += piece.length;
    }
  const head: Head = { ...described, parts: parts.map(({ length }) => length) };
  // Not made durable, which may take longer than a server has to end: what a power cut tears, its digest tells.
  await file.write(Buffer.from(JSON.stringify(head).padEnd(HEAD_BYTES)), 0, HEAD_BYTES, 0);
}

function* piecesOf(bytes: Uint8Array, length = PIECE): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
