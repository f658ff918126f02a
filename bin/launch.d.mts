/** What the launchers add to the environment of the program, where it does not have it. */
export declare const MEMORY: Readonly<Record<string, string>>;
