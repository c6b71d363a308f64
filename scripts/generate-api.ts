import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { publishedEntries, root, withoutComments } from '../test/structure/source.ts';

/**
 * Writes what is public: `api/names.json` (the names of each entry), `api/*.api.md` (their declarations), and the table of
 * `docs/entries.md`. `node scripts/generate-api.ts`, or `npm run api`.
 */

export const apiFolder = join(root, 'api');
export const page = join(root, 'docs/entries.md');

export const STABILITIES = ['stable', 'experimental'] as const;

export interface PublicEntry {
  /** As a program imports it: `coxswain`, `coxswain/runtime`. */
  readonly specifier: string;
  readonly stability: string;
  /** First paragraph of the entry's docstring. */
  readonly says: string;
  /** What it exports by hand, sorted. */
  readonly names: readonly string[];
  /** Of them, what is there at run time. */
  readonly values: readonly string[];
  /** Statements that are no list of names. */
  readonly other: readonly string[];
}

/** What the entries say of themselves, in the order of the export map. */
export function publicEntries(): PublicEntry[] {
  return [...publishedEntries()].map(([name, path]) => entryOf(name, readFileSync(join(root, 'src', path), 'utf8')));
}

const list = /^export (type )?\{([^}]*)\} from '[^']+';$/gm;

export function entryOf(name: string, text: string): PublicEntry {
  const [, doc = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? [];
  const lines = doc.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim());
  const at = lines.findIndex((line) => line.startsWith('Stability: '));
  const code = withoutComments(text);
  const listed = [...code.matchAll(list)].flatMap(([, types = '', items = '']) =>
    items
      .split(',')
      .map((item) => `${types}${item.trim()}`)
      .filter((item) => item !== types)
      .map((item) => ({ name: item.split(' ').at(-1) ?? item, isType: item.startsWith('type ') })),
  );
  return {
    specifier: `coxswain${name.slice(1)}`,
    stability: lines[at]?.slice('Stability: '.length, -1) ?? '',
    says: lines.slice(0, at).join(' ').trim(),
    names: listed.map((item) => item.name).toSorted(),
    values: listed.flatMap((item) => (item.isType ? [] : [item.name])).toSorted(),
    other: code
      .replaceAll(list, '')
      .split('\n')
      .filter((line) => line.trim() !== ''),
  };
}

export function namesFile(entries = publicEntries()): string {
  const rows = entries.map(({ specifier, stability, names }) => [specifier, { stability, names }]);
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}

const begin = '<!-- entries: written by scripts/generate-api.ts -->\n';
const end = '<!-- entries end -->\n';

export function withTable(text: string, entries = publicEntries()): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`docs/entries.md has no place for the entries: ${begin} … ${end}`);
  const rows = entries.map(({ specifier, stability, says }) => `| \`${specifier}\` | ${stability} | ${says} |`);
  return `${before}${begin}\n| entry | stability | what it is |\n|---|---|---|\n${rows.join('\n')}\n\n${end}${after}`;
}

const fileOf = (specifier: string): string => `${specifier.replaceAll('/', '-')}.api.md`;

/** A report of each entry's declarations, by the name of its file. @param dist where the declarations are */
export function apiReports(dist: string): Map<string, string> {
  const made = mkdtempSync(join(tmpdir(), 'coxswain-api-'));
  try {
    const entries = [...publishedEntries()].map(([name, path]) => ({
      report: fileOf(`coxswain${name.slice(1)}`),
      declarations: join(dist, path.replace(/\.ts$/, '.d.ts')),
    }));
    const files = entries.map(({ declarations }) => declarations);
    const configs = entries.map(({ report, declarations }) => configOf(report, declarations, made, files));
    const [first] = configs;
    if (!first) throw new Error('package.json has no entry');
    const compilerState = CompilerState.create(first, { additionalEntryPoints: files });
    for (const config of configs) extract(config, compilerState);
    return new Map(
      readdirSync(made)
        .filter(isReport)
        .sort()
        .map((name) => [name, ofUsers(readFileSync(join(made, name), 'utf8'))]),
    );
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/**
 * Of a report with everything that its declarations mention: what is exported, and the options that it takes. Options have
 * no name that is promised, and members that programs write.
 */
export function ofUsers(report: string): string {
  const end = report.lastIndexOf('\n\n```');
  const [head = '', ...declarations] = report.slice(0, end).split(/\n\n(?=\/\/ @)/);
  const byName = new Map(declarations.map((text) => [/^(?:interface|type|class) (\w+)/m.exec(text)?.[1] ?? '', text]));
  const kept = new Set(declarations.filter((text) => /^export /m.test(text)));
  // A set is read to its end, also what is added meanwhile: options of options.
  for (const text of kept) {
    for (const [name] of text.matchAll(/\b\w+Options(?:_\d+)?\b/g)) kept.add(byName.get(name) ?? text);
  }
  const body = declarations.filter((text) => kept.has(text)).join('\n\n');
  const imports = head.split('\n').filter((line) => {
    const [, name] = /^import .*?([\w$]+)(?: \})? from /.exec(line) ?? [];
    return name === undefined || body.split(/[^\w$]+/).includes(name);
  });
  return `${imports.join('\n').trimEnd()}\n\n${body}${report.slice(end)}`;
}

const isReport = (name: string): boolean => name.endsWith('.api.md');

function extract(config: ExtractorConfig, compilerState: CompilerState): void {
  const faults: string[] = [];
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback(message) {
      message.handled = true;
      if (message.logLevel === ExtractorLogLevel.Error) faults.push(message.text);
    },
  });
  if (faults.length > 0) throw new Error(`${config.mainEntryPointFilePath}: ${faults.join('\n')}`);
}

function configOf(report: string, declarations: string, folder: string, files: string[]): ExtractorConfig {
  const none = { default: { logLevel: ExtractorLogLevel.None } };
  const { compilerOptions } = JSON.parse(withoutComments(readFileSync(join(root, 'tsconfig.json'), 'utf8')));
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: declarations,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files } },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: report.replace('.api.md', ''),
        reportFolder: folder,
        reportTempFolder: join(folder, 'temporary'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      // A type that only occurs within others is reached through them, and is no name that is promised.
      messages: {
        extractorMessageReporting: none,
        tsdocMessageReporting: none,
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });
}

if (import.meta.main) {
  const dist = mkdtempSync(join(tmpdir(), 'coxswain-declarations-'));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dist];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
  const reports = apiReports(dist);
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(apiFolder, { recursive: true });
  for (const name of readdirSync(apiFolder)) if (isReport(name) && !reports.has(name)) rmSync(join(apiFolder, name));
  for (const [name, text] of reports) writeFileSync(join(apiFolder, name), text);
  writeFileSync(join(apiFolder, 'names.json'), namesFile());
  writeFileSync(page, withTable(readFileSync(page, 'utf8')));
}
