interface Stream {
  readonly isTTY?: boolean;
}

export function takeSignals(
  isServer: boolean,
  from?: {
    on(signal: string, listener: () => void): unknown;
    readonly stdin: Stream;
    readonly stdout: Stream;
    readonly stderr: Stream;
  },
  loadingMs?: number,
): { passTo(child: { kill(signal: string): unknown }): void };
