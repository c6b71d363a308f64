import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface SourceFile {
  /** Path under src, with forward slashes. */
  path: string;
  /** Text without comments. */
  code: string;
}

export interface Import {
  specifier: string;
  /** `type` is erased, `static` loads with the module, `dynamic` loads when it is reached. */
  how: 'type' | 'static' | 'dynamic';
}

export function sourceFiles(): SourceFile[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .sort()
    .map((path) => ({ path, code: withoutComments(readFileSync(join(root, 'src', path), 'utf8')) }));
}

// Strings and templates are matched first, so that a `//` or `/*` inside one is no comment.
export const commentOrString = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

export function withoutComments(text: string): string {
  return text.replaceAll(commentOrString, (match) => (match.startsWith('/') ? ' ' : match));
}

const fromClause = /^[ \t]*(?:import|export)\b([^'"`;=()]*?)\bfrom\s*(['"])([^'"\n]+)\2/gm;
const sideEffect = /^[ \t]*import\s*(['"])([^'"\n]+)\1/gm;
const dynamic = /\bimport\s*\(\s*(['"`])([^'"`\n]+)\1/g;

export function importsOf(code: string): Import[] {
  const found: Import[] = [];
  for (const [, clause = '', , specifier = ''] of code.matchAll(fromClause)) {
    // `import { type X }` stays in the output under verbatimModuleSyntax: only `import type` is erased.
    found.push({ specifier, how: /^\s+type\s+[^\s,]/.test(clause) ? 'type' : 'static' });
  }
  for (const [, , specifier = ''] of code.matchAll(sideEffect)) found.push({ specifier, how: 'static' });
  for (const [, , specifier = ''] of code.matchAll(dynamic)) found.push({ specifier, how: 'dynamic' });
  return found;
}

/** Path under src that a relative import of `from` points to. */
export function resolveImport(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** Part of the package a file belongs to: its folder under src; `cli` and `index` for the joining files. */
export function partOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  return rest.length > 0 ? first : first.replace(/\.ts$/, '');
}

/** What the export map of package.json publishes: the name that a program imports, and the file under src. */
export function publishedEntries(): Map<string, string> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
  };
  return new Map(
    Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === 'string' ? [] : [[name, `${target.default.slice('./dist/'.length, -3)}.ts`] as const],
    ),
  );
}

/** Files under src that an entry takes its names from: the fronts of rooms. */
export function handedOn(): Set<string> {
  return new Set(
    [...publishedEntries().values()].flatMap((path) =>
      importsOf(withoutComments(readFileSync(join(root, 'src', path), 'utf8'))).map(({ specifier }) =>
        resolveImport(path, specifier),
      ),
    ),
  );
}

/** Sets of files that reach one another by imports; each of two files or more, sorted. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...graph.keys()].map((file) => [file, reachedFrom(file, graph)]));
  const seen = new Set<string>();
  const circles: string[][] = [];
  for (const [file, others] of reached) {
    if (seen.has(file)) continue;
    const circle = [...others].filter((other) => other !== file && reached.get(other)?.has(file));
    if (circle.length === 0) continue;
    for (const member of circle) seen.add(member);
    circles.push([file, ...circle].sort());
  }
  return circles.sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

function reachedFrom(start: string, graph: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const left = [...(graph.get(start) ?? [])];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    left.push(...(graph.get(file) ?? []));
  }
  return reached;
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let) ([A-Za-z_$][\w$]*)/gm;
const exportList = /^export (?:type )?\{([^}]*)\}/gm;

/** Names that a file gives to what it exports: those that it declares, and those under which it hands something on. */
export function declaredNames(code: string): string[] {
  const names = new Set([...code.matchAll(declaration)].map(([, name = '']) => name));
  for (const [, list = ''] of code.matchAll(exportList)) {
    for (const [, name = ''] of list.matchAll(/\bas ([\w$]+)/g)) names.add(name);
  }
  return [...names];
}
