/** The table of tldts, whose types lie elsewhere in the package. */
declare module 'tldts/dist/cjs/src/data/trie.js' {
  export const edgeStart: Uint16Array;
  export const edgeLength: Uint8Array;
  export const edgeChild: Uint16Array;
  export const labelText: string;
  export const rulesRoot: number;
}
