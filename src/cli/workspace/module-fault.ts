import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { usageError } from '../terminal/index.ts';

/** What is wrong with a module that Node does not load, and where: of whichever file among those that it imports. */
export function moduleFault(path: string, file: string, error: unknown): CoxswainError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return usageError(`Node ${process.versions.node} does not load ${path}; TypeScript needs 22.18 or newer`, error);
  }
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    const how = 'copy it into your project, or give a JavaScript file';
    return usageError(
      `Node does not load TypeScript from node_modules, where ${path} or what it imports is; ${how}`,
      error,
    );
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    const how = 'Node takes types away and nothing else: set "erasableSyntaxOnly" for tsc, or give JavaScript';
    return usageError(`${placeIn(error) ?? path}: ${messageOf(error)}; ${how}`, error);
  }
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const name = /^Cannot find package '([^']+)'/.exec(messageOf(error))?.[1];
    const how = name === undefined ? 'check the path of the import' : `install it (npm install ${name})`;
    return usageError(`${path} imports what is not there: ${messageOf(error)}; ${how}`, error);
  }
  if (error instanceof SyntaxError) {
    if (/outside a module|Unexpected token 'export'/.test(error.message)) {
      const how = 'put "type": "module" into its package.json, or let its name end in .mts or .mjs';
      return usageError(`${path} is an ES module in a package that is none (${error.message}); ${how}`, error);
    }
    const place = placeIn(error) ?? checkedPlace(file) ?? `${path}, or what it imports`;
    return usageError(`${place}: ${error.message}`, error);
  }
  return loadFault(path, error);
}

/** What a module threw itself. */
export function loadFault(path: string, error: unknown): CoxswainError {
  const place = frameOf(error);
  const text = `${path} could not be loaded: ${messageOf(error)}${place === undefined ? '' : ` (${place})`}`;
  return new CoxswainError('INTERNAL', 'E_INTERNAL', text, { cause: error });
}

/** The place that Node writes above a stack: file and line, the source, and a mark under the column. */
function placeIn(error: unknown): string | undefined {
  return error instanceof Error ? placeAbove(error.stack ?? '') : undefined;
}

function placeAbove(text: string): string | undefined {
  const lines = text.split('\n');
  const found = /^(\/.*|[A-Z]:\\.*|file:.*):(\d+)$/.exec(lines[0] ?? '');
  if (!found?.[1]) return undefined;
  const mark = lines.find((line) => /^\s*\^+\s*$/.test(line));
  const column = mark === undefined ? '' : `:${mark.indexOf('^') + 1}`;
  return `${shown(found[1])}:${found[2]}${column}`;
}

/** For an ES module Node tells no place; asked to check the file alone, without running it, it does. */
function checkedPlace(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 });
  return placeAbove(stderr);
}

/** The first line of a stack that is somebody's file. */
function frameOf(error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const found = /^\s+at .*?(file:[^\s()]+):(\d+:\d+)\)?$/m.exec(stack);
  return found?.[1] && `${shown(found[1])}:${found[2]}`;
}

function shown(file: string): string {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
