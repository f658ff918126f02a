/** The web console and the API reference: the built files of `console/`, read once at start and served from memory. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Call, Headers } from '../call.ts';
import { contentTag, isKnown } from '../etag.ts';
import { PRICES } from '../prices.ts';
import { send, sendEmpty } from '../reply.ts';
import type { Route } from '../routes.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing from elsewhere, nothing inline, in nobody's frame; forms are the script's business. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const SAFE_HEADERS = [
  ...['Content-Security-Policy', CSP, 'Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin', 'Vary', 'Accept-Encoding'],
];
/** Pages have paths of their own; everything else is at its place in the folder. */
const PAGE = 'index.html';
const REFERENCE = 'docs.html';
const REVALIDATED = ['Cache-Control', 'no-cache'];
/** Assets are named by their content. */
const FOR_EVER = ['Cache-Control', 'public, max-age=31536000, immutable'];
const GZIP = ['Content-Encoding', 'gzip'];
const MOST_CODINGS = 32;

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>domain-risk</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>domain-risk</h1>
<p>The service runs, but its console is not built. Build it with <code>npm run build:console</code> and start the
service again.</p>
<p>Everything else works without it:</p>
<pre>curl -H "Authorization: Bearer $API_KEY" $BASE_URL/v1/public/domain/gmail.com</pre>
<p>See the <a href="/openapi.json">OpenAPI document</a>.</p>
</main>
</body>
</html>
`;

interface ConsoleParts {
  readonly docs: boolean;
  /** At the same port. */
  readonly metrics: boolean;
  readonly folder?: string;
}

/** One route for each file; a page that is not built says how to get it, and never keeps the service from starting. */
export function consoleRoutes({ docs, metrics, folder = builtFolder() }: ConsoleParts): Route[] {
  // The page has no links to what is not there.
  const without = [...(docs ? [] : ['/docs', '/openapi.json']), ...(metrics ? [] : ['/metrics'])];
  const bodyOf = (file: string) => {
    const body = existsSync(file) ? readFileSync(file) : Buffer.from(NOT_BUILT);
    if (without.length === 0 || !file.endsWith('.html')) return body;
    return Buffer.from(body.toString().replace('<html', `<html data-without="${without.join(' ')}"`));
  };
  const routeOf = (path: string, name: string) => fileRoute(path, extname(name), bodyOf(join(folder, name)));
  const assetsFolder = join(folder, 'assets');
  const assets = existsSync(assetsFolder) ? readdirSync(assetsFolder).map(name => `assets/${name}`) : [];
  return [
    routeOf('/', PAGE),
    ...(docs ? [routeOf('/docs', REFERENCE)] : []),
    ...assets.map(name => routeOf(`/${name}`, name)),
  ];
}

/** In our own package and nowhere above it: the sources lie in src/http, the program in `.program/*` or `dist`. */
const builtFolder = () => join(dirname(findPackageJSON(import.meta.url)!), 'console', 'dist');

function fileRoute(path: string, extension: string, body: Buffer): Route {
  const type = TYPES[extension] ?? 'application/octet-stream';
  const caching = extension === '.html' ? REVALIDATED : FOR_EVER;
  const tag = contentTag(body);
  // Another encoding is another representation and has another tag (RFC 9110 8.8.3.3).
  const plain = { etag: `"${tag}"`, body, encoding: [] as Headers };
  // Packed when it is first asked for: most files of most servers never are, and the start does not wait for it.
  let packed: typeof plain | undefined;
  const pack = () => ({ etag: `"${tag}-gzip"`, body: gzipSync(body, { level: 9 }), encoding: GZIP });
  return {
    method: 'GET',
    path,
    name: 'console',
    door: 'none',
    price: PRICES.page,
    answer: type,
    handle(call: Call): void {
      const { acceptEncoding, ifNoneMatch } = call.head;
      const wantsPacked = acceptsGzip(acceptEncoding);
      if (wantsPacked) packed ??= pack();
      const chosen = (wantsPacked && packed) || plain;
      const headers = [...SAFE_HEADERS, ...caching, 'ETag', chosen.etag];
      if (isKnown(ifNoneMatch, chosen.etag)) return sendEmpty(call, 304, headers);
      send(call, 200, type, chosen.body, [...headers, ...chosen.encoding]);
    },
  };
}

/** RFC 9110 12.5.3: named or covered by `*`, and not with a weight of zero. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const coding of (acceptEncoding ?? '').split(',', MOST_CODINGS)) {
    const [name = '', weight = ''] = coding.split(';', 2).map(part => part.trim().toLowerCase());
    weights.set(name, weight.startsWith('q=') ? Number(weight.slice(2)) : 1);
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
