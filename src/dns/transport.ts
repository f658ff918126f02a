/** Carries one question to one server over UDP, and over TCP where UDP cannot be trusted or is too small. */

import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { inOrder } from './inbox.ts';
import type { Server } from './settings.ts';
import { type QuestionType, type Refused, type Reply, readReply, writeQuery } from './wire.ts';

/** Why one server's answer could not be used. */
export type Failure = Refused | 'network' | 'mismatch';

export type Told = { readonly reply: Reply } | { readonly failure: Failure };

/** A question under way; `done` is called at most once and never after `close`. */
export interface Carried {
  close(): void;
}

type Done = (told: Told) => void;

/**
 * UDP first. An answer that is cut off (the TC bit, RFC 7766), or that does not match id and question byte for byte
 * (forged, garbled, or from a server that changes the case), makes us ask the same server over TCP at once.
 */
export function carry(server: Server, name: string, type: QuestionType, done: Done): Carried {
  let current = overUdp(server, name, type, done, () => {
    current = overTcp(server, name, type, done);
  });
  return { close: () => current.close() };
}

/** A fresh, connected socket for each question: the system picks a random port (RFC 5452) and drops other senders. */
function overUdp(server: Server, name: string, type: QuestionType, done: Done, useTcp: () => void): Carried {
  const query = writeQuery(name, type);
  const socket = createSocket(server.version === 6 ? 'udp6' : 'udp4');
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    socket.close();
  };
  const end = (then: () => void) =>
    inOrder(() => {
      if (!open) return;
      close();
      then();
    });
  socket.on('error', () => end(() => done({ failure: 'network' })));
  // Whatever comes first ends it.
  socket.once('message', bytes =>
    end(() => {
      const read = readReply(bytes, query, false);
      if (read.kind === 'reply') done({ reply: read.reply });
      else if (read.kind === 'refused') done({ failure: read.why });
      else useTcp();
    }),
  );
  socket.on('connect', () => {
    if (open) socket.send(query.bytes);
  });
  socket.connect(server.port, server.address);
  return { close };
}

/** A message has its length in front (RFC 1035 4.2.2). */
function overTcp(server: Server, name: string, type: QuestionType, done: Done): Carried {
  const query = writeQuery(name, type);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.bytes.length);
  const socket = connect({ host: server.address, port: server.port });
  let open = true;
  const chunks: Buffer[] = [];
  let received = 0;
  const close = () => {
    open = false;
    socket.destroy();
  };
  const end = (tell: () => Told) =>
    inOrder(() => {
      if (!open) return;
      close();
      done(tell());
    });
  socket.on('connect', () => socket.write(Buffer.concat([length, query.bytes])));
  socket.on('error', () => end(() => ({ failure: 'network' })));
  socket.on('close', () => end(() => ({ failure: 'network' })));
  socket.on('data', chunk => {
    chunks.push(chunk);
    received += chunk.length;
    const needed = 2 + Buffer.concat(chunks.slice(0, 2), 2).readUInt16BE(0);
    if (received < needed) return;
    socket.pause();
    end(() => {
      const message = Buffer.concat(chunks).subarray(2, needed);
      const read = readReply(message, query, true);
      if (read.kind === 'reply') return { reply: read.reply };
      return { failure: read.kind === 'refused' ? read.why : 'mismatch' };
    });
  });
  return { close };
}
