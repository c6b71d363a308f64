import { defineConfig } from 'vitest/config';

/** Every mutant runs many files, in one process. Stryker itself ends a run in which a test hangs. */
export default defineConfig({
  test: {
    setupFiles: ['test/own-package.ts'],
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    experimental: { viteModuleRunner: false },
    maxWorkers: 1,
    isolate: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
