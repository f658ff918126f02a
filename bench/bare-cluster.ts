/** Bare `node:http` in a cluster of so many processes, each of which writes the same bytes and does nothing else. */

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Prepared {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

const [count = '1', prepared = '{}'] = process.argv.slice(2);

if (cluster.isPrimary) {
  const ports: number[] = [];
  for (let i = 0; i < Number(count); i++) cluster.fork();
  cluster.on('listening', (_, { port }) => {
    if (ports.push(port) === Number(count)) process.send?.({ port });
  });
  process.on('disconnect', () => process.exit(0));
} else {
  const { status, headers, body } = JSON.parse(prepared) as Prepared;
  const server = createServer({ keepAliveTimeout: 65_000 }, (_req, res) => {
    res.writeHead(status, headers);
    res.end(body);
  });
  server.listen(0, '127.0.0.1', () => void (server.address() as AddressInfo));
}
