/** What is kept of one server that is probed. */

import type { Invented, Probe } from './probe.ts';
import type { Server } from './settings.ts';
import type { Said, ServerProblem } from './testimony.ts';

export interface Watched {
  readonly server: Server;
  readonly said: Map<string, Said>;
  /** The same of their addresses. */
  readonly addressed: Map<string, Said>;
  invented: Invented;
  /** As it was found by the last probe. */
  problem: ServerProblem | 'unproven' | undefined;
  /** None of the sentinels has an address by it. */
  keepsBack: boolean;
  probe: Probe | undefined;
  /** Nothing is decided yet of the probe under way. */
  isOpen: boolean;
  begunAt: number;
  /** The same by the process's own time: how often probes are sent is no matter of the ticks. */
  sentAt: number;
  /** When the next one is to begin because of what was answered; by the process's own time. */
  wantedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the last probe began that it passed. */
  passedAt: number;
  /** When the last probe began in which both a sentinel and the name that nobody has were answered rightly. */
  answeredAt: number;
  /** When the last one ended in which they were not. */
  troubleAt: number;
  /** Those who wait for the probe under way, and for the next. */
  waiting: (() => void)[];
  next: (() => void)[];
}

export function watch(server: Server): Watched {
  return {
    ...{ server, said: new Map(), addressed: new Map(), invented: 'nothing' },
    ...{ problem: 'unproven', keepsBack: false, probe: undefined },
    ...{ isOpen: false, begunAt: -Infinity, sentAt: -Infinity, wantedAt: Infinity, timer: undefined },
    ...{ passedAt: -Infinity, answeredAt: -Infinity, troubleAt: -Infinity, waiting: [], next: [] },
  };
}
