/** A proxy on loopback, and a server for it to lead to that is believed under any name. */

import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import { selfSigned } from './certificate.ts';

/** Of our own making, until the test has finished. */
function believed(names: readonly string[]) {
  const certificate = selfSigned(names);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate.cert]);
  onTestFinished(() => setDefaultCACertificates(before));
  return certificate;
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The port of a server of lists, which stands for these names. */
export async function startLists(names: readonly string[], answer: RequestListener): Promise<number> {
  const server = createHttpsServer(believed(names), answer);
  onTestFinished(() => void server.close().closeAllConnections());
  return portOf(server);
}

export interface TestProxy {
  /** What it was asked, word by word. */
  readonly heads: readonly string[];
  /** Of its connections, how many are open. */
  open(): number;
}

interface ProxyOptions {
  readonly isSecure?: boolean;
  /** Before `@` in its address. */
  readonly who?: string;
}

/** In the environment until the test has finished. `answer` has each connection once its request is there. */
export async function startProxy(
  answer: (socket: Socket) => void,
  { isSecure = false, who = '' }: ProxyOptions = {},
): Promise<TestProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const take = (socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    socket.once('data', head => {
      heads.push(String(head));
      answer(socket);
    });
  };
  const server = isSecure ? createTlsServer(believed([]), take) : createServer(take);
  vi.stubEnv('HTTPS_PROXY', `http${isSecure ? 's' : ''}://${who}127.0.0.1:${await portOf(server)}`);
  for (const name of ['https_proxy', 'NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { heads, open: () => sockets.size };
}

/** A tunnel to there, from now on. */
export function leadTo(port: number, socket: Socket): void {
  const there = connect(port, '127.0.0.1');
  const end = () => void [socket, there].map(one => one.destroy());
  there.on('error', end).on('close', end).pipe(socket).on('close', end).pipe(there);
}
