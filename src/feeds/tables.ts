/** Reads the hand-edited tables from the data folder that ships with the service. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TABLE_FILES, type TableTexts } from '../core/tables.ts';

export async function readTables(folder = shippedFolder()): Promise<TableTexts> {
  const texts = await Promise.all(
    TABLE_FILES.map(async file => [file, await readFile(join(folder, file), 'utf8')] as const),
  );
  return Object.fromEntries(texts) as TableTexts;
}

/** The nearest one above this file: a clone runs from src/feeds, the published package from dist/src/feeds. */
function shippedFolder(): string {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const folder = join(at, 'data');
    if (existsSync(join(folder, TABLE_FILES[0]))) return folder;
    if (dirname(at) === at) throw new Error(`data/${TABLE_FILES[0]} is missing; install the package again`);
  }
}
