import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { built, builtName } from '../packed.ts';

export interface Child {
  readonly pid: number;
  /** Undefined at the end of what it says. */
  next(): Promise<string | undefined>;
  tell(word: string): void;
  kill(): Promise<void>;
}

/** Another process that runs a script beside this file; whoever starts it kills it. */
export function startChild(script: string, ...args: string[]): Child {
  const file = join(import.meta.dirname, script);
  const name = builtName(file);
  const command = ['--no-warnings', name ? built(name) : file, ...args];
  const started = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(started, 'exit');
  // Whoever is told after its end does not hear it.
  started.stdin.on('error', () => {});
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  return {
    pid: started.pid as number,
    next: async () => (await lines.next()).value as string | undefined,
    tell: (word) => void started.stdin.write(`${word}\n`),
    kill: async () => {
      started.kill('SIGKILL');
      await ended;
    },
  };
}
