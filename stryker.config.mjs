/** Mutants of the pure code, held against the unit tests (`npm run mutants`, docs/mutants.md). */
export default {
  testRunner: 'vitest',
  // All unit tests, not only those that import a file: the runner finds out itself which of them reach a mutant.
  vitest: { configFile: 'vitest.unit.config.ts', related: false },
  mutate: [
    'src/core/*.ts',
    'src/{admit,overrule}.ts',
    'src/dns/finding.ts',
    'src/http/{etag,failures,head,lane,often,query,reply,request-id,router,shed,shown,target,transport,wire}.ts',
    '!src/core/*.d.ts',
  ],
  // Tables of words and numbers are made when a file is loaded: each mutant there would run all tests anew, for hours.
  ignoreStatic: true,
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: true, logTests: false, reportTests: false },
  // A file that is not there: it would be rewritten by the compiler's API, which TypeScript 7 does not have.
  tsconfigFile: 'none',
  tempDirName: '.mutants',
  // The counts of all 11,000 mutants did not fit into what a process has without it (2026-11-18).
  testRunnerNodeArgs: ['--max-old-space-size=8192'],
  // Nor anything that may be the operator's own: the rest is copied into a sandbox.
  ignorePatterns: ['bench', 'client/dist', 'console/dist', 'docs/screenshots', 'var', '.program', '.env', '*.db*'],
};
