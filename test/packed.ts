import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { alone } from './installed.ts';

const root = join(import.meta.dirname, '..');
/** What the build is made of. */
const sources = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.ts',
  'scripts/build-inspector.ts',
];
/** Modules that processes of tests run, by their names in the package that these have: agent modules and scripts. */
const modules = {
  puppet: 'test/cli/agents/puppet.ts',
  'mcp-agent': 'test/mcp/cli-agent.ts',
  'folder-agent': 'test/acp/folder-agent.ts',
  'noisy-agent': 'test/acp/noisy-agent.ts',
  'store-child': 'test/adapters/store-child.ts',
  'held-child': 'test/adapters/held-child.ts',
  'votes-child': 'test/adapters/votes-child.ts',
  'owner-child': 'test/property/owner/child.ts',
  'host-child': 'test/host/witness/host-child.ts',
};

/** The name of one that {@link built} gives; undefined: it runs as it is. */
export function builtName(file: string): `${keyof typeof modules}.js` | undefined {
  const [name] = Object.entries(modules).find(([, path]) => join(root, path) === file) ?? [];
  return name === undefined ? undefined : `${name as keyof typeof modules}.js`;
}

/**
 * A project in a folder of its own that has the package as it is published, with what it depends on and none of its
 * optional peers. Built once for each state of the sources.
 * @param dependencies further packages that the project has, by their name there
 */
export function project(dependencies: Readonly<Record<string, string>> = {}): { folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-project-'));
  cpSync(packed(), join(folder, 'node_modules/coxswain'), { recursive: true });
  const { dependencies: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const wanted = { ...Object.fromEntries(Object.keys(own).map((name) => [name, name])), ...dependencies };
  for (const [name, as] of Object.entries(wanted)) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', as), place, 'dir');
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The package as it is published. */
function packed(): string {
  return made('packed', ['src', 'inspector', 'examples'], (folder) => {
    const dist = join(folder, 'dist');
    node(join(root, 'scripts/build.ts'), dist);
    node(join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', dist);
  });
}

/**
 * A file of the package as it is published, without declarations but with the modules that processes of tests run, which
 * share its code: such a process starts in half the time that the sources take.
 * @param name of the file in `dist`
 */
export function built(name: 'cli.js' | `${keyof typeof modules}.js`): string {
  const theirs = [...new Set(Object.values(modules).map((file) => dirname(file)))];
  const folder = made('built', ['src', 'inspector', 'examples', ...theirs], (making) => {
    const further = Object.entries(modules).map(([as, file]) => `${as}=${join(root, file)}`);
    node(join(root, 'scripts/build.ts'), join(making, 'dist'), ...further);
  });
  return join(folder, 'dist', name);
}

/** A package that is made once for each state of what it is made of. */
function made(kind: string, folders: readonly string[], make: (folder: string) => void): string {
  const known = places.get(kind);
  if (known !== undefined) return known;
  const found = find(kind, folders, make);
  places.set(kind, found);
  return found;
}

/** What this process has found, by kind. */
const places = new Map<string, string>();

function find(kind: string, folders: readonly string[], make: (folder: string) => void): string {
  const cache = join(root, 'node_modules/.cache', kind);
  const place = join(cache, digestOf(folders).slice(0, 16));
  return alone(cache, () => {
    if (existsSync(place)) return place;
    rmSync(cache, { recursive: true, force: true });
    const making = join(cache, 'making');
    mkdirSync(making, { recursive: true });
    make(making);
    cpSync(join(root, 'package.json'), join(making, 'package.json'));
    // `coxswain init` makes its project of one.
    cpSync(join(root, 'examples'), join(making, 'examples'), {
      recursive: true,
      filter: (path) => !relative(root, path).includes('node_modules'),
    });
    renameSync(making, place);
    return place;
  });
}

function digestOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  const files = folders
    // Of tests a folder alone: below may lie packages that a suite of others has installed.
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: !folder.startsWith('test/'), withFileTypes: true }),
    )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(root, path).includes('node_modules'))
    .toSorted();
  for (const file of [...sources.map((name) => join(root, name)), ...files]) {
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function node(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
}
