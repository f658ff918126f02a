/** Reads the hand-edited tables from the data folder that ships with the service. */

import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { TABLE_FILES, type TableTexts } from '../core/tables.ts';

export async function readTables(folder = shippedFolder()): Promise<TableTexts> {
  const texts = await Promise.all(
    TABLE_FILES.map(async file => [file, await readFile(join(folder, file), 'utf8')] as const),
  );
  return Object.fromEntries(texts) as TableTexts;
}

/** In our own package: the sources lie in src/feeds, the program in `.program/*` or `dist`. */
const shippedFolder = () => join(dirname(findPackageJSON(import.meta.url)!), 'data');
