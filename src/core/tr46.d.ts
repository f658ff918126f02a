/** The part of tr46 that is used here; the package ships no types. */

declare module 'tr46' {
  export interface Uts46Options {
    readonly checkHyphens: boolean;
    readonly checkBidi: boolean;
    readonly checkJoiners: boolean;
    readonly useSTD3ASCIIRules: boolean;
    readonly transitionalProcessing: boolean;
  }
  /** The name in A-labels; null when a label breaks a rule. */
  export function toASCII(
    name: string,
    options: Uts46Options & { readonly verifyDNSLength: boolean },
  ): string | null;
  export function toUnicode(
    name: string,
    options: Uts46Options,
  ): { readonly domain: string; readonly error: boolean };
}
