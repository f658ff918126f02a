/** `domain-risk feeds filter`: confirmed disposable domains in one signed file, for clients. */

import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { inTurns } from '../assemble.ts';
import { loadCatalog } from '../compose.ts';
import { createFilters, type Filters } from '../filter.ts';
import { filterHere } from '../make.ts';
import { loadOverrides } from '../overrule.ts';
import { CommandFailed, printJson, UsageProblem } from './print.ts';
import { withStore } from './world.ts';

interface FilterOptions {
  out?: string;
  publicKey?: boolean;
  json?: boolean;
}

export function addFilter(feeds: Command): void {
  feeds
    .command('filter')
    .description(
      'write the confirmed disposable domains as a signed filter, from which clients tell them without a call',
    )
    .option('--out <file>', 'where to write it; an existing file is replaced')
    .option('--public-key', 'print the public key that clients verify it with')
    .option('--json', 'one JSON document on stdout')
    .action(filter);
}

async function filter(options: FilterOptions): Promise<void> {
  if (options.out === undefined && !options.publicKey)
    throw new UsageProblem('name a file by --out, or print the key by --public-key');
  await withStore(async (store, config) => {
    const catalog = await loadCatalog(config, () => {}, store);
    const overrides = await loadOverrides({ store, inTurns });
    const sources = () => ({ catalog, overrides: overrides.current() });
    await print(createFilters({ store, sources, ...overrides, clock: Date.now, make: filterHere }), options);
  });
}

async function print(filters: Filters, { out, json }: FilterOptions): Promise<void> {
  const key = await filters.publicKey();
  const file = out === undefined ? undefined : await filters.current();
  if (out !== undefined && file) write(out, file.bytes);
  if (json) printJson({ public_key: key, ...(file ? { names: file.names, bytes: file.bytes.length } : {}) });
  else if (file)
    process.stdout.write(`${file.names} domains in ${file.bytes.length} bytes: ${out}\npublic key: ${key}\n`);
  else process.stdout.write(`${key}\n`);
}

function write(path: string, bytes: Buffer): void {
  try {
    writeFileSync(path, bytes);
  } catch (error) {
    throw new CommandFailed(
      `cannot write ${path} (${(error as NodeJS.ErrnoException).code}): name another file`,
    );
  }
}
