/** The request's header lines as they came. `req.headers` hides repetitions: it keeps the first Host and Authorization. */

import type { IncomingMessage } from 'node:http';

export interface Head {
  authorization: string | undefined;
  origin: string | undefined;
  forwardedFor: string | undefined;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
  wantsProblem: boolean;
  hosts: number;
  /** More body than is worth draining: the connection ends after the answer. */
  hasLargeBody: boolean;
}

const MOST_DRAINED = 1024;

const join = (before: string | undefined, value: string) =>
  before === undefined ? value : `${before}, ${value}`;

export function readHead(req: IncomingMessage): Head {
  const head: Head = {
    authorization: undefined,
    origin: undefined,
    forwardedFor: undefined,
    ifNoneMatch: undefined,
    acceptEncoding: undefined,
    wantsProblem: false,
    hosts: 0,
    hasLargeBody: false,
  };
  const lines = req.rawHeaders;
  for (let i = 0; i < lines.length; i += 2) readLine(head, lines[i]!, lines[i + 1]!);
  return head;
}

function readLine(head: Head, name: string, value: string): void {
  switch (name.toLowerCase()) {
    case 'authorization':
      head.authorization = join(head.authorization, value);
      break;
    case 'origin':
      head.origin = join(head.origin, value);
      break;
    case 'x-forwarded-for':
      head.forwardedFor = join(head.forwardedFor, value);
      break;
    case 'if-none-match':
      head.ifNoneMatch = join(head.ifNoneMatch, value);
      break;
    case 'accept-encoding':
      head.acceptEncoding = join(head.acceptEncoding, value);
      break;
    case 'accept':
      head.wantsProblem ||= /\bapplication\/problem\+json\b/i.test(value);
      break;
    case 'host':
      head.hosts++;
      break;
    case 'content-length':
      head.hasLargeBody ||= Number(value) > MOST_DRAINED;
      break;
    case 'transfer-encoding':
      head.hasLargeBody = true;
      break;
  }
}
