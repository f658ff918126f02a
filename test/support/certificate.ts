/** A certificate of one's own for 127.0.0.1, and for names. */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** One element of DER (ITU-T X.690, 8.1): its tag, its length, and what is in it. */
function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]) => element(0x30, ...parts);
const octets = (content: Buffer) => element(0x04, content);
const bits = (content: Buffer) => element(0x03, Buffer.from([0]), content);
const oid = (hex: string) => element(0x06, Buffer.from(hex, 'hex'));
const time = (year: number) => element(0x18, Buffer.from(`${year}0101000000Z`));
const YES = element(0x01, Buffer.from([0xff]));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const ALTERNATIVE_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');

/** Signed by itself (RFC 5280, 4.1), as PEM. Nobody believes it who was not told to. */
export function selfSigned(names: readonly string[] = []): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(
    element(
      0x31,
      sequence(COMMON_NAME, element(0x0c, Buffer.from(`lists ${randomBytes(4).toString('hex')}`))),
    ),
  );
  const address = element(0x87, Buffer.from([127, 0, 0, 1]));
  const hosts = names.map(host => element(0x82, Buffer.from(host)));
  const tbs = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(2020), time(2120)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(
      0xa3,
      sequence(
        sequence(ALTERNATIVE_NAME, octets(sequence(address, ...hosts))),
        sequence(BASIC_CONSTRAINTS, YES, octets(sequence(YES))),
      ),
    ),
  );
  const whole = sequence(tbs, ECDSA_WITH_SHA256, bits(sign('sha256', tbs, privateKey)));
  const lines = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
