/** The events of a running service: in the log, in the metrics, and to `ALERT_WEBHOOK`. One for a process. */

import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ResolverHealth, Store } from './core/ports.ts';
import { feedsWithout } from './feeds/sources.ts';
import type { Metrics } from './http/metrics.ts';
import { createRaise, type RaisedCounts } from './raise.ts';
import type { BackupStatus } from './scheduled-backups.ts';
import { createWebhook } from './webhook.ts';

export const EVENTS_METRIC = 'domain_risk_events_total';

export function observeEvents({ counters }: Pick<Metrics, 'counters'>, counts: RaisedCounts): void {
  counters(EVENTS_METRIC, 'Events that this server raised, by kind.', 'kind', counts.all);
}

/** The start comes first, and with it the first looks at lists and resolvers. */
const FIRST_MS = 10_000;

export function startAlerts(parts: {
  readonly config: Config;
  readonly log: Logger;
  readonly store: Store;
  readonly health: () => ResolverHealth | Promise<ResolverHealth>;
  readonly counts: RaisedCounts;
  /** Where backups are made by schedule. */
  readonly backups: BackupStatus | undefined;
  readonly firstMs?: number;
}): { close(): void } {
  const { config, log, store, health, counts, backups, firstMs = FIRST_MS } = parts;
  const { webhook: settings } = config;
  const webhook = settings && createWebhook({ ...settings, log, clock: Date.now });
  const raising = createRaise({
    ...{ store, health, clock: Date.now },
    feeds: feedsWithout(config.feedsOff),
    backups: config.backups && backups && { folder: config.backups.folder, status: backups },
    tell(event, at) {
      counts.count(event.kind);
      log.warn({ event: event.kind, subject: event.subject }, event.text);
      webhook?.send(event, at);
    },
    onError: error =>
      log.error({ err: error }, 'whether there is anything to tell of could not be found out'),
  });
  const first = setTimeout(() => void raising.look(), firstMs).unref();
  return {
    close() {
      clearTimeout(first);
      raising.close();
      webhook?.close();
    },
  };
}
