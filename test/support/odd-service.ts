/**
 * A server on loopback in the service's place that gives no score to anybody: it stops, drips, redirects, or answers with
 * something else. Which of these it does is told by the domain that is asked for.
 */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface OddService {
  /** It has a path, as behind a proxy. */
  readonly base: string;
  /** One address for each thing that it does. */
  readonly emails: readonly string[];
  /** Their domains. */
  readonly domains: readonly string[];
  /** The domains that it was asked for, as they came. */
  readonly asked: readonly string[];
  /** What a redirect brought to another host. */
  readonly stolen: readonly unknown[];
}

const PREFIX = '/behind/a-proxy';
/** More often than any program waits for. */
const DRIP_MS = 100;
const JSON_TYPE = { 'content-type': 'application/json' };

/** None is what the service sends, and none may break the caller or refuse anybody. */
const SHAPES = [
  ...['', '<html>', 'null', 'true', '95', '"x"', '[1]', '{}'],
  ...['{"risk_score":null}', '{"risk_score":"x"}', '{"risk_score":[99]}', '{"risk_score":{"a":99}}'],
];

const WAYS: Readonly<Record<string, (response: ServerResponse, elsewhere: string) => void>> = {
  // The first: a program that is still starting may be too late for it, as far as it is concerned.
  'not-found': response => void response.writeHead(404).end(),
  stops: response => void response.writeHead(200, { ...JSON_TYPE, 'content-length': 100 }).write('{'),
  drips(response) {
    response.writeHead(200, JSON_TYPE);
    untilGone(response, () => response.write(' '));
  },
  'drips-its-head'(response) {
    const { socket } = response;
    socket!.write('HTTP/1.1 200 OK\r\n');
    untilGone(response, at => socket!.write(`x-header-${at}: x\r\n`));
  },
  redirects: (response, elsewhere) => void response.writeHead(302, { location: elsewhere }).end(),
  ...Object.fromEntries(
    SHAPES.map((body, at) => [`shape-${at}`, response => void response.writeHead(200, JSON_TYPE).end(body)]),
  ),
  /** To be fixed, and so to be logged. */
  refuses: response => void response.writeHead(403).end(),
};

function untilGone(response: ServerResponse, work: (at: number) => void): void {
  let at = 0;
  const timer = setInterval(() => work(at++), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}

export async function startOddService(): Promise<OddService> {
  const asked: string[] = [];
  const stolen: unknown[] = [];
  const other = await listen(
    createServer((request, response) => {
      stolen.push(request.headers);
      response.writeHead(200, JSON_TYPE).end('{"risk_score":100}');
    }),
  );
  const here = await listen(
    createServer((request, response) => {
      response.on('error', () => {});
      const domain = decodeURIComponent(request.url!.replace(`${PREFIX}/v1/public/domain/`, ''));
      asked.push(domain);
      const way = WAYS[/^([\w-]+)\.example$/.exec(domain)?.[1] ?? ''];
      if (way) way(response, `${other}/`);
      else response.writeHead(404).end();
    }),
  );
  const domains = Object.keys(WAYS).map(way => `${way}.example`);
  const emails = domains.map(domain => `jane@${domain}`);
  return { base: here + PREFIX, emails, domains, asked, stolen };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
