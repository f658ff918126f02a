/** `domain-risk audit`: what operators did, who did it, and when. */

import type { Command } from 'commander';
import { shownAct } from '../http/shown.ts';
import { printJson, printTable } from './print.ts';
import { limitValue } from './values.ts';
import { withStore } from './world.ts';

export function addAudit(program: Command): void {
  program
    .command('audit')
    .description('what operators changed, newest first')
    .option('--limit <n>', 'how many, 1 to 1000', limitValue, 100)
    .option('--json', 'one JSON document on stdout')
    .action(audit);
}

async function audit(options: { limit: number; json?: boolean }): Promise<void> {
  const [found, names] = await withStore(async store => {
    const acts = await store.audit(options.limit);
    return [acts, await store.keyNames([...new Set(acts.map(({ subject }) => subject))])] as const;
  });
  const acts = found.map(shownAct);
  if (options.json) return printJson(acts);
  const nameOf = (subject: string) => (names.has(subject) ? `${names.get(subject)} (${subject})` : subject);
  printTable(
    ['AT', 'WHO', 'VIA', 'ACTION', 'SUBJECT', 'DETAIL'],
    acts.map(({ at, who, via, action, subject, detail }) => [
      ...[at, who, via, action, nameOf(subject), detail],
    ]),
  );
}
