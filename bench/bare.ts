/** What the service is measured against: bare `node:http` that writes prepared bytes and does nothing else. */

import { createServer } from 'node:http';

interface Prepared {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

let prepared: Prepared = { status: 200, headers: [], body: '' };

const server = createServer({ keepAliveTimeout: 65_000 }, (_req, res) => {
  res.writeHead(prepared.status, prepared.headers);
  res.end(prepared.body);
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));

process.on('message', (next: Prepared) => {
  prepared = next;
  process.send?.({ prepared: true });
});
process.on('disconnect', () => process.exit(0));
