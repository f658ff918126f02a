/** `domain-risk infra` and `feeds sweep`: what was learned about mail hosts, and learning it from the lists. */

import type { Command } from 'commander';
import { loadCatalog, openResolver, openVerdicts } from '../compose.ts';
import { type HostRecord, LEARNING } from '../core/guest.ts';
import { dayOf } from '../core/quota.ts';
import { allAtOnce } from '../core/steps.ts';
import { SETTLED_MS } from '../dns/later.ts';
import { FEWEST_SHOWN, MOST_SHOWN, showingHosts } from '../http/shown.ts';
import { SweepFailed, sweep } from '../sweep.ts';
import { CommandFailed, printJson, printTable, startProgress } from './print.ts';
import { countValue, hostValue } from './values.ts';
import { actor, done, operateOn, withStore } from './world.ts';

const DEFAULT_RATE = 50;

export function addInfra(program: Command): void {
  const infra = program.command('infra').description('learned mail hosts: which serve disposable domains');
  infra
    .command('list')
    .description(`hosts and addresses with ${FEWEST_SHOWN} listed domains or more, and their state`)
    .option('--json', 'one JSON document on stdout')
    .action(list);
  infra
    .command('forget')
    .description(
      'ignore a host: stop flagging domains for it until you undo it; running servers follow within a minute',
    )
    .argument('<host>', 'host name or address, as "infra list" shows it', hostValue)
    .option(
      '--undo',
      'watch it again: without evidence where it was ignored, with its domains where it was shared',
    )
    .option('--json', 'one JSON document on stdout')
    .action(forget);

  const feeds = program.commands.find(command => command.name() === 'feeds')!;
  feeds
    .command('sweep')
    .description(
      'look up the mail hosts of popular and listed domains to learn which are disposable; continues where the last run stopped',
    )
    .option('--limit <names>', 'stop after this many', countValue('the limit', 10_000_000))
    .option('--rate <names>', 'names per second', countValue('the rate', 1_000), DEFAULT_RATE)
    .option('--json', 'one JSON document on stdout')
    .action(sweepFeeds);
}

async function list(options: { json?: boolean }): Promise<void> {
  const rows = await withStore(async (store, config) => {
    const catalog = await loadCatalog(config, () => {}, store);
    const hosts = await store.listHosts(FEWEST_SHOWN, MOST_SHOWN);
    return allAtOnce(showingHosts(hosts, catalog, dayOf(Date.now())));
  });
  if (options.json) return printJson(rows);
  printTable(
    ['HOST', 'STATE', 'SUM', 'LISTED DOMAINS', 'OTHERS', 'LAST SEEN', 'SUCH AS'],
    rows.map(row => [
      row.host,
      row.state,
      row.sum.toFixed(1),
      atMost(row.flagged, LEARNING.mostGuests),
      row.innocent,
      row.last_seen,
      row.neighbours.join(' '),
    ]),
  );
}

/** Counting ends there. */
const atMost = (guests: number, most: number) => (guests < most ? guests : `${guests}+`);

async function forget(host: string, options: { undo?: boolean; json?: boolean }): Promise<void> {
  const forgotten = !options.undo;
  const { problem, also } = await withStore(async store => {
    const operate = operateOn(store);
    if (!forgotten) return { problem: await operate.relearnHost(host, actor()), also: [] };
    const also = alsoAt(host, await store.listHosts(FEWEST_SHOWN, MOST_SHOWN));
    return { problem: await operate.forgetHost(host, actor()), also };
  });
  done(problem, 'infra list');
  if (options.json) return printJson({ host, forgotten, also });
  process.stdout.write(forgotten ? `${host} is ignored from now on\n` : `${host} is watched again\n`);
  if (also.length > 0)
    process.stdout.write(`other hosts are still judged by ${also.join(', ')}, where the same domains are\n`);
}

/** One host is up to four rows: its name, the domain that it is below, its address, and own hosts there. Ignored ones have no guests. */
function alsoAt(host: string, hosts: readonly HostRecord[]): string[] {
  const guests = new Set(hosts.find(({ name }) => name === host)?.neighbours);
  const isSame = ({ name, shared, neighbours }: HostRecord) =>
    name !== host && !shared && neighbours.some(guest => guests.has(guest));
  return hosts.filter(isSame).map(({ name }) => name);
}

async function sweepFeeds(options: { limit?: number; rate: number; json?: boolean }): Promise<void> {
  await withStore(async (store, config) => {
    const catalog = await loadCatalog(config, () => {}, store);
    const resolver = openResolver(config);
    const stop = new AbortController();
    const end = () => stop.abort();
    process.once('SIGINT', end).once('SIGTERM', end);
    try {
      // Nothing is lost by it: what could not be written is tried again, and the sweep ends when that fails.
      const onError = () => {};
      const { learn, close } = await openVerdicts({
        store,
        resolver,
        catalog: () => catalog,
        clock: Date.now,
        onError,
      });
      const bar = startProgress('Asking who receives the mail of listed domains');
      const swept = await sweep(
        { store, resolver, catalog, learn, clock: Date.now },
        {
          limit: options.limit,
          rate: options.rate,
          settledMs: config.dnsSentinels.length > 0 ? SETTLED_MS : 0,
          stop: stop.signal,
          progress: (name, done, total) => bar.at(`${done} of ${total}: ${name}`, done, total),
        },
      ).finally(close);
      const { asked, received, unanswered, left } = swept;
      const learned = learn.infra().size;
      bar.end(
        `asked ${asked} names, ${received} receive mail, ${unanswered} gave no answer; ${left === 0 ? 'all done' : `${left} left: run it again to continue`}; ${learned} hosts and addresses are learned`,
      );
      if (options.json) printJson({ asked, received, unanswered, left, learned });
    } catch (error) {
      throw error instanceof SweepFailed ? new CommandFailed(error.message) : error;
    } finally {
      process.off('SIGINT', end).off('SIGTERM', end);
      await resolver.close();
    }
  });
}
