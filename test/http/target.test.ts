import { expect, test } from 'vitest';
import { readTarget } from '../../src/http/target.ts';

const DOMAIN = '/v1/public/domain/{domain}';

test.each<[string, string, string, string]>([
  ['/', '/', '', ''],
  ['/v1/usage', '/v1/usage', '', ''],
  ['/v1/usage?days=7', '/v1/usage', '', 'days=7'],
  ['/v1/usage?', '/v1/usage', '', ''],
  ['/v1/usage?a?b', '/v1/usage', '', 'a?b'],
  ['/v1/public/domain/gmail.com', DOMAIN, 'gmail.com', ''],
  ['/v1/public/domain/gmail.com?explain=true', DOMAIN, 'gmail.com', 'explain=true'],
  ['/v1/public/domain/', DOMAIN, '', ''],
  ['/v1/check/a@b.com?x', '/v1/check/{email_or_domain}', 'a@b.com', 'x'],
  ['/v1/check/', '/v1/check/{email_or_domain}', '', ''],
  ['/v1/check/a@b.com/c', '/v1/check/a@b.com/c', '', ''],
  // Decoded by nobody here: an encoded slash stays in the name.
  ['/v1/public/domain/a%2Fb', DOMAIN, 'a%2Fb', ''],
  ['/v1/public/domain/a?x=/', DOMAIN, 'a', 'x=/'],
  ['/v1/public/domain/a/b', '/v1/public/domain/a/b', '', ''],
  ['/v1/public/domain', '/v1/public/domain', '', ''],
  ['/V1/public/domain/a', '/V1/public/domain/a', '', ''],
  ['//v1/usage', '//v1/usage', '', ''],
  ['/http://other/v1', '/http://other/v1', '', ''],
  // Absolute form, RFC 9112 3.2.2
  ['http://host/v1/usage?days=7', '/v1/usage', '', 'days=7'],
  ['HTTPS://host:8443/v1/public/domain/a.com', DOMAIN, 'a.com', ''],
  ['http://host', '/', '', ''],
  ['http://host?x=1', '/', '', 'x=1'],
])('the target %s leads to %s', (raw, path, segment, query) => {
  expect(readTarget(raw)).toEqual({ path, segment, query });
});

test.each(['', '*', 'v1/usage', 'host:443', 'ftp://host/v1', ' /v1/usage', 'xhttp://host/'])(
  'the target %j is none',
  raw => {
    expect(readTarget(raw)).toBeUndefined();
  },
);
