import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveConformance } from '../../../test/mcp/conformance/serve.ts';
import { subject } from '../subject.ts';
import { REVISIONS, SUITE, suite } from '../suite.ts';
import { hold } from '../under-gate.ts';

const file = join(import.meta.dirname, '../../../test/mcp/conformance/suite/expected-failures.json');
/** Scenarios of what is not served, by revision. */
const expected = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;

export default subject({
  name: 'conformance, of servers',
  role: 'MCP suite',
  packages: SUITE,
  tryMs: 900_000,
  async run(trial) {
    const server = await serveConformance();
    try {
      for (const revision of REVISIONS) {
        await trial.check(revision, async () => {
          const report = await suite(trial, ['server', '--url', server.url, '--requirements', revision]);
          const lines = [...report.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed/gm)];
          const failed = lines.flatMap(([, sign, name = '']) => (sign === '✗' ? [name] : []));
          const odd = failed.filter((name) => !Object.hasOwn(expected[revision] ?? {}, name));
          hold(lines.length > 25 && odd.length === 0, odd.length === 0 ? report.slice(-600) : odd.join(', '));
          const checks = lines.reduce((sum, [, , , passed]) => sum + Number(passed), 0);
          const beside = failed.length === 0 ? '' : `; not scored: ${failed.join(', ')}`;
          return `${lines.length - failed.length} scenarios, ${checks} checks${beside}`;
        });
      }
    } finally {
      await server.close();
    }
  },
});
