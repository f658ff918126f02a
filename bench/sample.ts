/** What a bare server is to answer: the same bytes as the service. */

import { request } from 'node:http';

/** One real answer, as it came over the wire. */
export function sample(url: string, path: string, authorization: string) {
  return new Promise<{ status: number; headers: string[]; body: string }>((resolve, reject) => {
    request(url + path, { headers: { authorization } }, response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('end', () => {
        // The server adds these by itself.
        const own = new Set(['date', 'connection', 'keep-alive']);
        const headers: string[] = [];
        for (let i = 0; i < response.rawHeaders.length; i += 2) {
          if (own.has(response.rawHeaders[i]!.toLowerCase())) continue;
          headers.push(response.rawHeaders[i]!, response.rawHeaders[i + 1]!);
        }
        resolve({ status: response.statusCode!, headers, body: Buffer.concat(chunks).toString() });
      });
    })
      .on('error', reject)
      .end();
  });
}
