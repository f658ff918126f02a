/**
 * What the first bytes of a database and of its journal say (https://sqlite.org/fileformat2.html), and whether they can be of
 * the same file a moment later. A file that was written over keeps its name and its number, but not these.
 */

import { fstatSync, readSync } from 'node:fs';

/** Of a database. None of these ever goes back, but for the size with VACUUM, which moves `form` on. */
export interface Head {
  readonly size: number;
  /** Moves on with checkpoints, though not with each. */
  readonly changes: number;
  /** Moves on with each statement that changes a table. A backup has one of its own, by chance. */
  readonly form: number;
}

const NOTHING: Head = { size: 0, changes: 0, form: 0 };

/** More than an upgrade beside a running server can change; by chance a backup comes this near once in a million times. */
const MOST_FORMS = 1_000;

/**
 * `file` must stay open for as long as this process has a connection to it: the system takes all locks of a process on a
 * file away when it closes one of its descriptors (fcntl(2)).
 */
export function headOf(file: number, size = fstatSync(file).size): Head {
  const bytes = Buffer.alloc(44);
  if (readSync(file, bytes, 0, 44, 0) < 44) return NOTHING;
  return { size, changes: bytes.readUInt32BE(24), form: bytes.readUInt32BE(40) };
}

export function canFollow(next: Head, was: Head): boolean {
  const forms = next.form - was.form;
  if (forms < 0 || forms >= MOST_FORMS || next.changes < was.changes) return false;
  return forms > 0 || next.size >= was.size;
}

/** Of a journal (a WAL). `salts` are new whenever it begins anew. */
export interface JournalHead {
  readonly size: number;
  readonly isJournal: boolean;
  readonly salts: string;
}

/** What a thousand pages need, after which SQLite empties the journal by itself: a checkpoint. */
export const JOURNAL_BYTES = 5 * 1024 * 1024;

/** `size` is from a moment before. Undefined while it is empty. */
export function journalHeadOf(file: number, size: number): JournalHead | undefined {
  const bytes = Buffer.alloc(32);
  if (readSync(file, bytes, 0, 32, 0) < 32 || size < 32) return undefined;
  const magic = bytes.readUInt32BE(0);
  return {
    size,
    isJournal: magic === 0x377f0682 || magic === 0x377f0683,
    salts: bytes.toString('hex', 16, 24),
  };
}

/** It grows until it is emptied; one that had grown beyond its limit is cut back to this when it begins anew. */
export function canFollowJournal(next: JournalHead, was: JournalHead | undefined): boolean {
  const isCut = next.salts === was?.salts && next.size < was.size && next.size < JOURNAL_BYTES;
  return next.isJournal && !isCut;
}
