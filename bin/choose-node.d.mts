export declare const OLDEST: readonly [number, number];
export declare function chooseNode(
  host: { readonly version: string; readonly path: string },
  bundled: string | undefined,
  runs: (path: string) => boolean,
): { readonly node: string } | { readonly problem: string };
