/** `domain-risk lookup` and `top`: what the service would answer, without calling it. */

import { type Command, Option } from 'commander';
import { openCommandStore } from '../command-store.ts';
import { loadCatalog, openResolver, openVerdicts } from '../compose.ts';
import { type Domain, parseDomain } from '../core/domain.ts';
import type { Store } from '../core/ports.ts';
import type { FlagReason } from '../core/ranking.ts';
import { OFFLINE } from '../dns/offline.ts';
import { domainJson, explainedJson, FLAG_REASONS, topDomainJson } from '../http/wire.ts';
import type { Answer } from '../lookup.ts';
import { type Entry, entryOf, lookUpFile } from './names.ts';
import { printFields, printJson, printTable, UsageProblem } from './print.ts';
import { domainValue, limitValue } from './values.ts';
import { hasStore, readWorld, tellNoStore, withStore } from './world.ts';

/** A machine that only looks up has no store yet, and looking up must not make one. */
const NO_STORE: Pick<
  Store,
  | 'changedOverrides'
  | 'readOverrides'
  | 'readHosts'
  | 'sharedNames'
  | 'established'
  | 'learn'
  | 'lastGuestDay'
  | 'sweepMark'
  | 'snapshots'
  | 'addedFeeds'
  | 'close'
> = {
  readOverrides: async () => ({ overrides: [], mark: '', revision: 0 }),
  changedOverrides: async () => undefined,
  readHosts: async () => [],
  sharedNames: async () => '',
  established: async () => '',
  learn: async () => {},
  lastGuestDay: async () => null,
  sweepMark: async () => undefined,
  snapshots: async () => [],
  addedFeeds: async () => [],
  close: async () => {},
};

const COMMAND_LINE = 'command-line';

export interface LookupOptions {
  explain?: boolean;
  offline?: boolean;
  json?: boolean;
  csv?: boolean;
  url?: string;
  keyFile?: string;
  file?: string;
  column?: string;
}

export function addLookups(program: Command): void {
  program
    .command('lookup')
    .description('look up a domain as the service would, with the same lists, overrides and DNS')
    .argument('[domain]', 'the name; or --file', domainValue)
    .option('--explain', 'show the evidence')
    .option('--offline', 'skip DNS')
    .option('--url <url>', 'look it up on the running service at this address, with the key in --key-file')
    .option('--key-file <file>', 'file that holds the API key; "-" reads it from stdin')
    .option('--file <file>', 'names or email addresses, one on each line; "-" reads them from stdin')
    .option('--column <name>', 'of a CSV file with a header: the column that holds them')
    .option('--json', 'one JSON document on stdout, as the API answers')
    .option('--csv', 'of a file: one line on stdout for each name, which it shows as `input`')
    .action(lookup);

  program
    .command('top')
    .description('the domains most often flagged in the last 30 days')
    .option('--limit <n>', 'how many, 1 to 1000', limitValue, 100)
    .addOption(new Option('--reason <reason>', 'only these').choices(FLAG_REASONS))
    .option('--json', 'one JSON document on stdout, as the API answers')
    .action(top);
}

async function lookup(domain: Domain | undefined, options: LookupOptions): Promise<void> {
  const { url, file } = options;
  const problem = usageProblem(domain, options);
  if (problem !== undefined) throw new UsageProblem(problem);
  if (url !== undefined) {
    const { askService, askServiceForMany } = await import('./remote.ts');
    if (domain !== undefined) return askService(domain, url, options);
    const stop = new AbortController();
    const end = () => stop.abort();
    process.once('SIGINT', end).once('SIGTERM', end);
    try {
      return await lookUpFile(
        { ...options, file: file! },
        askServiceForMany(url, options.keyFile, stop.signal),
      );
    } finally {
      process.off('SIGINT', end).off('SIGTERM', end);
    }
  }
  return withVerdicts(options, async verdicts => {
    if (domain === undefined)
      return lookUpFile({ ...options, file: file! }, names => judgeMany(verdicts, names));
    const [answer] = await judge(verdicts, [domain]);
    if (options.json)
      printJson(JSON.parse(options.explain ? explainedJson(answer!) : domainJson(answer!.verdict)));
    else printAnswer(answer!, options.explain ?? false);
  });
}

/** Options that make no sense together. */
export function usageProblem(domain: string | undefined, options: LookupOptions): string | undefined {
  const { file, column, csv, json, explain, url, keyFile, offline } = options;
  if ((domain === undefined) === (file === undefined)) return 'name a domain, or a file of them with --file';
  if (file === undefined && (csv || column !== undefined)) return '--csv and --column need --file';
  if (file !== undefined && explain) return '--explain is for one domain';
  if (json && csv) return '--json or --csv, not both';
  if (url !== undefined && offline)
    return '--offline skips the DNS of this machine, --url asks a service: one of them';
  if (url === undefined && keyFile !== undefined)
    return '--key-file needs --url: the address of the service to ask with that key';
  return undefined;
}

type Verdicts = Pick<Awaited<ReturnType<typeof openVerdicts>>, 'lookup' | 'learn'>;

async function judge({ lookup, learn }: Verdicts, domains: readonly Domain[]): Promise<Answer[]> {
  const all = () => Promise.all(domains.map(domain => lookup.lookup(domain, COMMAND_LINE)));
  await all();
  // The service learns the addresses of mail hosts behind an answer; here there is no later answer, so wait.
  await learn.settle();
  return all();
}

/** No more at a time than DNS is asked for at once: what waits for a place longer than its budget is not known. */
const AT_ONCE = 64;

async function judgeMany(verdicts: Verdicts, names: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const parsed = some.map(parseDomain).flatMap(one => (one.ok ? [one.domain] : []));
    const answers = new Map((await judge(verdicts, parsed)).map(one => [one.verdict.domain as string, one]));
    entries.push(...some.map(name => entryOf(name, domain => answers.get(domain)!)));
  }
  return entries;
}

async function withVerdicts(
  options: LookupOptions,
  work: (verdicts: Verdicts) => Promise<void>,
): Promise<void> {
  const config = readWorld();
  const isStored = await hasStore(config);
  if (!isStored) tellNoStore(config, 'judged without overrides, updated lists and learned hosts');
  const resolver = options.offline ? OFFLINE : openResolver(config);
  const store = isStored ? await openCommandStore(config) : (NO_STORE as Store);
  try {
    const catalog = await loadCatalog(config, () => {}, store);
    const clock = Date.now;
    const verdicts = await openVerdicts({ store, resolver, catalog: () => catalog, clock, onError: failed });
    await work(verdicts).finally(verdicts.close);
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
    ...(degraded ? { degraded: 'DNS gave no answer: judged by name and lists alone' } : {}),
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
    const { rank, close } = await openVerdicts({
      store,
      resolver: OFFLINE,
      catalog: () => catalog,
      clock: Date.now,
      onError: failed,
    });
    const list = await rank.top(options.reason).finally(close);
    const domains = list.first(options.limit);
    const count = domains.length;
    if (options.json)
      return printJson({ domains: domains.map(row => JSON.parse(topDomainJson(row))), count });
    printTable(
      ['DOMAIN', 'RISK SCORE', 'REASON'],
      domains.map(row => [row.domain, row.riskScore, row.reason]),
    );
  });
}
