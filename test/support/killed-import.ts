/** Imports that are killed at any moment, and what is left of them. */

import { join } from 'node:path';
import { expect } from 'vitest';
import { reading } from '../../src/core/snapshot.ts';
import { allAtOnce } from '../../src/core/steps.ts';
import { PACKING } from '../../src/feeds/pack.ts';
import { bareEnvironment } from './environment.ts';
import { output, startChild } from './process.ts';
import { pause, sized } from './scale.ts';
import { IMPORTED, versionOf } from './versions.ts';

export const KILLS = sized(1, 50);
/** The moment is anywhere in these, in which there are several imports. */
export const WITHIN_MS = 250;
const IMPORTING = join(import.meta.dirname, 'importing.ts');

export type Rows = (statement: string) => Promise<readonly Record<string, unknown>[]>;

/** The old version or the new one, whole, with its act. */
export async function killImport(place: string, afterMs: number, rows: Rows): Promise<void> {
  const started = startChild([process.execPath, IMPORTING, place], bareEnvironment({}));
  await output(started, /^0$/m);
  await pause(afterMs);
  started.child.kill('SIGKILL');
  await started.exited;

  const told = Number(started.stdout().trim().split('\n').at(-1));
  const [row, ...others] = await rows('SELECT * FROM snapshot');
  expect(others).toEqual([]);
  expect([`${told}`, `${told + 1}`]).toContain(row!.version);
  const text = await PACKING.unpack(String(row!.body));
  const { names } = allAtOnce(reading(IMPORTED, text, String(row!.digest), 1));
  expect(names).toEqual(versionOf(Number(row!.version)).names);
  const [acts] = await rows("SELECT count(*) AS n FROM audit WHERE action = 'feed.update'");
  expect(Number(acts!.n)).toBe(Number(row!.version) + 1);
}
