import { EXIT } from './exit-code.ts';
import type { Interrupts } from './signals.ts';

/** Set in the process that serves: the file descriptor that is the client's end of stdout. */
const PROTOCOL_FD = 'COXSWAIN_PROTOCOL_FD';

/** In the process that serves: nobody has to read what it prints. */
export const isOnOwnStdout = (): boolean => process.env[PROTOCOL_FD] !== undefined;

/**
 * Serves a protocol on stdio in a process of its own whose stdout is our stderr: whatever its code prints, and whatever
 * the processes print that it starts, the client's stdout stays the protocol's.
 */
export async function onOwnStdout(interrupts: Interrupts, serve: (fd: number) => Promise<number>): Promise<number> {
  const fd = process.env[PROTOCOL_FD];
  if (fd === undefined) return inOwnProcess(interrupts);
  delete process.env[PROTOCOL_FD];
  return serve(Number(fd));
}

async function inOwnProcess(interrupts: Interrupts): Promise<number> {
  const { spawn } = await import('node:child_process');
  const [script = '', ...args] = process.argv.slice(1);
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    stdio: ['inherit', 2, 2, 1],
    env: { ...process.env, [PROTOCOL_FD]: '3' },
  });
  interrupts.start().signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? EXIT.aborted));
  });
}
