/** The way to an https address where this machine has a proxy. */

import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { FeedError } from '../core/feed.ts';
import { hostOf, isPastProxy } from './no-proxy.ts';

const FIX = 'set it to one such as http://proxy.example:3128';
/** Of a proxy's answer, with whatever stands before and around its headers. */
const MOST_ANSWER = 16 * 1024;

/**
 * Where a proxy is named, names are its affair: it is asked for the name itself, may be in a private network, and no
 * address is looked up here. Plain http goes to this machine only, never by a proxy. Undefined where none is in the way.
 */
export async function throughProxy(url: URL, signal: AbortSignal): Promise<https.Agent | undefined> {
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
  const given = https_proxy || HTTPS_PROXY;
  if (!given) return undefined;
  const proxy = proxyOf(given);
  if (isPastProxy(url, no_proxy || NO_PROXY)) return undefined;
  return new https.Agent({ socket: await tunnel(proxy, `${url.hostname}:${url.port || 443}`, signal) });
}

interface Proxy {
  readonly origin: URL;
  readonly headers: http.OutgoingHttpHeaders;
}

/** As curl takes it: host and port alone are a proxy that is spoken to by http. */
function proxyOf(given: string): Proxy {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(given) ?? [];
  const known = scheme?.toLowerCase();
  if (known !== undefined && known !== 'http://' && known !== 'https://')
    throw new FeedError(`HTTPS_PROXY begins with ${known}, which is not supported: ${FIX}`);
  try {
    const { origin, username, password } = new URL(scheme === undefined ? `http://${given}` : given);
    const who = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const headers =
      who === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(who).toString('base64')}` };
    return { origin: new URL(origin), headers };
  } catch {
    // Without its address, here and below: that may have a password in it.
    throw new FeedError(`HTTPS_PROXY is no address: ${FIX}`);
  }
}

/**
 * To `host:port` (RFC 9110 9.3.6). Node's own agent for proxies keeps all of their answer until an empty line comes, and
 * with each piece of it listens to them twice as often: 26 bytes, one at a time, took 1 GB and ended the service, as did
 * headers without an end (2026-11-17).
 */
function tunnel({ origin, headers }: Proxy, to: string, signal: AbortSignal): Promise<Socket> {
  const { request } = origin.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const asked = request(origin, {
      ...{ method: 'CONNECT', path: to, headers: { host: to, ...headers }, agent: false, signal },
      // Else Node would take the proxy's certificate for that of the host above.
      servername: isIP(hostOf(origin)) === 0 ? origin.hostname : '',
    });
    asked.removeHeader('connection');
    let size = 0;
    // Node's parser has a bound of its own, which does not count empty lines and spaces.
    const count = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MOST_ANSWER) return;
      reject(new FeedError(`the proxy's answer is longer than ${MOST_ANSWER / 1024} KiB`));
      asked.destroy();
    };
    asked
      .on('socket', socket => void socket.prependListener('data', count))
      .on('connect', ({ statusCode }, socket: Socket) => {
        // Until whoever goes on has it.
        socket.off('data', count).on('error', () => {});
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new FeedError(`the proxy answered ${statusCode}`));
      })
      .on('error', error =>
        reject(isUnanswered(error) ? new FeedError('the proxy does not let it through') : error),
      )
      .end();
  });
}

/** What it said was no answer, or it ended without one. */
function isUnanswered({ code = '' }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code.startsWith('HPE_');
}
