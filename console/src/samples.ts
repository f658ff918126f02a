/** A lookup as programs make it, to copy: one row for each language. */

import { domainPath } from './calls.ts';

export interface SampleParts {
  readonly domain: string;
  readonly base: string;
  /** Undefined: taken from the environment. */
  readonly secret: string | undefined;
}

type Sample = (parts: SampleParts) => string;
const pathOf = (domain: string) => `/v1/public/domain/${encodeURIComponent(domain)}`;
/** In single quotes; a key has no sign that ends them, and whatever else was typed must not either. */
const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
const shellQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const curl: Sample = ({ domain, base, secret }) => {
  const header = secret ? shellQuoted(`Authorization: Bearer ${secret}`) : '"Authorization: Bearer $API_KEY"';
  return `curl -H ${header} "${base}${domainPath(domain)}"`;
};

const fetched: Sample = ({
  domain,
  base,
  secret,
}) => `const response = await fetch('${base}${pathOf(domain)}', {
  headers: { authorization: ${secret ? quoted(`Bearer ${secret}`) : "'Bearer ' + process.env.API_KEY"} },
  signal: AbortSignal.timeout(2500),
}).catch(() => undefined);

// On 429, 5xx or a timeout, let the sign-up through.
const risk = response?.ok ? await response.json() : undefined;
if (risk?.risk_score >= 80) console.log(\`Please use another address: \${risk.domain} is \${risk.reason}.\`);`;

const client: Sample = ({ domain, base, secret }) => `// npm install @domain-risk/client
import { createClient } from '@domain-risk/client';

const risk = createClient({
  baseUrl: '${base}',
  apiKey: ${secret ? quoted(secret) : 'process.env.API_KEY'},
});

// Never throws, always returns within its timeout, and sends only the part after the @.
if (await risk.isRisky('somebody@${domain}')) console.log('Please use another address.');`;

const python: Sample = ({ domain, base, secret }) => `import json, os, urllib.request

key = ${secret ? quoted(secret) : "os.environ['API_KEY']"}
request = urllib.request.Request(
    '${base}${pathOf(domain)}',
    headers={'Authorization': 'Bearer ' + key},
)
try:
    with urllib.request.urlopen(request, timeout=2.5) as response:
        risk = json.load(response)
except OSError:
    risk = None  # On 429, 5xx or a timeout, let the sign-up through.

if risk and risk['risk_score'] >= 80:
    print('Please use another address:', risk['domain'], 'is', risk['reason'])`;

const php: Sample = ({ domain, base, secret }) => `<?php
$key = ${secret ? quoted(secret) : "getenv('API_KEY')"};
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . $key,
    'timeout' => 2.5,
]]);
$body = @file_get_contents('${base}${pathOf(domain)}', false, $context);
// On 429, 5xx or a timeout, let the sign-up through.
$risk = $body === false ? null : json_decode($body, true);

if ($risk !== null && $risk['risk_score'] >= 80) {
    echo 'Please use another address: ', $risk['domain'], ' is ', $risk['reason'], PHP_EOL;
}`;

export const SAMPLES: Readonly<Record<string, Sample>> = {
  curl,
  fetch: fetched,
  client,
  Python: python,
  PHP: php,
};
