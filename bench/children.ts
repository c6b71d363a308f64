import { execFile } from 'node:child_process';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a script beside this one in a process of its own and reads the JSON that it prints. */
export function inChild<T>(script: string, args: readonly string[]): Promise<T> {
  return printed<T>(join(import.meta.dirname, `${script}${extname(import.meta.filename)}`), args);
}

/** The JSON that a script prints. */
export async function printed<T>(file: string, args: readonly string[]): Promise<T> {
  const { stdout } = await execute(process.execPath, [file, ...args], { maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout) as T;
}
