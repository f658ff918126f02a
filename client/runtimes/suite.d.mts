import type { createClient } from '../src/client.ts';

export interface Tools {
  readonly createClient: typeof createClient;
  readonly bad: string;
  readonly nobody: string;
  readonly real: { readonly url: string; readonly key: string };
  readonly late: (milliseconds: number) => void;
}

export const CHECKS: readonly { readonly name: string; readonly run: (tools: Tools) => Promise<void> }[];
