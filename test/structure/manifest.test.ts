import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { versionFile, versionSource } from '../../scripts/package-version.ts';
import { importsOf, root, sourceFiles } from './source.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  sideEffects: boolean;
  engines: { node: string };
  files: string[];
  keywords: string[];
  scripts: Record<string, string>;
  repository: { url: string };
  homepage: string;
  bugs: string;
  publishConfig: Record<string, unknown>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};

interface Workflow {
  permissions?: Record<string, string>;
  jobs: Record<
    string,
    { permissions?: Record<string, string>; steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }
  >;
}
const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;

describe('what is published', () => {
  test('is found, and says where it is from', () => {
    const [, address] = /^git\+(https:\/\/github\.com\/[\w-]+\/[\w-]+)\.git$/.exec(manifest.repository.url) ?? [];
    expect(address).toBeDefined();
    expect([manifest.homepage, manifest.bugs]).toEqual([`${address}#readme`, `${address}/issues`]);
    expect(manifest.keywords.length).toBeGreaterThan(5);
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
    expect(manifest.engines.node).toMatch(/^>=\d+\.\d+$/);
    expect(manifest.sideEffects).toBe(false);
  });

  test('is what examples are compiled with: `paths` of tsconfig.json leads each entry to its source', () => {
    // YAML, read without its comments, is what JSON with comments is.
    const { compilerOptions } = parse(read('tsconfig.json').replaceAll(/^\s*\/\/.*$/gm, '')) as {
      compilerOptions: { paths: Record<string, string[]> };
    };
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, string | { types: string }> };
    const sources = Object.entries(exports).flatMap(([path, entry]) =>
      typeof entry === 'string'
        ? []
        : [[`coxswain${path.slice(1)}`, [entry.types.replace('./dist/', './src/').replace('.d.ts', '.ts')]]],
    );
    expect(compilerOptions.paths).toEqual(Object.fromEntries(sources));
  });

  test('takes the sources along, to which maps of code and declarations lead', () => {
    expect(manifest.files).toContain('src');
    expect(read('tsconfig.build.json')).toContain('"declarationMap": true');
    // Built by `npm run build`, they need not be here.
    expect(manifest.files.filter((name) => name !== 'dist' && !existsSync(join(root, name)))).toEqual([]);
  });

  test('lets users have newer dependencies, the lock file says which are tried', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    // A narrower range of React would keep applications with an older one from installing the package at all.
    const { react, ...peers } = manifest.peerDependencies;
    expect(react).toBe('^18.2.0 || ^19.0.0');
    const ranges = { ...manifest.dependencies, ...peers };
    expect(Object.entries(ranges).filter(([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range))).toEqual([]);
    const tried = Object.keys(ranges).map((name) => [name, lock.packages[`node_modules/${name}`]?.version]);
    const lowest = Object.entries(ranges).map(([name, range]) => [name, range.slice(1)]);
    expect(tried).toEqual(lowest);
  });

  test('names every package that its sources load, and asks nobody to install one that it can do without', () => {
    const named = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    const loaded = sourceFiles().flatMap(({ code }) =>
      importsOf(code)
        .filter(({ specifier, how }) => how !== 'type' && !/^(\.|node:|coxswain\b)/.test(specifier))
        .map(({ specifier }) => named(specifier)),
    );
    const known = { ...manifest.dependencies, ...manifest.peerDependencies };
    // Two stand in the published files; the third is named in an error alone: programs give the module.
    const others = ['@google/adk', 'ajv', 'zod-to-json-schema'];
    expect([...new Set(loaded)].filter((name) => !(name in known)).sort()).toEqual(others);
    const optional = Object.keys(manifest.peerDependenciesMeta);
    expect(optional).toEqual(Object.keys(manifest.peerDependencies));
  });

  test('tells peers the version that it has: `npm run release:version` writes both', () => {
    expect(readFileSync(versionFile, 'utf8')).toBe(versionSource());
    expect(read('CHANGELOG.md')).toContain(`## ${manifest.version}\n`);
  });
});

describe('workflows', () => {
  test('install what the lock file says, and try it before it is published', () => {
    for (const name of ['ci', 'release']) {
      const lines = Object.values(workflow(name).jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
      expect([name, lines.slice(0, 2)]).toEqual([name, ['npm ci', 'npm test']]);
    }
  });

  test('run scripts that are there', () => {
    const run = ['ci', 'release'].flatMap((name) =>
      [...read(`.github/workflows/${name}.yml`).matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script),
    );
    expect(run.filter((script) => !manifest.scripts[script])).toEqual([]);
    expect(run).toContain('release');
  });

  test('may do what they need and no more: a release has provenance', () => {
    expect(workflow('ci').permissions).toEqual({ contents: 'read' });
    const { permissions, jobs } = workflow('release');
    expect(permissions).toEqual({});
    expect(jobs.release?.permissions).toEqual({
      contents: 'write',
      'pull-requests': 'write',
      'id-token': 'write',
    });
  });
});
