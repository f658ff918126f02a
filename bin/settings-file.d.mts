export function settingsFileOf(paths: readonly string[]): {
  readonly path?: string;
  readonly problem?: string;
};
