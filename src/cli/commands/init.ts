import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, PACKAGE_VERSION } from '../../contracts/index.ts';
import { EXIT, usageError } from '../terminal/index.ts';
import { DATA_FOLDER, quote } from '../workspace/index.ts';

export interface InitFlags {
  force?: boolean;
}

/** What may be in a folder that counts as empty: `git init` often comes first. */
const UNNOTICED = new Set(['.git', '.DS_Store']);
/** Of the example that is copied; what it has made itself when it was run stays behind. */
const FILES = ['agent.ts', 'offline-model.ts', 'policy.yaml', 'notes.test.ts', 'README.md'];

/**
 * `coxswain init`: makes a project with an agent, a tool, a policy and a test. It is the example `notes` of this package.
 * @throws CoxswainError `INVALID_ARGUMENT / E_USAGE`: the folder holds files, is none, or cannot be written to
 */
export function initProject(folder: string, { force = false }: InitFlags): number {
  const target = resolve(folder);
  const shown = relative(process.cwd(), target) || '.';
  const there = statSync(target, { throwIfNoEntry: false });
  if (there && !there.isDirectory()) throw usageError(`${shown} is a file; give the path of a folder`);
  const held = there ? readdirSync(target).filter((name) => !UNNOTICED.has(name)) : [];
  if (held.length > 0 && !force) {
    const names = `${held.slice(0, 3).join(', ')}${held.length > 3 ? ', …' : ''}`;
    const made = [...FILES, 'package.json', '.gitignore'].filter((name) => held.includes(name)).join(', ');
    const lost = made === '' ? 'keeps them' : `replaces ${made} and keeps the rest`;
    throw usageError(`${shown} is not empty (${names}); give another folder, or --force, which ${lost}`);
  }
  const template = join(dirname(fileURLToPath(import.meta.resolve('coxswain/package.json'))), 'examples/notes');
  try {
    mkdirSync(target, { recursive: true });
    for (const name of FILES) cpSync(join(template, name), join(target, name));
    writeFileSync(join(target, 'package.json'), manifest(template, basename(target)));
    writeFileSync(join(target, '.gitignore'), `node_modules/\n${DATA_FOLDER}/\nnotes.txt\n`);
  } catch (error) {
    throw usageError(`${shown} cannot be written: ${messageOf(error)}`, error);
  }
  const enter = shown === '.' ? '' : `cd ${quote(shown)}\n`;
  process.stderr.write(`made an agent in ${shown}: ${[...FILES, 'package.json'].join(', ')}\n`);
  process.stdout.write(`${enter}npm install\nnpm start\nnpm test\n`);
  return EXIT.done;
}

function manifest(template: string, folder: string): string {
  const example = JSON.parse(readFileSync(join(template, 'package.json'), 'utf8')) as Record<string, unknown>;
  // A folder may be called what npm takes for no name.
  const name =
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'notes';
  const made = {
    ...example,
    name: name === 'coxswain' || existsSync(join(template, '..', name)) ? `${name}-agent` : name,
    description: 'An agent with one tool, a policy and a test',
    dependencies: { coxswain: `^${PACKAGE_VERSION}` },
  };
  return `${JSON.stringify(made, undefined, 2)}\n`;
}
