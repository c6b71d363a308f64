import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { OutputChunk, Plugin } from 'rolldown';
import { rolldown } from 'rolldown';
import { ZodFirstPartyTypeKind } from 'zod/v3';
import { buildInspector } from './build-inspector.ts';

/**
 * Makes `dist` of `src`: one file for each entry of package.json, and chunks for what entries share, so that there is
 * one copy of everything and an import opens a dozen files. What `src` loads when it is needed stays a file of its own.
 * The declarations are tsc's. `node scripts/build.ts [folder [name=file …]]`; default `dist`. Further files become entries,
 * and share what they import with the others.
 */
const root = join(import.meta.dirname, '..');
const [dist = join(root, 'dist'), ...further] = process.argv.slice(2);
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Record<string, string>>;
  bin: { coxswain: string };
};

const targets = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry)));
const code = new Set([...targets.filter((target) => target.endsWith('.js')), bin.coxswain]);
const names = [...code].map((target) => /^(?:\.\/)?dist\/(.+)\.js$/.exec(target)?.[1] ?? target);
const input = Object.fromEntries([
  ...names.map((name) => [name, join(root, 'src', `${name}.ts`)]),
  ...further.map((word) => word.split('=')),
]);

/**
 * Packages whose code goes into `dist`: they are needed at once in places that cannot wait, and later than at import, which
 * no form of import says to every bundler.
 */
const inlined = /^(ajv|fast-deep-equal|fast-uri|json-schema-traverse|require-from-string|zod-to-json-schema)(\/|$)/;

const lazily: Plugin = {
  name: 'lazily',
  resolveId(id, importer = '') {
    if (id === 'zod/v3' && importer.includes(`${sep}zod-to-json-schema${sep}`)) return '\0kinds';
    // The converter alone: whose schema it is has the rest.
    if (id !== 'zod' || !importer.endsWith('zod-schema.ts')) return undefined;
    return join(root, 'node_modules/zod/v4/core/json-schema-processors.js');
  },
  load(id) {
    if (id !== '\0kinds') return undefined;
    return `export const ZodFirstPartyTypeKind = ${JSON.stringify(ZodFirstPartyTypeKind)};`;
  },
  /** A `require` that Node makes for an ES module is one that no bundler sees into; the plain one is. */
  transform(code, id) {
    if (!id.startsWith(join(root, 'src')) || !code.includes('createRequire(')) return undefined;
    const lines = [
      /import \{ createRequire \} from 'node:module';/,
      /const require = createRequire\(import\.meta\.url\);/,
    ];
    const plain = lines.reduce((left, line) => left.replace(line, (text) => ' '.repeat(text.length)), code);
    if (plain.includes('createRequire'))
      throw new Error('createRequire is used in a form that the build does not know');
    return { code: plain, map: null };
  },
};

/**
 * What the main entry opens is a chunk for each of these parts, lowest first: entries share so much in so many ways that
 * a chunk for each way would be a hundred small files, and each costs the start of a program. What is loaded when it is
 * needed stays where it is.
 */
const parts = [
  ['validator', /node_modules[\\/](ajv|fast-deep-equal|fast-uri|json-schema-traverse)[\\/]/],
  ['zod-3', /node_modules[\\/]zod-to-json-schema[\\/]/],
  ['zod-4', /node_modules[\\/]zod[\\/]/],
  ['contracts', /src[\\/]contracts[\\/](?!schemas)/],
  ['session', /src[\\/](base|session)[\\/]/],
  ['gate', /src[\\/]gate[\\/]/],
  ['runtime', /src[\\/]runtime[\\/]/],
  ['host', /src[\\/]host[\\/](?!mcp|websocket|connection)/],
] as const;

rmSync(dist, { recursive: true, force: true });
const pageModules = await buildInspector(join(dist, 'inspector'));
const bundle = await rolldown({
  cwd: root,
  input,
  platform: 'node',
  // The oldest Node that package.json names lacks what is newer.
  transform: { target: 'es2024' },
  plugins: [lazily],
  external: (id, importer = '') => {
    if (/^[./\0]/.test(id) || inlined.test(id) || id.startsWith('@oxc-project/runtime')) return false;
    return !(lazily.resolveId as (id: string, importer: string) => unknown)(id, importer);
  },
  onLog(level, log) {
    if (level === 'warn') throw new Error(log.message);
  },
});
const { output } = await bundle.write({
  dir: dist,
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  // One letter beyond Latin makes V8 keep the whole file with two bytes a letter: three of them cost 3 MB of memory. The
  // sources, which are published too, have the comments.
  charset: 'ascii',
  comments: { legal: false, annotation: true, jsdoc: false },
  codeSplitting: {
    groups: parts.map(([name, test], at) => ({ name, test, priority: parts.length - at, tags: ['$initial'] })),
  },
});
await bundle.close();

// The sources are published too, for the declarations' maps: said twice they would be a third of the package.
for (const { fileName } of output.filter((item) => item.fileName.endsWith('.map'))) {
  const map = JSON.parse(readFileSync(join(dist, fileName), 'utf8')) as {
    sources: string[];
    sourcesContent: (string | null)[];
  };
  map.sourcesContent = map.sources.map((source, at) =>
    source.includes('node_modules/') ? (map.sourcesContent[at] ?? null) : null,
  );
  writeFileSync(join(dist, fileName), JSON.stringify(map));
}

const chunks = output.filter((item): item is OutputChunk => item.type === 'chunk');
writeFileSync(join(dist, 'LICENSES.txt'), licenses([...chunks.flatMap(({ moduleIds }) => moduleIds), ...pageModules]));

/** The terms of what was taken in, as they ask for. */
function licenses(modules: readonly string[]): string {
  const packages = new Set(
    modules.flatMap((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll(sep, '/'))?.[1] ?? []),
  );
  const texts = [...packages].toSorted().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (!file || !existsSync(join(folder, file))) throw new Error(`${name} has no license file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return `Parts of these packages are in the files of this folder.\n\n${texts.join('\n---\n\n')}`;
}
