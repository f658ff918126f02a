/**
 * What the client promises, as plain checks for any runtime: web APIs only, no test framework. `npm test` runs them
 * on the sources, `npm run test:runtimes` on the built package everywhere else.
 *
 * A check gets `createClient`, `domainOf`, the base URL of a server that does bad things (`bad`), one at which nobody
 * listens (`nobody`), the service itself (`real`: `url` and `key`), and `late`, which is told how late calls were.
 */

const KEY = 'drk_the-secret-of-this-suite';
/** The promise says 50 ms; this is twenty times that, for machines that stall. The figure measured is reported. */
const GRACE = 1000;
/** For calls that end by it. */
const TIMEOUT = 300;
/** For calls that are answered, on a machine that has other things to do. */
const LONG = 10_000;

let made = 0;

function expect(isTrue, what) {
  if (!isTrue) throw new Error(what);
}

function same(actual, wanted, what) {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(wanted)];
  expect(one === other, `${what}: ${one} in place of ${other}`);
}

const pause = ms => new Promise(done => setTimeout(done, ms));

/** A client of the bad server's way, with a count of its own. */
function clientOf({ bad, createClient }, way, options = {}) {
  const path = `/${way}/${Date.now()}-${made++}`;
  const client = createClient({
    baseUrl: bad + path,
    apiKey: KEY,
    timeout: LONG,
    onProblem: () => {},
    ...options,
  });
  const requests = async () => (await fetch(`${bad}/asked${path}`)).json();
  return { ...client, requests, asked: async () => (await requests()).length };
}

/** Fails when the call rejects, throws, is late, or holds the key. */
async function timed(tools, work, timeout = TIMEOUT) {
  const started = performance.now();
  const result = await work();
  const late = performance.now() - started - timeout;
  if (timeout === TIMEOUT) tools.late(late);
  expect(late <= GRACE, `${Math.round(late)} ms later than the timeout`);
  expect(!JSON.stringify(result).includes('secret'), 'the key is in the result');
  return result;
}

/** Each way to get no answer: its cause, status and code. */
const FAILURES = [
  ['resets the connection', 'reset', 'network', null],
  ['closes without an answer', 'ends', 'network', null],
  ['never answers', 'hangs', 'timeout', null],
  ['sends half a head', 'slow-headers', 'timeout', null],
  ['sends its body byte by byte', 'slow-body', 'timeout', null],
  ['sends a huge body', 'huge', 'answer', 200],
  ['sends something that is not HTTP', 'garbage', 'network', null],
  ['sends broken JSON', 'bad-json', 'answer', 200],
  ['sends a page', 'html', 'answer', 200],
  ['sends nothing', 'empty', 'answer', 200],
  ['has no content', 'no-content', 'answer', 204],
  ['sends null', 'null', 'answer', 200],
  ['sends a list', 'array', 'answer', 200],
  ['sends the score as text', 'score-text', 'answer', 200],
  ['sends a score above 100', 'score-101', 'answer', 200],
  ['sends half a point', 'score-half', 'answer', 200],
  ['sends an unknown reason', 'unknown-reason', 'answer', 200],
  ['leaves a field out', 'no-label', 'answer', 200],
  ['sends null for a boolean', 'flag-null', 'answer', 200],
  ['refuses the key', '401', 'refused', 401, 'unauthorized'],
  ['refuses the origin', '403', 'refused', 403, 'forbidden'],
  ['refuses the domain', '422', 'refused', 422, 'validation_error'],
  ['says that the quota is used up', '429', 'refused', 429, 'quota_exceeded'],
  ['fails', '500', 'server', 500, 'internal_error'],
  ['is behind a gateway that fails', '502', 'server', 502],
  ['is overloaded', '503', 'server', 503, 'overloaded'],
  ['fails and does not end its body', '500-hangs', 'timeout', null],
];

const failures = FAILURES.map(([what, way, cause, status, code = null]) => [
  `fails open when the service ${what}`,
  async tools => {
    const timeout = cause === 'timeout' ? TIMEOUT : LONG;
    const client = clientOf(tools, way, { timeout });
    const result = await timed(tools, () => client.lookup('example.com'), timeout);
    same([result.ok, result.cause, result.status, result.code], [false, cause, status, code], way);
    expect(result.message.length > 10 && !/[\n\0]/.test(result.message), `message: ${result.message}`);
    const seen = [];
    const options = { threshold: 0, onFailure: failure => seen.push(failure.cause) };
    const risky = await timed(tools, () => client.isRisky('somebody@example.com', options), timeout);
    same([risky, seen], [false, [cause]], 'isRisky and its failure');
  },
]);

const answers = [
  [
    'answers with data and quota',
    async tools => {
      const result = await clientOf(tools, 'safe').lookup('example.com');
      const quota = { limit: 100, remaining: 99, resetAt: Date.UTC(2026, 11, 1) };
      same([result.ok, result.quota, result.degraded], [true, quota, false], 'answer');
      same([result.data.risk_score, result.data.reason], [5, 'safe'], 'data');
    },
  ],
  [
    'says when the service had no answer from DNS',
    async tools => same((await clientOf(tools, 'degraded').lookup('example.com')).degraded, true, 'degraded'),
  ],
  [
    'reads an answer with fields that it does not know',
    async tools => same((await clientOf(tools, 'newer').lookup('example.com')).ok, true, 'ok'),
  ],
  [
    'calls a domain risky from the threshold on',
    async tools => {
      const client = clientOf(tools, 'disposable');
      same(await client.isRisky('example.com'), true, 'by default');
      same(await client.isRisky('example.com', { threshold: 100 }), true, 'at 100');
      same(await clientOf(tools, 'safe').isRisky('example.com'), false, 'safe');
      same(await clientOf(tools, 'safe', { threshold: 5 }).isRisky('example.com'), true, 'own threshold');
    },
  ],
  [
    'says how long to wait and what is left when refused',
    async tools => {
      const result = await clientOf(tools, '429').lookup('example.com');
      same([result.retryAfter, result.quota?.remaining, result.requestId], [3600, 99, 'req-1'], '429');
    },
  ],
  [
    'fails open when nobody listens',
    async tools => {
      const client = tools.createClient({ baseUrl: tools.nobody, apiKey: KEY, timeout: LONG });
      same((await timed(tools, () => client.lookup('example.com'), LONG)).cause, 'network', 'cause');
    },
  ],
  [
    'fails open when the body is cut off',
    async tools => {
      const { ok, cause } = await timed(
        tools,
        () => clientOf(tools, 'truncated').lookup('example.com'),
        LONG,
      );
      // Some runtimes give what came and no error: then it is broken JSON.
      expect(!ok && (cause === 'network' || cause === 'answer'), `cause ${cause}`);
    },
  ],
  [
    'does not mind an answer that is nested without end',
    async tools => {
      const result = await clientOf(tools, 'deep').lookup('example.com');
      expect(result.ok || result.cause === 'answer', `cause ${result.cause}`);
    },
  ],
  [
    'does not follow a redirect with the key',
    async tools => {
      const client = clientOf(tools, 'redirect');
      same((await client.lookup('example.com')).cause, 'answer', 'cause');
      const [request] = await client.requests();
      const target = request.url.split('/')[2];
      same(await (await fetch(`${tools.bad}/asked/safe/${target}`)).json(), [], 'requests at the target');
    },
  ],
];

const attempts = [
  [
    'asks once by default',
    async tools => {
      const client = clientOf(tools, '500');
      await client.lookup('example.com');
      same(await client.asked(), 1, 'requests');
    },
  ],
  [
    'asks again after 5xx and network errors when told to',
    async tools => {
      for (const way of ['fails-twice', 'ends-twice']) {
        const client = clientOf(tools, way, { retries: 2, retryDelay: 10 });
        same((await client.lookup('example.com')).ok, true, way);
        expect((await client.asked()) >= 3, 'fewer than three requests');
      }
    },
  ],
  [
    'does not ask again after 4xx, bad answers and timeouts',
    async tools => {
      for (const way of ['401', '422', '429', 'bad-json', 'hangs']) {
        const timeout = way === 'hangs' ? TIMEOUT : LONG;
        const client = clientOf(tools, way, { retries: 3, retryDelay: 1, timeout });
        await timed(tools, () => client.lookup('example.com'), timeout);
        same(await client.asked(), 1, way);
      }
    },
  ],
  [
    'does not wait for a retry that cannot be in time',
    async tools => {
      const client = clientOf(tools, '503', { retries: 3 });
      const result = await timed(tools, () => client.lookup('example.com'), LONG / 2);
      same([result.cause, await client.asked()], ['server', 1], 'cause and requests');
    },
  ],
  [
    'counts a call with its retries as one failure',
    async tools => {
      const client = clientOf(tools, '500', { retries: 3, retryDelay: 1, breaker: { failures: 2 } });
      for (const cause of ['server', 'server', 'breaker']) {
        same((await client.lookup('example.com')).cause, cause, 'cause');
      }
      same(await client.asked(), 8, 'requests');
    },
  ],
  [
    'retries stay inside the timeout',
    async tools => {
      const client = clientOf(tools, '500', { timeout: 2000, retries: 1e9, retryDelay: 20, breaker: false });
      await timed(tools, () => client.lookup('example.com'), 2000);
      expect((await client.asked()) > 1, 'no retry');
    },
  ],
  [
    'stops asking after failures in a row, and looks again after a pause',
    async tools => {
      const client = clientOf(tools, '500', { breaker: { failures: 2, pause: 2000 } });
      for (const cause of ['server', 'server', 'breaker', 'breaker']) {
        same((await client.lookup('example.com')).cause, cause, 'cause');
      }
      same(await client.asked(), 2, 'requests');
      await pause(2100);
      const looks = await Promise.all(['a.com', 'b.com', 'c.com'].map(name => client.lookup(name)));
      same(looks.map(look => look.cause).sort(), ['breaker', 'breaker', 'server'], 'after the pause');
    },
  ],
  [
    'asks again when the service is back',
    async tools => {
      const client = clientOf(tools, 'fails-twice', { breaker: { failures: 2, pause: 1000 } });
      for (let call = 0; call < 2; call++) await client.lookup('example.com');
      same((await client.lookup('example.com')).cause, 'breaker', 'cause');
      await pause(1100);
      for (let call = 0; call < 3; call++) same((await client.lookup(`${call}.com`)).ok, true, 'ok');
    },
  ],
  [
    'stops asking a service that hangs',
    async tools => {
      const client = clientOf(tools, 'hangs', { timeout: 50, breaker: { failures: 2, pause: 60_000 } });
      const causes = [];
      for (let call = 0; call < 3; call++) causes.push((await client.lookup('example.com')).cause);
      same(causes, ['timeout', 'timeout', 'breaker'], 'causes');
    },
  ],
  [
    'goes on asking after any number of 4xx',
    async tools => {
      for (const way of ['401', '429']) {
        const client = clientOf(tools, way, { breaker: { failures: 2 } });
        for (let call = 0; call < 6; call++) await client.lookup('example.com');
        same(await client.asked(), 6, way);
      }
    },
  ],
];

const sharing = [
  [
    'keeps an answer as long as the service allows',
    async tools => {
      const client = clientOf(tools, 'kept-briefly');
      same((await client.lookup('example.com')).fromCache, false, 'first');
      const again = await client.lookup('Somebody@EXAMPLE.com');
      same([again.fromCache, await client.asked()], [true, 1], 'second');
      await pause(2100);
      same((await client.lookup('example.com')).fromCache, false, 'later');
    },
  ],
  [
    'keeps nothing that may not be kept',
    async tools => {
      for (const way of ['safe', 'not-kept', 'asked-each-time', 'kept-elsewhere', 'old', '422']) {
        const client = clientOf(tools, way);
        for (let call = 0; call < 2; call++) await client.lookup('example.com');
        same(await client.asked(), 2, way);
      }
    },
  ],
  [
    'keeps no more than it is told to, and nothing for 0',
    async tools => {
      const client = clientOf(tools, 'kept', { cacheSize: 2 });
      for (const name of ['a.com', 'b.com', 'a.com', 'c.com', 'a.com', 'b.com']) await client.lookup(name);
      same(await client.asked(), 4, 'requests with two places');
      const none = clientOf(tools, 'kept', { cacheSize: 0 });
      for (let call = 0; call < 2; call++) await none.lookup('example.com');
      same(await none.asked(), 2, 'requests with no place');
    },
  ],
  [
    'asks once for the same name at the same time',
    async tools => {
      const client = clientOf(tools, 'late');
      const results = await Promise.all(Array.from({ length: 20 }, () => client.lookup('example.com')));
      same([results.every(result => result.ok), await client.asked()], [true, 1], 'answers and requests');
    },
  ],
  [
    'gives every caller an answer of their own',
    async tools => {
      const client = clientOf(tools, 'kept');
      const [one, other] = await Promise.all([client.lookup('example.com'), client.lookup('example.com')]);
      one.data.risk_score = 100;
      same(other.data.risk_score, 5, 'at the same time');
      same((await client.lookup('example.com')).data.risk_score, 5, 'from memory');
    },
  ],
  [
    'ends a call when its signal says so, and only that one',
    async tools => {
      const client = clientOf(tools, 'late');
      const controller = new AbortController();
      const ended = timed(tools, () => client.lookup('example.com', { signal: controller.signal }), LONG / 2);
      const other = client.lookup('example.com');
      await pause(20);
      controller.abort();
      same([(await ended).cause, (await other).ok], ['aborted', true], 'the two calls');
      const { signal } = controller;
      same((await client.lookup('another.com', { signal })).cause, 'aborted', 'already aborted');
      same(await client.asked(), 1, 'requests');
    },
  ],
  [
    'asks anew when everybody had left, and does not call that a failure of the service',
    async tools => {
      const hang = () => new Promise(() => {});
      for (const first of [fetch, hang]) {
        let calls = 0;
        const client = clientOf(tools, 'late', {
          timeout: 1500,
          breaker: { failures: 1 },
          fetch: (...request) => (calls++ === 0 ? first : fetch)(...request),
        });
        const controller = new AbortController();
        const ended = client.lookup('example.com', { signal: controller.signal });
        await pause(50);
        controller.abort();
        same((await ended).cause, 'aborted', 'the first');
        await pause(1600);
        same((await client.lookup('example.com')).ok, true, 'the second');
      }
    },
  ],
];

const addresses = [
  'somebody.private@example.com',
  '"a private@place"@example.com',
  'Private Person <private@example.com>',
  ' private@EXAMPLE.com ',
  'private\uff20example.com',
  'private%40example.com',
];

const privacy = [
  [
    'sends the domain of an address and nothing else of it',
    async tools => {
      for (const address of addresses) {
        const client = clientOf(tools, 'safe');
        same((await client.lookup(address)).ok, true, address);
        const requests = await client.requests();
        same(
          requests.map(({ url }) => url.split('/v1/')[1]),
          ['public/domain/example.com'],
          address,
        );
        expect(!JSON.stringify(requests).includes('private'), `${address} left the process`);
      }
    },
  ],
  [
    'sends nothing when there is no domain',
    async tools => {
      const client = clientOf(tools, 'safe');
      const texts = [
        '',
        '@',
        'a@',
        'a@b',
        'a@b.',
        '..',
        '.',
        'john doe',
        'a@b c',
        'a@b.com/..',
        'a/b',
        'x\ud800.com',
        '%2e%2e',
      ];
      for (const text of [...texts, 'x'.repeat(255), null, undefined, 5, {}]) {
        same((await client.lookup(text)).cause, 'input', JSON.stringify(text) ?? 'undefined');
        same(await client.isRisky(text), false, 'isRisky');
      }
      same(await client.asked(), 0, 'requests');
    },
  ],
  [
    'sends international names as they are',
    async tools => {
      const client = clientOf(tools, 'safe');
      for (const name of [
        'm\u00fcnchen.de',
        '\u03a3\u0391\u03a3.gr',
        '\u4f8b\u3048\u3002\u30c6\u30b9\u30c8',
      ]) {
        await client.lookup(`a@${name}`);
        const [request] = (await client.requests()).slice(-1);
        same(decodeURIComponent(request.url.split('/domain/')[1]), name, 'sent');
      }
    },
  ],
];

/** Runs the work with a `console.error` that only counts. */
async function counting(work) {
  const { error } = console;
  const lines = [];
  console.error = (...parts) => lines.push(parts.join(' '));
  try {
    await work();
  } finally {
    console.error = error;
  }
  return lines;
}

const hooks = [
  [
    'is loud once about what the caller must fix',
    async tools => {
      for (const way of ['401', '403', '404', '422']) {
        const lines = await counting(async () => {
          const client = clientOf(tools, way, { onProblem: undefined });
          for (let call = 0; call < 3; call++) await client.lookup('example.com');
        });
        expect(lines.length === 1 && !lines[0].includes('secret'), `${way}: ${lines.length} lines`);
      }
      const quiet = await counting(async () => {
        for (const way of ['429', '500', 'ends', 'hangs', 'html']) {
          await clientOf(tools, way, { onProblem: undefined, timeout: TIMEOUT }).lookup('example.com');
        }
      });
      same(quiet, [], 'lines for what passes by itself');
    },
  ],
  [
    'tells a hook in place of the console',
    async tools => {
      const problems = [];
      const lines = await counting(async () => {
        const client = clientOf(tools, '403', { onProblem: problem => problems.push(problem.code) });
        for (let call = 0; call < 3; call++) await client.lookup('example.com');
      });
      same([problems, lines], [['forbidden'], []], 'hook and console');
    },
  ],
  [
    'tells every call to its hook',
    async tools => {
      const calls = [];
      const client = clientOf(tools, 'kept', { onCall: call => calls.push(call) });
      await client.lookup('example.com');
      await client.lookup('example.com');
      await client.usage();
      const seen = calls.map(({ operation, result }) => [
        operation,
        result.ok,
        result.fromCache ?? result.cause,
      ]);
      const wanted = [
        ['lookup', true, false],
        ['lookup', true, true],
        ['usage', false, 'answer'],
      ];
      same(seen, wanted, 'calls');
      expect(
        calls.every(call => call.milliseconds >= 0),
        'no duration',
      );
    },
  ],
  [
    'does not mind hooks that throw or reject',
    async tools => {
      const fail = () => {
        throw new Error('of a hook');
      };
      for (const hook of [fail, async () => fail()]) {
        const client = clientOf(tools, '401', { onCall: hook, onProblem: hook });
        same(await client.isRisky('example.com', { onFailure: hook }), false, 'isRisky');
      }
    },
  ],
  [
    'does not mind a fetch that throws, rejects, answers nonsense or hangs for good',
    async tools => {
      const fetches = [
        () => {
          throw new Error(`secret ${KEY}`);
        },
        async () => Promise.reject(undefined),
        async () => Promise.reject({ message: KEY, code: { toString: null } }),
        async () => undefined,
        async () => ({ status: 200, headers: new Headers() }),
        () => new Promise(() => {}),
        async () => ({
          status: 200,
          headers: new Headers(),
          body: new ReadableStream({ pull: () => new Promise(() => {}) }),
        }),
      ];
      for (const fetch of fetches) {
        const client = clientOf(tools, 'safe', { fetch, timeout: TIMEOUT });
        same((await timed(tools, () => client.lookup('example.com'))).ok, false, String(fetch));
      }
    },
  ],
  [
    'works with a fetch that gives text only',
    async tools => {
      const text = async () => (await fetch(`${tools.bad}/safe/text-only/`)).text();
      const client = clientOf(tools, 'safe', {
        fetch: async () => ({ status: 200, headers: new Headers(), text }),
      });
      same((await client.lookup('example.com')).ok, true, 'ok');
    },
  ],
  [
    'does not mind options that are wrong',
    async tools => {
      const { createClient } = tools;
      const onProblem = () => {};
      const baseUrl = `${tools.bad}/safe/options`;
      const wrong = [
        { apiKey: KEY, onProblem },
        { apiKey: KEY, baseUrl: 'ftp://example.com', onProblem },
        { apiKey: KEY, baseUrl: 'http://user:secret@127.0.0.1', onProblem },
        { baseUrl, onProblem },
        { baseUrl, apiKey: 'two\nsecret lines', onProblem },
      ];
      for (const options of wrong) {
        const client = createClient(options);
        for (const call of ['lookup', 'topDomains', 'usage']) {
          const result = await timed(tools, () => client[call]('example.com'), LONG);
          same([result.ok, result.cause], [false, 'options'], JSON.stringify(options));
        }
      }
      const lines = await counting(async () => createClient().lookup('example.com'));
      same(lines.length, 1, 'lines for no options at all');
      const client = clientOf(tools, 'safe', {
        timeout: Number.NaN,
        retries: -1,
        cacheSize: 'x',
        breaker: null,
      });
      same((await client.lookup('example.com', null)).ok, true, 'null for options');
      same(
        (await client.lookup('example.com', { signal: 'none' })).cause,
        'options',
        'a signal that is none',
      );
      same((await client.topDomains({ reason: '\ud800' })).cause, 'options', 'a reason that is no text');
      same((await client.lookup('b.com', { timeout: 2 ** 40 })).ok, true, 'a timeout longer than any timer');
    },
  ],
  [
    'takes a key as it stands in a file',
    async tools => {
      const client = clientOf(tools, 'safe', { apiKey: `${KEY}\n` });
      same((await client.lookup('example.com')).ok, true, 'ok');
      expect((await client.requests())[0].headers.includes(`Bearer ${KEY}`), 'another key was sent');
    },
  ],
];

const real = [
  [
    'asks the service itself',
    async ({ createClient, real }) => {
      const client = createClient({ baseUrl: real.url, apiKey: real.key, onProblem: () => {} });
      const gmail = await client.lookup('GMAIL.com');
      same([gmail.ok, gmail.data?.domain, gmail.data?.reason], [true, 'gmail.com', 'safe'], 'gmail.com');
      expect(gmail.quota.remaining < gmail.quota.limit, 'no quota');
      same((await client.lookup('gmail.com')).fromCache, true, 'kept as the service allows');
      const { data } = await client.lookup('gmail.com', { explain: true });
      const points = data.evidence.signals.reduce((sum, signal) => sum + signal.points, 0);
      same(points, data.risk_score, 'points of the evidence');
      same(await client.isRisky('a@mailinator.com'), true, 'mailinator.com');
      same((await client.lookup('co.uk')).code, 'validation_error', 'co.uk');
      const several = await client.domains(['a@mailinator.com', 'co.uk', 'yopmail.com', 'nothing']);
      same(
        several.data.results.map(({ error, reason }) => error ?? reason),
        ['disposable', 'validation_error', 'disposable', 'validation_error'],
        'domains',
      );
      const checked = await client.check('jane.doe@gmail.com');
      same([checked.ok, checked.data?.email, checked.fromCache], [true, 'ja***oe@gmail.com', false], 'check');
      const top = await client.topDomains({ limit: 3, reason: 'disposable' });
      same([top.ok, top.data?.count, top.data?.domains.length], [true, 3, 3], 'top domains');
      same((await client.topDomains({ limit: 5000 })).status, 422, 'too many');
      const usage = await client.usage();
      same([usage.ok, usage.data?.monthly_limit], [true, gmail.quota.limit], 'usage');
      const { data: used } = await client.usage({ days: 2 });
      const counted = used.days.reduce((sum, day) => sum + day.count, 0);
      same([used.days.length, counted], [2, used.month_count], 'usage of days');
      const stranger = createClient({ baseUrl: `${real.url}/`, apiKey: 'drk_none', onProblem: () => {} });
      same((await stranger.lookup('gmail.com')).code, 'unauthorized', 'a wrong key');
    },
  ],
];

/** A fetch that answers as the service does, and remembers what was sent. */
function answering(entryOf, headers = { 'cache-control': 'private, max-age=300' }) {
  const sent = [];
  const fetch = async (url, { method = 'GET', body } = {}) => {
    sent.push({ url: String(url), method, body });
    const names = body ? JSON.parse(body).domains : [decodeURIComponent(String(url).split('/').pop())];
    const entries = names.map(entryOf);
    return new Response(JSON.stringify(body ? { results: entries, count: entries.length } : entries[0]), {
      headers,
    });
  };
  return { fetch, sent };
}

const riskOf = domain => ({
  domain,
  risk_score: 5,
  reason: 'safe',
  is_free_provider: false,
  is_corporate_email: true,
  mx_provider_label: null,
});

const many = [
  [
    'asks for many domains in one call, each once, in the order of the names and never for an address',
    async ({ createClient }) => {
      const { fetch, sent } = answering(riskOf);
      const client = createClient({ baseUrl: 'https://risk.example', apiKey: KEY, fetch });
      const names = ['private@a.com', 'B.com', 'nothing', 'a.com', 'c.com'];
      const result = await client.domains(names);
      same([result.ok, result.data.count], [true, 5], 'answer');
      same(
        result.data.results.map(({ domain, error }) => error ?? domain),
        ['a.com', 'b.com', 'validation_error', 'a.com', 'c.com'],
        'results',
      );
      same(
        sent.map(({ url, method, body }) => [url, method, body]),
        [['https://risk.example/v1/public/domains', 'POST', '{"domains":["a.com","b.com","c.com"]}']],
        'sent',
      );
    },
  ],
  [
    'does not ask again for what it knows, be it from many or from one',
    async ({ createClient }) => {
      const { fetch, sent } = answering(name =>
        name === 'c.com' ? { ...riskOf(name), degraded: 'dns' } : riskOf(name),
      );
      const client = createClient({ baseUrl: 'https://risk.example', apiKey: KEY, fetch });
      await client.lookup('a.com');
      await client.domains(['a.com', 'b.com', 'c.com']);
      same((await client.lookup('b.com')).fromCache, true, 'lookup');
      same((await client.domains(['a.com', 'b.com'])).fromCache, true, 'all known');
      await client.domains(['a.com', 'c.com']);
      same(
        sent.map(({ body }) => body),
        [undefined, '{"domains":["b.com","c.com"]}', '{"domains":["c.com"]}'],
        'bodies',
      );
    },
  ],
  [
    'sends a whole address only where check is asked for, and keeps no answer to that',
    async ({ createClient }) => {
      const checked = { is_risky: false, deliverability_score: 9, did_you_mean: null, is_alias_email: false };
      const answer = () => ({ email: 'x', ...checked, ...riskOf('a.com') });
      const { fetch, sent } = answering(answer, { 'cache-control': 'no-store' });
      const client = createClient({ baseUrl: 'https://risk.example', apiKey: KEY, fetch });
      for (let call = 0; call < 2; call++) same((await client.check(' jane+x/y@a.com ')).ok, true, 'ok');
      same(
        sent.map(({ url }) => url),
        Array(2).fill('https://risk.example/v1/check/jane%2Bx%2Fy%40a.com'),
        'sent',
      );
      for (const text of ['', 'jane', 'jane@', null, 5, '\ud800@a.com', 'a@\ud800.com'])
        same((await client.check(text)).cause, 'input', JSON.stringify(text));
    },
  ],
  [
    'fails open with many domains and with addresses: never throws, and ends in time',
    async tools => {
      for (const [way, cause] of [
        ['reset', 'network'],
        ['hangs', 'timeout'],
        ['500', 'server'],
        ['429', 'refused'],
        ['safe', 'answer'],
        ['bad-json', 'answer'],
      ]) {
        const timeout = cause === 'timeout' ? TIMEOUT : LONG;
        const client = clientOf(tools, way, { timeout });
        same((await timed(tools, () => client.domains(['a.com']), timeout)).cause, cause, way);
        same((await timed(tools, () => client.check('a@a.com'), timeout)).cause, cause, way);
      }
      const client = clientOf(tools, 'safe');
      for (const names of [[], Array.from({ length: 1001 }, (_, at) => `${at}.com`)])
        same((await client.domains(names)).cause, 'input', 'count');
      for (const names of [null, undefined, 5, {}]) same((await client.domains(names)).ok, false, 'no list');
      same(await client.asked(), 0, 'requests');
      const few = answering(riskOf);
      const short = async (...args) => {
        const response = await few.fetch(...args);
        const { results } = await response.json();
        return new Response(JSON.stringify({ results: results.slice(1), count: 0 }));
      };
      const cheated = tools.createClient({ baseUrl: 'https://risk.example', apiKey: KEY, fetch: short });
      same((await cheated.domains(['a.com', 'b.com'])).cause, 'answer', 'fewer results than names');
    },
  ],
];

export const CHECKS = [
  ...many,
  ...answers,
  ...failures,
  ...attempts,
  ...sharing,
  ...privacy,
  ...hooks,
  ...real,
].map(([name, run]) => ({ name, run }));

/** All of them, one after the other: what failed, and how late the latest call was. */
export async function runAll(tools) {
  const failed = [];
  let latest = 0;
  const all = { ...tools, late: ms => (latest = Math.max(latest, ms)) };
  for (const { name, run } of CHECKS) {
    try {
      await run(all);
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  }
  return { passed: CHECKS.length - failed.length, failed, latest: Math.round(latest) };
}
