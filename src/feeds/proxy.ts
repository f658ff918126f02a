/** The way to an https address where this machine has a proxy. */

import https from 'node:https';
import { FeedError } from '../core/feed.ts';

const FIX = 'set it to one such as http://proxy.example:3128';

/**
 * Where a proxy is named, names are its affair: it is asked for the name itself, may be in a private network, and no
 * address is looked up here. Plain http goes to this machine only, never by a proxy. Its connections end with `signal`.
 */
export function throughProxy(signal: AbortSignal): https.Agent {
  const { HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env;
  const proxies = { HTTPS_PROXY: proxyOf(HTTPS_PROXY), https_proxy: proxyOf(https_proxy) };
  try {
    return new EndingAgent({ proxyEnv: { ...proxies, NO_PROXY, no_proxy } }, signal);
  } catch {
    throw new FeedError(`HTTPS_PROXY is no address: ${FIX}`);
  }
}

/**
 * Until a tunnel stands, a request has no socket that it could end: a proxy that took the connection and said nothing held
 * an update for good (2026-11-17).
 */
class EndingAgent extends https.Agent {
  readonly #signal: AbortSignal;

  constructor(options: https.AgentOptions, signal: AbortSignal) {
    super(options);
    this.#signal = signal;
  }

  override createConnection(...args: Parameters<https.Agent['createConnection']>) {
    const socket = super.createConnection(...args);
    const end = () => socket?.destroy();
    this.#signal.addEventListener('abort', end);
    socket?.once('close', () => this.#signal.removeEventListener('abort', end));
    return socket;
  }
}

/** As curl takes it: host and port alone are a proxy that is spoken to by http. What Node does not know it passes over. */
function proxyOf(given: string | undefined): string | undefined {
  if (!given) return undefined;
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(given) ?? [];
  if (scheme === undefined) return `http://${given}`;
  const known = scheme.toLowerCase();
  if (known === 'http://' || known === 'https://') return known + given.slice(scheme.length);
  throw new FeedError(`HTTPS_PROXY begins with ${known}, which is not supported: ${FIX}`);
}

/** Without the proxy's address, here and above: it may have a password in it. */
export function tunnelProblem({ message }: Error): string {
  const status = /HTTP\/1\.[01] (\d{3})/.exec(message)?.[1];
  return status === undefined ? 'the proxy does not let it through' : `the proxy answered ${status}`;
}
