import { execFile } from 'node:child_process';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a script beside this one in a process of its own and reads the JSON that it prints. */
export function inChild<T>(script: string, args: readonly string[]): Promise<T> {
  return printed<T>(join(import.meta.dirname, `${script}${extname(import.meta.filename)}`), args);
}

/** The JSON that a script prints. */
export async function printed<T>(file: string, args: readonly string[]): Promise<T> {
  try {
    const { stdout } = await execute(process.execPath, [file, ...args]);
    return JSON.parse(stdout) as T;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`${basename(file)} ${args.join(' ')} failed:\n${stderr || String(error)}`);
  }
}
