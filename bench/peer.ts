/** What a developer would write instead, each on bare `node:http`: `node bench/peer.ts <which> <folder of packages> <DNS server>`. */

import { Resolver, setServers } from 'node:dns/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [which = '', packages = '', dnsServer = ''] = process.argv.slice(2);
const require = createRequire(join(packages, 'index.js'));
setServers([dnsServer]);

type Judge = (domain: string) => boolean | Promise<boolean>;

/** Whether mail to a domain is welcome, as the documentation of each shows it. */
const JUDGES: Readonly<Record<string, () => Judge>> = {
  /** A list in a set, and a question to DNS for every name that is not in it. */
  set() {
    const listed = new Set(require('disposable-email-domains') as string[]);
    const resolver = new Resolver();
    resolver.setServers([dnsServer]);
    return domain => {
      if (listed.has(domain)) return false;
      return resolver.resolveMx(domain).then(
        exchanges => exchanges.length > 0,
        () => false,
      );
    };
  },
  'deep-email-validator'() {
    const { validate } = require('deep-email-validator') as {
      validate(options: object): Promise<{ valid: boolean }>;
    };
    return async domain =>
      (await validate({ email: `a@${domain}`, validateSMTP: false, validateTypo: false })).valid;
  },
  mailchecker() {
    const { isValid } = require('mailchecker') as { isValid(email: string): boolean };
    return domain => isValid(`a@${domain}`);
  },
};

const judge = JUDGES[which]!();
const server = createServer({ keepAliveTimeout: 65_000 }, async (req, res) => {
  const domain = req.url!.slice(req.url!.lastIndexOf('/') + 1);
  const body = JSON.stringify({ domain, isWelcome: await judge(domain) });
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  res.end(body);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
process.on('disconnect', () => process.exit(0));
