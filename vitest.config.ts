import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { PlainReporter } from './scripts/plain-reporter.ts';

// Child processes of the tests start in half the time.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'coxswain-tests-compile-cache');

/** Folders whose files have a process each: they start children, browsers, signals or compilers that a neighbour would notice. */
const alone = ['bench', 'cli', 'examples', 'foreign', 'inspector', 'mutants', 'nodes', 'pages', 'property'];

/** The others share one process, so that each file does not load the library anew: what they change, they put back. */
const sharing = readdirSync(join(import.meta.dirname, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !alone.includes(entry.name))
  .map(({ name }) => `test/${name}/**/*.test.ts`);

/** These drive a browser. */
const browsing = ['test/react/*-page.test.ts', 'test/http/chat-page.test.ts', 'test/websocket/browser.test.ts'];

/** These install the packed package from the registry, as its users do: `npm run test:installed`. */
const installing = [
  'test/examples/installed.test.ts',
  'test/examples/next.test.ts',
  'test/examples/react-18.test.ts',
  'test/examples/tasks.test.ts',
  'test/pages/newcomer.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: sharing, exclude: ['**/node_modules/**', ...browsing], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: [...alone.map((name) => `test/${name}/**/*.test.ts`), ...browsing],
          exclude: ['**/node_modules/**', ...installing],
        },
      },
      { extends: true, test: { name: 'installed', include: installing } },
    ],
    globalSetup: ['test/adapters/servers-setup.ts', 'test/chromium-setup.ts'],
    setupFiles: ['test/own-package.ts', 'test/given-back.ts', 'test/no-vacuous-patterns.ts'],
    // Processes rather than threads: tests may end workers, raise signals and open databases.
    pool: 'forks',
    // Node runs the tests and the sources as it runs the program: nothing transforms them, in half the time.
    experimental: { viteModuleRunner: false },
    // On two cores three: they wait for children, disks and databases as well.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    // What is waited for comes, only later where the machine has other work: one second is a claim about its speed.
    expect: { poll: { timeout: 30_000 } },
    allowOnly: false,
    reporters: ['default', new PlainReporter()],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
