import { subject } from '../subject.ts';
import { asClient, clientScenarios, REVISIONS, SUITE } from '../suite.ts';
import { hold } from '../under-gate.ts';

/** What is otherwise on purpose. */
const expected: Readonly<Record<string, RegExp>> = {
  // The gate brings each schema to 2020-12, whatever dialect it named, and leaves the name of the dialect out.
  'json-schema-2020-12-preservation':
    /^\S+: +- [^\n]*SchemaPreserved: Client preserved \$schema[^\n]*(\n +Error[^\n]*)?$/,
};

export default subject({
  name: 'conformance, of clients',
  role: 'MCP suite',
  packages: SUITE,
  tryMs: 3_600_000,
  async run(trial) {
    for (const revision of REVISIONS) {
      await trial.check(`${revision}, each scenario by itself`, async () => {
        const names = await clientScenarios(trial, revision);
        hold(names.length > 15, `the suite names ${names.length} scenarios`);
        const failures: string[] = [];
        const known: string[] = [];
        let checks = 0;
        for (const name of names) {
          const seen = await asClient(trial, revision, name);
          checks += seen.checks;
          if (seen.failed === undefined) continue;
          if (expected[name]?.test(seen.failed))
            known.push(`of ${name} all but \`$schema\`, which the gate leaves out`);
          else failures.push(seen.failed);
        }
        hold(failures.length === 0, `${failures.length} of ${names.length} scenarios: ${failures.join('; ')}`);
        return [`${names.length} scenarios, ${checks} checks`, ...known].join('; ');
      });
    }
  },
});
