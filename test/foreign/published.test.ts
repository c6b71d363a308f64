import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { project } from '../packed.ts';

const root = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  exports: Record<string, string | { default: string; types: string }>;
};

let home: ReturnType<typeof project>;
let dist: string;
beforeAll(() => {
  home = project();
  dist = join(home.folder, 'node_modules/coxswain/dist');
}, 300_000);
afterAll(() => home[Symbol.dispose]());

/** What importing a file opens at once: files, and what is no file of the package. */
function opened(file: string, files = new Set<string>(), others = new Set<string>()) {
  if (!files.has(file)) {
    files.add(file);
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^;]*?["']([^"'\n]+)["'];$/gm,
    )) {
      if (specifier.startsWith('.')) opened(join(dirname(file), specifier), files, others);
      else others.add(specifier);
    }
  }
  return { files, others: [...others] };
}

/** What an entry is made with, and is there for. */
const made: Readonly<Record<string, string>> = {
  './contracts/schemas': 'zod',
  './react': 'react',
  './telemetry/otel': '@opentelemetry/api',
};

/** The packages that an entry's declarations are written in the types of, beside those of Node. */
const peersOf: Readonly<Record<string, readonly string[]>> = {
  './policy/cedar': ['@cedar-policy/cedar-wasm'],
  './server/mcp': ['@modelcontextprotocol/node', '@modelcontextprotocol/server'],
  './stores/sql': ['kysely'],
  './tools/mcp': ['@modelcontextprotocol/client'],
  './acp': ['@agentclientprotocol/sdk'],
  './telemetry/otel': ['@opentelemetry/api'],
};

/** Packages that what a declaration names leads to. */
function declaredWith(file: string, files = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (files.has(file)) return packages;
  files.add(file);
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
  for (const [, specifier = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
    if (specifier.startsWith('.')) {
      declaredWith(join(dirname(file), specifier.replace(/(\.d)?\.[jt]s$/, '.d.ts')), files, packages);
    } else if (!isBuiltin(specifier)) {
      packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
    }
  }
  return packages;
}

/** By its map; none for a file that only hands on. */
function sourcesOf(file: string): string[] {
  if (!existsSync(`${file}.map`)) return [];
  return (JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] }).sources;
}

const entry = (name: string) => {
  const target = manifest.exports[name];
  return join(home.folder, 'node_modules/coxswain', typeof target === 'object' ? target.default : (target ?? ''));
};
const run = (code: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: home.folder, encoding: 'utf8' }),
  );

describe('the published files', () => {
  test('declarations of an entry need no optional package but those that the entry is for', () => {
    for (const [name, target] of Object.entries(manifest.exports)) {
      if (typeof target === 'string') continue;
      const packages = [...declaredWith(join(dist, '..', target.types))].toSorted();
      expect([name, packages]).toEqual([name, ['zod', ...(peersOf[name] ?? [])].toSorted()]);
    }
  });

  test('HUNT-F3 an import opens few of them, and no package', () => {
    for (const name of Object.keys(manifest.exports)) {
      // Files that are named again: what lies there is an entry already.
      if (typeof manifest.exports[name] === 'string') continue;
      const { files, others } = opened(entry(name));
      expect([name, files.size < 25]).toEqual([name, true]);
      const packages = others.filter((other) => !isBuiltin(other) && other !== made[name]);
      expect([name, packages]).toEqual([name, []]);
    }
  });

  test('HUNT-P3 what runs in pages opens nothing of Node', () => {
    const files = [
      ...['./contracts', './contracts/schemas', './client', './react'].map(entry),
      join(dist, 'entries/browser.js'),
    ];
    for (const file of files) {
      expect([file, opened(file).others.filter((other) => isBuiltin(other))]).toEqual([file, []]);
    }
  });

  test('what most programs never need is not opened with the main entry', () => {
    const sources = [...opened(entry('.')).files].flatMap(sourcesOf);
    for (const lazy of [
      'contracts/schemas/protocol.ts',
      'host/websocket/serve.ts',
      'adapters/stores/sql/open-sqlite.ts',
      'cli/main.ts',
    ]) {
      expect([lazy, sources.some((source) => source.endsWith(`src/${lazy}`))]).toEqual([lazy, false]);
    }
    expect(sources.some((source) => source.endsWith('src/host/host.ts'))).toBe(true);
  });

  test('every entry has the same copy of what entries share', () => {
    const code = `
      const [all, contracts, runtime, policy, client, testing] = await Promise.all(
        ['', '/contracts', '/runtime', '/policy', '/client', '/testing'].map((name) => import('coxswain' + name)));
      const thrown = (() => { try { all.createHost({}); } catch (error) { return error; } })();
      console.log(JSON.stringify([
        all.CoxswainError === contracts.CoxswainError, all.LlmAgent === runtime.LlmAgent, all.rulePolicy === policy.rulePolicy,
        thrown instanceof contracts.CoxswainError, all.run === client.run, typeof testing.ScriptedModel,
      ]));`;
    expect(run(code)).toEqual([true, true, true, true, true, 'function']);
  });

  test('maps of code and of declarations lead to sources that are published, and say their text once', () => {
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
    const built = join(root, 'node_modules/.cache/packed/made/dist');
    const maps = files.filter((name) => /\.(js|d\.ts)\.map$/.test(name));
    expect(maps.length).toBeGreaterThan(100);
    for (const name of maps) {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(dist, name), 'utf8')) as {
        sources: string[];
        sourcesContent?: (string | null)[];
      };
      for (const [at, source] of sources.entries()) {
        if (!/(^|\/)src\//.test(source) || source.includes('node_modules/')) continue;
        const path = join(dirname(join(built, name)), source);
        expect([name, source, existsSync(path), sourcesContent[at] ?? null]).toEqual([name, source, true, null]);
      }
    }
    const declared = files.filter((name) => name.endsWith('.d.ts'));
    expect(declared.filter((name) => !files.includes(`${name}.map`))).toEqual([]);
  });

  test('the command line runs, and has source maps and the terms of what was taken in beside it', () => {
    const version = execFileSync(process.execPath, [join(dist, 'cli.js'), '--version'], { encoding: 'utf8' });
    expect(version.trim()).toBe(manifest.version);
    expect(
      sourcesOf(join(dist, 'chunks/gate.js')).some((source) => source.endsWith('src/gate/schema/validate.ts')),
    ).toBe(true);
    const terms = readFileSync(join(dist, 'LICENSES.txt'), 'utf8');
    for (const name of ['ajv', 'zod-to-json-schema', 'zod']) expect(terms).toMatch(new RegExp(`^${name} \\d`, 'm'));
    const all = readdirSync(dist, { recursive: true }).map((name) => join(dist, String(name)));
    const code = all.filter((file) => file.endsWith('.js') && statSync(file).isFile());
    expect(code.filter((file) => readFileSync(file, 'utf8').includes('createRequire'))).toEqual([]);
  });
});
