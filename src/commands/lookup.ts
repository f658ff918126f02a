/** `domain-risk lookup` and `top`: what the service would answer, without calling it. */

import { type Command, Option } from 'commander';
import { loadCatalog, openResolver, openStore, openVerdicts } from '../compose.ts';
import type { Domain } from '../core/domain.ts';
import type { Store } from '../core/ports.ts';
import type { FlagReason } from '../core/ranking.ts';
import { OFFLINE } from '../dns/offline.ts';
import { domainJson, explainedJson, FLAG_REASONS, topDomainsJson } from '../http/wire.ts';
import type { Answer } from '../lookup.ts';
import { printFields, printJson, printTable, UsageProblem } from './print.ts';
import { domainValue, limitValue } from './values.ts';
import { hasStore, readWorld, tellNoStore, withStore } from './world.ts';

/** A machine that only looks up has no store yet, and looking up must not make one. */
const NO_STORE: Pick<
  Store,
  'listOverrides' | 'readHosts' | 'sharedNames' | 'learn' | 'sweepMark' | 'snapshots' | 'close'
> = {
  listOverrides: async () => ({ overrides: [], revision: 0 }),
  readHosts: async () => [],
  sharedNames: async () => '',
  learn: async () => {},
  sweepMark: async () => undefined,
  snapshots: async () => [],
  close: async () => {},
};

const COMMAND_LINE = 'command-line';

interface LookupOptions {
  explain?: boolean;
  offline?: boolean;
  json?: boolean;
  url?: string;
  keyFile?: string;
}

export function addLookups(program: Command): void {
  program
    .command('lookup')
    .description('judge a domain as the service would, with the same lists, overrides and DNS')
    .argument('<domain>', 'the name', domainValue)
    .option('--explain', 'say why, signal by signal')
    .option('--offline', 'ask no DNS server')
    .option(
      '--url <url>',
      'ask a running service there, with the key in --key-file, in place of judging here',
    )
    .option('--key-file <file>', 'file that holds the API key; "-" reads it from stdin')
    .option('--json', 'one JSON document on stdout, as the API answers')
    .action(lookup);

  program
    .command('top')
    .description('the domains most often flagged in the last 30 days')
    .option('--limit <n>', 'how many, 1 to 1000', limitValue, 100)
    .addOption(new Option('--reason <reason>', 'only these').choices(FLAG_REASONS))
    .option('--json', 'one JSON document on stdout, as the API answers')
    .action(top);
}

async function lookup(domain: Domain, options: LookupOptions): Promise<void> {
  if (options.url !== undefined) {
    const { askService } = await import('./remote.ts');
    return askService(domain, options.url, options);
  }
  if (options.keyFile !== undefined)
    throw new UsageProblem('--key-file needs --url: the address of the service to ask with that key');
  const config = readWorld();
  const isStored = hasStore(config);
  if (!isStored) tellNoStore(config, 'judged without overrides, updated lists and learned hosts');
  const resolver = options.offline ? OFFLINE : openResolver(config);
  const store = isStored ? await openStore(config, failed) : (NO_STORE as Store);
  try {
    const catalog = await loadCatalog(config, () => {}, store);
    const verdicts = await openVerdicts({
      store,
      resolver,
      catalog: () => catalog,
      clock: Date.now,
      onError: failed,
    });
    await verdicts.lookup.lookup(domain, COMMAND_LINE);
    // The service learns the addresses of mail hosts behind an answer; here there is no later answer, so wait.
    await verdicts.learn.settle();
    const answer = await verdicts.lookup.lookup(domain, COMMAND_LINE);
    if (options.json)
      printJson(JSON.parse(options.explain ? explainedJson(answer) : domainJson(answer.verdict)));
    else printAnswer(answer, options.explain ?? false);
  } finally {
    await resolver.close();
    await store.close();
  }
}

function failed(error: unknown): void {
  throw error;
}

function printAnswer({ verdict, evidence, degraded, snapshot }: Answer, explain: boolean): void {
  printFields({
    domain: verdict.domain,
    'risk score': verdict.riskScore,
    reason: verdict.reason,
    'free provider': verdict.isFreeProvider ? 'yes' : 'no',
    'corporate email': verdict.isCorporateEmail ? 'yes' : 'no',
    'mx provider': verdict.mxProviderLabel,
    ...(degraded ? { degraded: 'DNS gave no answer: a neutral score' } : {}),
  });
  if (!explain) return;
  process.stdout.write('\n');
  printTable(
    ['SIGNAL', 'POINTS', 'DETAIL'],
    verdict.signals.map(({ signal, points, detail }) => [signal, points, detail]),
  );
  if (evidence.lists.length > 0) {
    process.stdout.write('\n');
    printTable(
      ['FEED', 'ENTRY', 'SINCE'],
      evidence.lists.map(({ feed, entry, since }) => [feed, entry, since]),
    );
  }
  const exchanges = evidence.mail.exchanges.map(({ host }) => host).join(', ');
  process.stdout.write(
    `\ndns ${evidence.mail.state}${exchanges && `: ${exchanges}`}\nsnapshot ${snapshot}\n`,
  );
}

async function top(options: { limit: number; reason?: FlagReason; json?: boolean }): Promise<void> {
  await withStore(async (store, config) => {
    const catalog = await loadCatalog(config, () => {}, store);
    const { rank } = await openVerdicts({
      store,
      resolver: OFFLINE,
      catalog: () => catalog,
      clock: Date.now,
      onError: failed,
    });
    const domains = await rank.top(options.limit, options.reason);
    if (options.json) return printJson(JSON.parse(topDomainsJson(domains)));
    printTable(
      ['DOMAIN', 'RISK SCORE', 'REASON'],
      domains.map(row => [row.domain, row.riskScore, row.reason]),
    );
  });
}
