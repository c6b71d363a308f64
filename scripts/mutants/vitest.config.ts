import { defineConfig } from 'vitest/config';

/** Under mutants a test may hang, and every mutant runs many files: short waits, one process. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 15_000,
  },
});
