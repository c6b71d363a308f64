import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

interface Summary {
  passed: number;
  failed: number;
  skipped: string[];
}

/**
 * Ends a run with one plain line on stdout: `N passed, N failed, N skipped`.
 *
 * Counts tests. A file or suite that fails to load or set up, an unhandled error and a test that never
 * finished count as failed. Skipped tests are listed by title before the line. The exit code is
 * non-zero when anything failed or when no test ran.
 */
export class PlainReporter implements Reporter {
  #summary: Summary = { passed: 0, failed: 0, skipped: [] };
  #watch = false;
  #filtered = false;

  onInit(vitest: Vitest): void {
    this.#watch = vitest.config.watch;
    // A run filtered by title skips the rest on purpose: counted, not listed.
    this.#filtered = vitest.config.testNamePattern !== undefined;
    // Other reporters and the coverage summary print after the run has ended; nothing prints after this.
    if (!this.#watch) process.once('exit', () => this.#close());
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#summary = summarise(modules, unhandledErrors);
    if (this.#watch) process.stdout.write(`${this.#lines()}\n`);
  }

  #close(): void {
    const { passed, failed } = this.#summary;
    if (failed > 0 || passed === 0) process.exitCode = process.exitCode || 1;
    process.stdout.write(`${this.#lines()}\n`);
  }

  #lines(): string {
    const { passed, failed, skipped } = this.#summary;
    const listed = this.#filtered ? [] : skipped.map((title) => `skipped: ${title}`);
    return [...listed, `${passed} passed, ${failed} failed, ${skipped.length} skipped`].join('\n');
  }
}

function summarise(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Summary {
  const summary: Summary = { passed: 0, failed: unhandledErrors.length, skipped: [] };
  for (const module of modules) {
    if (module.errors().length > 0) summary.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) summary.failed += 1;
    for (const test of module.children.allTests()) count(test, summary);
  }
  return summary;
}

function count(test: TestCase, summary: Summary): void {
  const result = test.result();
  if (result.state === 'passed') summary.passed += 1;
  else if (result.state === 'skipped') summary.skipped.push(skippedTitle(test, result.note));
  else summary.failed += 1;
}

function skippedTitle(test: TestCase, note: string | undefined): string {
  const title = `${test.module.relativeModuleId} > ${test.fullName}`;
  const reason = note ?? (test.options.mode === 'todo' ? 'todo' : undefined);
  // One line a test, whatever the title holds.
  return (reason === undefined ? title : `${title} (${reason})`).replaceAll(/\s+/g, ' ');
}
