export function settingsFileOf(paths: readonly string[]): string | undefined;
