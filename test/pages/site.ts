import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { installed } from '../installed.ts';
import { project } from '../packed.ts';
import type { Block } from './blocks.ts';
import { blocksOf, chainOf, isContinued, root } from './blocks.ts';
import { isAsShown } from './printed.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  peerDependencies: Record<string, string>;
};
/** A package that is tried from a lock file of its own. */
const adk = join(root, 'test/foreign/google-adk');
const missing = installed(adk);
/** What a reader has installed beside the package: what it works with, and the types that a compiler wants of these. */
const besides = [
  '@types/node',
  'undici-types',
  '@types/ws',
  '@types/pg',
  '@opentelemetry/sdk-trace-base',
  'vitest',
  '@ai-sdk/anthropic',
  'ai',
  '@ai-sdk/openai',
  ...Object.keys(manifest.peerDependencies),
];
const typescript = /^(ts|tsx)$/;
/** Other packages' declarations are links that lead out of the project. What they lack is not a page's fault. */
const isOfOthers = /^\.\.\//;
const LONGEST_MS = 60_000;

/** A project in which pages are read: what they say to install is there. */
export function site(): { folder: string } & Disposable {
  const home = project(Object.fromEntries(besides.map((name) => [name, name])));
  const bin = join(home.folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  chmodSync(join(home.folder, 'node_modules/coxswain/dist/cli.js'), 0o755);
  symlinkSync('../coxswain/dist/cli.js', join(bin, 'coxswain'));
  if (missing === undefined)
    symlinkSync(join(adk, 'node_modules/@google/adk'), join(home.folder, 'node_modules/@google/adk'), 'dir');
  writeFileSync(join(home.folder, 'package.json'), JSON.stringify({ name: 'site', type: 'module', private: true }));
  return home;
}

/** What a strict compiler that looks into every declaration says of the TypeScript of all pages, each fault with its place. */
export async function typeFaults(folder: string, pages: readonly string[]): Promise<string[]> {
  const units = new Map<string, Block[]>();
  for (const page of pages) {
    const blocks = blocksOf(page);
    for (const block of blocks) {
      if (!typescript.test(block.language) || block.words.foreign !== undefined) continue;
      const path = join('types', slugOf(page), block.words.file ?? `line-${block.line}.${block.language}`);
      units.set(path, chainOf(block, blocks));
    }
  }
  for (const [path, chain] of units) write(join(folder, path), textOf(chain));
  const { adk: alone = [], all: together = [] } = Object.groupBy(units.keys(), (path) =>
    needsAdk(units.get(path)) ? 'adk' : 'all',
  );
  // That package's own declarations have faults, and to look into them takes longer than all pages.
  const programs = [compiled(folder, 'all', together, false)];
  if (missing === undefined) programs.push(compiled(folder, 'adk', alone, true));
  return (await Promise.all(programs)).flat().map((line) => {
    const [, path = '', at = '1', rest = line] = /^(.+)\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
    const chain = units.get(path.replaceAll('/', sep));
    return chain ? `${placeOf(chain, Number(at))}: ${rest}` : line;
  });
}

/** What the compiler says of examples that stand elsewhere than on a page, each fault with its place. */
export async function exampleFaults(
  folder: string,
  examples: readonly { place: string; text: string }[],
): Promise<string[]> {
  const files = examples.map((_, at) => join('types', `example-${at}.ts`));
  for (const [at, { text }] of examples.entries()) write(join(folder, files[at] ?? ''), text);
  const lines = await compiled(folder, 'examples', files, false);
  return lines.map((line) =>
    line.replace(/^types\/example-(\d+)\.ts/, (_, at: string) => examples[Number(at)]?.place ?? ''),
  );
}

const needsAdk = (chain: readonly Block[] = []) => chain.some(({ text }) => text.includes("'@google/adk'"));

/** One program. The lines in which the compiler names a fault. */
async function compiled(folder: string, name: string, files: string[], skipLibCheck: boolean): Promise<string[]> {
  if (files.length === 0) return [];
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck,
    target: 'es2024',
    lib: ['es2024', 'esnext.array', 'esnext.collection', 'esnext.iterator'],
    module: 'nodenext',
    moduleDetection: 'force',
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    jsx: 'react-jsx',
    types: ['node'],
  };
  const config = { compilerOptions, files: files.map((path) => relative('types', path)) };
  write(join(folder, `types/${name}.json`), JSON.stringify(config));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', `types/${name}.json`];
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1e8 }, (_, stdout) => resolve(stdout));
  });
  return said.split('\n').filter((line) => /: error TS|^error /.test(line) && !isOfOthers.test(line));
}

/** Where in a page a line of a compiled file stands. */
function placeOf(chain: readonly Block[], line: number): string {
  let left = line;
  for (const { page, text, line: begin } of chain) {
    const length = text.split('\n').length;
    if (left <= length) return `${page}:${begin + left - 1}`;
    left -= length;
  }
  return chain[0]?.page ?? '';
}

/** Plays a page from top to bottom in a folder of its own. What did not go as it says, each with its place. */
export async function playedFaults(
  site: string,
  page: string,
  folder = join(site, 'run', slugOf(page)),
): Promise<string[]> {
  const blocks = blocksOf(page);
  const faults: string[] = [];
  mkdirSync(folder, { recursive: true });
  for (const block of blocks) {
    const { words, language } = block;
    if (words.file !== undefined) {
      write(join(folder, words.file), `${block.text}\n`);
      continue;
    }
    const command = commandOf(block, blocks, folder);
    if (command) faults.push(...(await ranAs(command, block, expectedOf(block, blocks), folder, site)));
    else if (block.output !== undefined && !isContinued(block, blocks))
      faults.push(`${page}:${block.line}: has an output, ${language} of this kind is not run`);
  }
  return faults;
}

/** How a block is run; undefined: it is not. */
function commandOf(block: Block, blocks: readonly Block[], folder: string): [string, string[]] | undefined {
  const { words, language, line } = block;
  if (language === 'sh' && words.run !== undefined) return ['bash', ['-e', '-o', 'pipefail', '-c', block.text]];
  if (
    !/^(ts|js)$/.test(language) ||
    words.norun !== undefined ||
    words.foreign !== undefined ||
    isContinued(block, blocks)
  )
    return undefined;
  const file = join(folder, `line-${line}.${language}`);
  write(file, textOf(chainOf(block, blocks)));
  return [process.execPath, [file]];
}

async function ranAs(
  [command, args]: [string, string[]],
  block: Block,
  expected: string | undefined,
  folder: string,
  site: string,
): Promise<string[]> {
  const place = `${block.page}:${block.line}`;
  const { code, said } = await ran(command, args, folder, site, block.words.stop);
  const wanted = Number(block.words.exit ?? 0);
  if (block.words.stop === undefined && code !== wanted) return [`${place}: ended with ${code}:\n${said}`];
  if (block.words.stop !== undefined && !said.includes(block.words.stop))
    return [`${place}: never printed ${block.words.stop}:\n${said}`];
  if (expected !== undefined && !isAsShown(expected, said))
    return [`${place}: printed\n${said}\nand the page says\n${expected}`];
  return [];
}

/** @param stop what it prints when it has done what the page says, and may be ended */
function ran(
  command: string,
  args: string[],
  cwd: string,
  site: string,
  stop?: string,
): Promise<{ code: number | null; said: string }> {
  const path = [join(site, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(':');
  const env = {
    PATH: path,
    HOME: cwd,
    TMPDIR: process.env.TMPDIR ?? '/tmp',
    PORT: '0',
    NO_COLOR: '1',
    USER: 'anna',
    LOGNAME: 'anna',
  };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const end = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    };
    const timer = setTimeout(end, LONGEST_MS);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (stop !== undefined && said.includes(stop)) end();
      });
    }
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      // As a shell says it of a command that a signal has ended.
      resolve({ code: signal === null ? code : 128 + constants.signals[signal], said });
    });
  });
}

/** What the page says of a block and of those before it that it continues. */
function expectedOf(block: Block, blocks: readonly Block[]): string | undefined {
  const outputs = chainOf(block, blocks).flatMap(({ output }) => output ?? []);
  return outputs.length > 0 ? outputs.join('\n') : undefined;
}

function textOf(chain: readonly Block[]): string {
  return `${chain.map(({ text }) => text).join('\n')}\n`;
}

export function slugOf(page: string): string {
  return page.replace(/\.md$/, '').replaceAll(/[^\w-]+/g, '-');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
