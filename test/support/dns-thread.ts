/** A thread with a DNS server that waits for leave to answer: it knows one name, whose answer takes the path it is told. */

import { parentPort, workerData } from 'node:worker_threads';
import { mx, startDns } from './dns.ts';

export interface DnsThreadData {
  readonly name: string;
  /** `tcp`: what comes over UDP is cut off. */
  readonly over: 'udp' | 'tcp';
  /** Two numbers: how many questions came that way, and whether they may be answered (1) and were (2). */
  readonly shared: SharedArrayBuffer;
}

const TRUNCATED = 0x02;
const { name, over, shared } = workerData as DnsThreadData;
const flags = new Int32Array(shared);

const dns = await startDns([
  [
    name,
    {
      records: [mx(name, 10, 'mail.example.net')],
      fault: {
        bytes: (answer, _query, by) => {
          if (by !== over) {
            answer[2]! |= TRUNCATED;
            return answer;
          }
          Atomics.add(flags, 0, 1);
          Atomics.wait(flags, 1, 0);
          setImmediate(() => {
            Atomics.store(flags, 1, 2);
            Atomics.notify(flags, 1);
          });
          return answer;
        },
      },
    },
  ],
]);
parentPort?.postMessage(dns.address);
