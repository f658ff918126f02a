/** Calls of `/v1/check` with a mark in every local part, many to a packet, and the places where it must never be. */

import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ask } from './answers.ts';

/** In every local part, in one of its spellings, and in nothing else. */
export const MARK = 'q7zx9k';
/** None may carry more than a thousand requests. */
const CONNECTIONS = 15;
/** Requests that one connection has under way: the next ones follow when all of them are answered. */
const AT_ONCE = 100;
const HEAD = 'HTTP/1.1 ';

function addressOf(at: number): string {
  const local = `jane${MARK}${at}`;
  switch (at % 8) {
    case 0:
      return `${local}@gmail.com`;
    case 1:
      return `${local}%40mailinator.com`;
    case 2:
      return `info%2B${local}@gmail.com`;
    case 3:
      return `${local}@name-${at % 50}.example-shop.com`;
    case 4:
      return `${local}@bad_name.com`;
    case 5:
      return `%22${local}%22@gmail.com`;
    case 6:
      return `${local}@gmail.con?email=${local}@gmail.com`;
    default:
      return `${local}@gmail.com/${local}`;
  }
}

export interface Callers {
  readonly port: number;
  readonly secret: string;
  /** Of a key whose quota and rate are soon used up. */
  readonly limited: string;
}

const requestOf = (at: number, { secret, limited }: Callers) => {
  const key = at % 16 === 0 ? limited : at % 17 === 0 ? 'drk_none' : secret;
  return (
    `GET /v1/check/${addressOf(at)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
    `Referer: https://a.example/?e=x\r\n\r\n`
  );
};

/** All bytes of all answers. */
export async function callWithLocalParts(callers: Callers, calls: number): Promise<string> {
  const connection = (first: number) =>
    new Promise<string>((resolve, reject) => {
      let next = first;
      const socket = connect(callers.port, '127.0.0.1');
      const answers: string[] = [];
      let [open, rest] = [0, ''];
      const send = () => {
        const requests: string[] = [];
        for (; requests.length < AT_ONCE && next < calls; next += CONNECTIONS)
          requests.push(requestOf(next, callers));
        open = requests.length;
        if (open > 0) socket.write(requests.join(''));
        else socket.end();
      };
      socket.setEncoding('latin1').on('data', (text: string) => {
        answers.push(text);
        const heads = (rest + text).split(HEAD);
        open -= heads.length - 1;
        // Shorter than a head, so that none is seen twice.
        rest = heads.at(-1)!.slice(1 - HEAD.length);
        // Every body is flat JSON.
        if (open === 0 && text.endsWith('}')) send();
      });
      socket.on('connect', send).on('error', reject);
      socket.on('close', () => resolve(answers.join('')));
    });
  return (await Promise.all(Array.from({ length: CONNECTIONS }, (_, first) => connection(first)))).join('');
}

const PAGES = ['/metrics', '/readyz', '/admin/audit', '/admin/infra', '/admin/keys', '/admin/overrides'];

export interface Searched extends Callers {
  /** The listener for operators, where they have one of their own. */
  readonly operators?: number;
  readonly token: string;
  readonly folder: string;
  readonly logged: string;
  readonly answers: string;
}

/** Everything that is written or shown, by where it is. */
export async function everywhere(searched: Searched): Promise<Record<string, string>> {
  const { port, operators = port, folder, secret, token, logged, answers } = searched;
  const show = async (at: number, path: string, key: string) =>
    [path, (await ask(at, path, { key })).body] as const;
  const pages = await Promise.all(PAGES.map(path => show(operators, path, token)));
  const top = await show(port, '/v1/public/top-domains?limit=1000', secret);
  const files = readdirSync(folder, { withFileTypes: true })
    .filter(file => file.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')] as const);
  return { logged, answers, ...Object.fromEntries([...pages, top, ...files]) };
}
