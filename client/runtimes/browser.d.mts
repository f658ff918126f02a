export interface Outcome {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly latest: number;
}

export function findBrowser(): string | undefined;
export function runInBrowser(
  path: string,
  tools: object,
): Promise<{ version: string; page: Outcome; worker: Outcome; form: Outcome }>;
