/** Any character of Unicode, halves of pairs included. fast-check's own `binary` takes a second to begin with. */

import fc from 'fast-check';

export const anyCharacter = fc.nat(0x10_ffff).map(code => String.fromCodePoint(code));
