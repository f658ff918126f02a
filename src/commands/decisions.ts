/** `domain-risk decisions`: what callers were told of which domain, kept where DECISION_LOG is set. */

import type { Command } from 'commander';
import type { Domain } from '../core/domain.ts';
import { parseTime } from '../core/typed.ts';
import { shownDecision } from '../http/shown.ts';
import { CommandFailed, printJson, printTable, UsageProblem } from './print.ts';
import { domainValue, durationValue, labelValue, limitValue } from './values.ts';
import { withStore } from './world.ts';

interface Options {
  domain?: Domain;
  key?: string;
  since?: number;
  limit: number;
  json?: boolean;
}

/** A moment, or how long ago. */
function sinceValue(text: string): number {
  if (/^\d+[smhd]$/.test(text)) return Date.now() - durationValue(text);
  const time = parseTime(text);
  if (!time.ok) throw new UsageProblem(`--since ${time.problem}, or a duration such as 7d`);
  return time.value;
}

export function addDecisions(program: Command): void {
  program
    .command('decisions')
    .description('what callers were told, newest first; needs DECISION_LOG')
    .option('--domain <domain>', 'only of this domain', domainValue)
    .option('--key <id-or-name>', 'only of this key, a revoked one too', labelValue)
    .option('--since <time>', 'only from then on: 2026-11-10, 2026-11-10T08:00:00Z or 7d', sinceValue)
    .option('--limit <n>', 'how many, 1 to 1000', limitValue, 100)
    .option('--json', 'one JSON document on stdout')
    .action(decisions);
}

async function decisions({ domain, key, since = 0, limit, json }: Options): Promise<void> {
  const { rows, log } = await withStore(async (store, config) => {
    const keyIds = key === undefined ? undefined : await store.keyIdsOf(key);
    if (keyIds?.length === 0)
      throw new CommandFailed(
        `there is no key ${JSON.stringify(key)}; "domain-risk keys list --all" shows all`,
      );
    const found = await store.decisions({ domain, keyIds, since, most: limit });
    const names = await store.keyNames([...new Set(found.map(({ keyId }) => keyId))]);
    return { rows: found.map(one => shownDecision(one, names)), log: config.decisions.log };
  });
  if (json) return printJson(rows);
  if (rows.length === 0) {
    const why =
      log === 'off' ? ': answers are kept by servers that run with DECISION_LOG=flagged or all' : '';
    process.stderr.write(`no decision found${why}\n`);
    return;
  }
  printTable(
    ['AT', 'KEY', 'DOMAIN', 'SCORE', 'REASON', 'SNAPSHOT', 'DNS'],
    rows.map(row => [
      ...[row.at, row.key_name ?? row.key, row.domain, row.risk_score, row.reason, row.snapshot],
      row.degraded ? 'degraded' : '',
    ]),
  );
}
