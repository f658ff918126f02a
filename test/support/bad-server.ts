/** A server on loopback that does every bad thing a caller may meet, one below each path: `/<way>/<id>/v1/…`. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

export interface BadServer {
  readonly base: string;
  /** A base URL that refuses connections. */
  readonly nobody: string;
  close(): Promise<void>;
}

/** Files that it serves as they are, for pages in a browser: a path and what it holds. */
export type Files = (path: string) => { type: string; body: string | Buffer } | undefined;

type Way = (res: ServerResponse, earlier: number, req: IncomingMessage) => void;

const SAFE = {
  domain: 'example.com',
  risk_score: 5,
  reason: 'safe',
  is_free_provider: false,
  is_corporate_email: true,
  mx_provider_label: 'Somebody',
};
const QUOTA = {
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': '99',
  'x-ratelimit-reset': '1796083200',
};
const HUGE = 8 << 20;

function json(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...QUOTA, ...headers });
  res.end(text);
}

/** A refusal in the service's own shape. */
function refusal(status: number, error: string, headers: Record<string, string> = {}): Way {
  const body = { error, message: `It is ${error}.`, detail: 'Line\none.', request_id: 'req-1' };
  return res => json(res, status, body, { 'cache-control': 'no-store', 'x-request-id': 'req-1', ...headers });
}

function answer(change: Record<string, unknown>, control = 'no-store'): Way {
  return res => json(res, 200, { ...SAFE, ...change }, { 'cache-control': control });
}

const untilGone = (res: ServerResponse, every: number, work: () => void) => {
  const timer = setInterval(work, every);
  res.on('close', () => clearInterval(timer));
};

const WAYS: Readonly<Record<string, Way>> = {
  safe: answer({}),
  kept: answer({}, 'private, max-age=60'),
  'kept-briefly': answer({}, 'private, max-age=2'),
  'not-kept': answer({}, 'no-store, max-age=60'),
  'asked-each-time': answer({}, 'private, no-cache, max-age=60'),
  'kept-elsewhere': answer({}, 'public, s-maxage=60'),
  old: res => json(res, 200, SAFE, { 'cache-control': 'private, max-age=60', age: '60' }),
  disposable: answer({ risk_score: 100, reason: 'disposable' }),
  degraded: res => json(res, 200, SAFE, { 'x-risk-degraded': 'dns' }),
  newer: answer({ a_new_field: [1, 2] }),
  late: res => void setTimeout(() => answer({})(res, 0, res.req), 500),
  'fails-twice': (res, earlier, req) =>
    (earlier < 2 ? refusal(500, 'internal_error') : answer({}))(res, earlier, req),
  'ends-twice': (res, earlier, req) => (earlier < 2 ? req.socket.destroy() : answer({})(res, earlier, req)),

  reset: (_, __, req) => req.socket.resetAndDestroy(),
  ends: (_, __, req) => req.socket.destroy(),
  hangs: () => {},
  'slow-headers': (_, __, req) => void req.socket.write('HTTP/1.1 200 OK\r\nContent-Ty'),
  'slow-body': res => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
    untilGone(res, 20, () => res.write(' '));
  },
  huge: answer({ padding: ' '.repeat(HUGE) }),
  deep: res =>
    json(res, 200, JSON.stringify(SAFE).replace('{', `{"x":${'['.repeat(4e5)}${']'.repeat(4e5)},`)),
  truncated: res => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
    res.write(JSON.stringify(SAFE).slice(0, 40), () => res.destroy());
  },
  garbage: (_, __, req) => req.socket.end('\0\x01 nothing of HTTP \r\n\r\n'),
  'bad-json': res => json(res, 200, '{"domain": "example.com", '),
  html: res => {
    res.writeHead(200, { 'content-type': 'text/html' });
    res.end('<!doctype html><title>Log in</title>');
  },
  empty: res => json(res, 200, ''),
  'no-content': res => void res.writeHead(204).end(),
  null: res => json(res, 200, 'null'),
  array: res => json(res, 200, '[]'),
  'score-text': answer({ risk_score: '5' }),
  'score-101': answer({ risk_score: 101 }),
  'score-half': answer({ risk_score: 0.5 }),
  'unknown-reason': answer({ reason: 'constructor' }),
  'no-label': answer({ mx_provider_label: undefined }),
  'flag-null': answer({ is_free_provider: null }),
  redirect: (res, _, req) =>
    void res.writeHead(302, { location: req.url!.replace('/redirect/', '/safe/') }).end(),
  '401': refusal(401, 'unauthorized'),
  '403': refusal(403, 'forbidden'),
  '404': refusal(404, 'not_found'),
  '422': refusal(422, 'validation_error'),
  '429': refusal(429, 'quota_exceeded', { 'retry-after': '3600' }),
  '500': refusal(500, 'internal_error'),
  '502': res => json(res, 502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }),
  '503': refusal(503, 'overloaded', { 'retry-after': '60' }),
  '500-hangs': res => void res.writeHead(500).write('{'),
};

export async function startBadServer(files: Files = () => undefined): Promise<BadServer> {
  /** Every request so far, by the base path that it came to. */
  const asked = new Map<string, { url: string; headers: string }[]>();

  const server = createServer((req, res) => {
    const [, way = '', id = ''] = req.url!.split('/');
    res.on('error', () => {});
    const base = `/${way}/${id}`;
    if (way === 'asked') return json(res, 200, asked.get(req.url!.slice('/asked'.length)) ?? []);
    const file = files(req.url!);
    if (file) return void res.writeHead(200, { 'content-type': file.type }).end(file.body);
    const requests = asked.get(base) ?? [];
    asked.set(base, requests);
    requests.push({ url: req.url!, headers: req.rawHeaders.join('\n') });
    const act = WAYS[way] ?? refusal(404, 'not_found');
    act(res, requests.length - 1, req);
  });
  const port = await listen(server);
  return {
    base: `http://127.0.0.1:${port}`,
    nobody: await nobodysBase(),
    close: () => {
      server.closeAllConnections();
      return new Promise(done => server.close(() => done()));
    },
  };
}

/** A base URL at which nobody listens. */
export async function nobodysBase(): Promise<string> {
  const unused = createTcpServer();
  const port = await listen(unused);
  await new Promise(done => unused.close(done));
  return `http://127.0.0.1:${port}`;
}

function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  return new Promise(done => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
}
