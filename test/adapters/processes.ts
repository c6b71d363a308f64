import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { built, builtName } from '../packed.ts';

export interface Child {
  readonly pid: number;
  /** Undefined at the end of what it says. */
  next(): Promise<string | undefined>;
  tell(word: string): void;
  kill(): Promise<void>;
}

const withParent = pathToFileURL(join(import.meta.dirname, 'with-parent.ts')).href;

/** Another process that runs a script beside this file; whoever starts it kills it, and it outlives them in no case. */
export function startChild(script: string, ...args: string[]): Child {
  const file = join(import.meta.dirname, script);
  const name = builtName(file);
  const command = ['--no-warnings', '--import', withParent, name ? built(name) : file, ...args];
  const started = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  const { stdin, stdout } = started;
  if (!stdin || !stdout) throw new TypeError('both are pipes');
  const ended = once(started, 'exit');
  // Whoever is told after its end does not hear it.
  stdin.on('error', () => {});
  started.stdio[3]?.on('error', () => {});
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    pid: started.pid as number,
    next: async () => (await lines.next()).value as string | undefined,
    tell: (word) => void stdin.write(`${word}\n`),
    kill: async () => {
      started.kill('SIGKILL');
      await ended;
    },
  };
}
