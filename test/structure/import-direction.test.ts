import { isBuiltin } from 'node:module';
import { describe, expect, test } from 'vitest';
import type { Import } from './source.ts';
import { importsOf, partOf, resolveImport, sourceFiles } from './source.ts';

interface Grant {
  package: RegExp;
  files: RegExp;
  /** Ways of loading that are granted; a type import is always one. */
  how: readonly Import['how'][];
}

const loads: Grant['how'] = ['static', 'dynamic'];

/** Who may import which package. What is not granted here is refused. */
const grants: readonly Grant[] = [
  { package: /^zod$/, files: /^contracts\/schemas\//, how: ['static'] },
  { package: /^zod$/, files: /^contracts\//, how: [] },
  { package: /^(zod|zod-to-json-schema|ajv)(\/|$)/, files: /^gate\//, how: ['dynamic'] },
  { package: /^zod(\/|$)/, files: /^(cli\/|cli\.ts|index\.ts)/, how: ['dynamic'] },
  { package: /^yaml$/, files: /^(host|adapters\/policy|adapters\/tools\/skills|cli)\b/, how: ['dynamic'] },
  { package: /^cron-parser$/, files: /^host\/background\/cron\.ts$/, how: ['dynamic'] },
  { package: /^commander$/, files: /^cli(\/|\.ts)/, how: loads },
  // Vendors: each in its own adapter, and nowhere else.
  { package: /^openai(\/|$)/, files: /^adapters\/models\/openai\b/, how: loads },
  { package: /^@anthropic-ai\//, files: /^adapters\/models\/anthropic\b/, how: loads },
  { package: /^sharp$/, files: /^adapters\/models\/images\/scaled-image\.ts$/, how: loads },
  { package: /^@ai-sdk\/provider$/, files: /^adapters\/models\/ai-sdk\b/, how: [] },
  { package: /^@google\/genai(\/|$)/, files: /^adapters\/models\/gemini\b/, how: loads },
  { package: /^@google\/adk(\/|$)/, files: /^adapters\/google-adk\b/, how: loads },
  { package: /^@agentclientprotocol\//, files: /^(adapters|host)\/acp\b/, how: loads },
  { package: /^@modelcontextprotocol\//, files: /^(adapters\/tools|host)\/mcp\b/, how: loads },
  { package: /^react$/, files: /^adapters\/react\//, how: loads },
  { package: /^ws$/, files: /^(adapters\/remote|host\/ws|host\/websocket)\b/, how: loads },
  // Databases: loaded by whoever opens one, never with the module.
  { package: /^kysely$/, files: /^adapters\/stores\/sql\//, how: ['dynamic'] },
  { package: /^pg$/, files: /^adapters\/stores\/sql\/kysely\/open-postgres\.ts$/, how: ['dynamic'] },
  { package: /^mysql2$/, files: /^adapters\/stores\/sql\/kysely\/open-mysql\.ts$/, how: ['dynamic'] },
  { package: /^(pg|pg-boss|@nats-io\/transport-node)$/, files: /^adapters\/nodes\//, how: ['dynamic'] },
  { package: /^@cedar-policy\//, files: /^adapters\/policy\/cedar\b/, how: loads },
  { package: /^@opentelemetry\/api$/, files: /^adapters\/telemetry\b/, how: loads },
];

const files = sourceFiles().map((file) => ({ ...file, imports: importsOf(file.code) }));

/** `file -> specifier` of every import that `breaks` says is wrong. */
function breaches(breaks: (path: string, entry: Import) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((entry) => breaks(path, entry)).map((entry) => `${path} -> ${entry.specifier} (${entry.how})`),
  );
}

const isRelative = ({ specifier }: Import) => specifier.startsWith('.');
const isPackage = (entry: Import) => !isRelative(entry) && !isBuiltin(entry.specifier);

describe('imports', () => {
  test('relative imports carry the .ts extension', () => {
    expect(breaches((_, entry) => isRelative(entry) && !/\.(ts|json)$/.test(entry.specifier))).toEqual([]);
  });

  test('relative imports stay inside src', () => {
    const wrong = breaches(
      (path, entry) => isRelative(entry) && resolveImport(path, entry.specifier).startsWith('../'),
    );
    expect(wrong).toEqual([]);
  });
});

describe('packages', () => {
  test('a package is imported only where it is granted, in the way it is granted', () => {
    const wrong = breaches(
      (path, entry) =>
        isPackage(entry) &&
        !grants.some(
          (grant) =>
            grant.package.test(entry.specifier) &&
            grant.files.test(path) &&
            (entry.how === 'type' || grant.how.includes(entry.how)),
        ),
    );
    expect(wrong).toEqual([]);
  });

  test('contracts import zod and themselves, no Node module', () => {
    const wrong = breaches(
      (path, entry) => partOf(path) === 'contracts' && !isRelative(entry) && entry.specifier !== 'zod',
    );
    expect(wrong).toEqual([]);
  });

  test('the client and what it loads import no Node module: they run in browsers', () => {
    const wrong = breaches(
      (path, { specifier, how }) =>
        /^(base|session|adapters\/remote)\//.test(path) && isBuiltin(specifier) && how !== 'type',
    );
    expect(wrong).toEqual([]);
  });

  test('contracts reach their schemas through types only, so that importing them loads no zod', () => {
    const isSchema = (path: string) => path.startsWith('contracts/schemas/');
    const wrong = breaches(
      (path, entry) =>
        partOf(path) === 'contracts' &&
        !isSchema(path) &&
        isRelative(entry) &&
        isSchema(resolveImport(path, entry.specifier)) &&
        entry.how === 'static',
    );
    expect(wrong).toEqual([]);
  });
});

describe('the import reader', () => {
  test.each<[string, Import[]]>([
    ["import { a } from 'x';", [{ specifier: 'x', how: 'static' }]],
    ["import {\n  a,\n  b,\n} from './y.ts';", [{ specifier: './y.ts', how: 'static' }]],
    ["import type { A } from 'x';", [{ specifier: 'x', how: 'type' }]],
    ["export type { A } from 'x';", [{ specifier: 'x', how: 'type' }]],
    ["export type * from 'x';", [{ specifier: 'x', how: 'type' }]],
    ["import { type A } from 'x';", [{ specifier: 'x', how: 'static' }]],
    ["import type from 'x';", [{ specifier: 'x', how: 'static' }]],
    ["export * from 'x';", [{ specifier: 'x', how: 'static' }]],
    ["import 'x';", [{ specifier: 'x', how: 'static' }]],
    ["const x = await import('x');", [{ specifier: 'x', how: 'dynamic' }]],
    ["export type A = 1;\nconst from = 'x';", []],
  ])('reads %j', (code, expected) => {
    expect(importsOf(code)).toEqual(expected);
  });
});
