/** Requests as bytes and answers as they came: a browser's or fetch's tidying up would hide what is tested. */

import { expect } from 'vitest';
import { rawRequest } from './service.ts';

export interface Answer {
  readonly status: number;
  /** By lower-case name; repeated lines are joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly key?: string | undefined;
  /** Header lines, in order, such as `Origin: https://a.example`. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The service closes behind its answer. Where others have the processors, 80 calls at once took 3 s (2026-11-17). */
const PATIENT_MS = 60_000;

/** One request over its own connection. */
export async function ask(port: number, target: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET', key, headers = [], body = '' } = question;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
  ];
  return askBytes(port, `${lines.join('\r\n')}\r\n\r\n${body}`, PATIENT_MS);
}

export async function askBytes(port: number, bytes: string, ms?: number): Promise<Answer> {
  const answers = parseAnswers(await rawRequest(port, Buffer.from(bytes, 'latin1'), ms));
  expect(answers, JSON.stringify(bytes.slice(0, 300))).toHaveLength(1);
  return answers[0]!;
}

/** Every answer on a connection, in order. An answer without Content-Length takes what is left. */
export function parseAnswers(bytes: string): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    expect(end, `no end of the head in ${JSON.stringify(rest.slice(0, 200))}`).toBeGreaterThan(0);
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      const before = headers.get(name.toLowerCase());
      headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
    }
    rest = rest.slice(end + 4);
    const bare = status === 204 || status === 304;
    const length = bare ? 0 : Number(headers.get('content-length') ?? rest.length);
    answers.push({ status, headers, body: Buffer.from(rest.slice(0, length), 'latin1').toString('utf8') });
    rest = rest.slice(length);
  }
  return answers;
}

export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly detail: string | null;
  readonly request_id: string;
  readonly reset_at?: string;
}

/** What tells of the inside: stack frames, source files, statements, the database, paths. */
const INSIDE =
  /\n|\bat \S+:\d+|node:|node_modules|\.[tj]s\b|\.db\b|sqlite|\bSELECT\b|\bINSERT\b|busy|locked|\/tmp|\/src\//i;

/** The one shape of every error, with nothing of the inside in it. */
export function expectError(answer: Answer, status: number, error: string): ErrorBody {
  expect(answer.status, answer.body).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.body)));
  expect(answer.body).not.toMatch(INSIDE);
  const body = JSON.parse(answer.body) as ErrorBody;
  const members = ['error', 'message', 'detail', 'request_id'];
  expect(Object.keys(body)).toEqual(error === 'quota_exceeded' ? [...members, 'reset_at'] : members);
  expect(body.error).toBe(error);
  expect(body.message).toMatch(/\S{3}/);
  expect(body.detail === null || typeof body.detail === 'string').toBe(true);
  expect(body.request_id).toBe(answer.headers.get('x-request-id'));
  expect(body.request_id).toMatch(/\S{6}/);
  return body;
}
