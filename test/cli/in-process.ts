import { vi } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { reportError } from '../../src/cli/terminal/errors.ts';
import { Interrupts } from '../../src/cli/terminal/signals.ts';
import type { Result } from './coxswain.ts';

/** The command line in this process: for commands that need no process of their own. */
export async function command(args: readonly string[]): Promise<Result> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      said[stream] += String(chunk);
      return true;
    }),
  );
  try {
    const { program, result } = buildProgram(new Interrupts());
    await program.parseAsync(args, { from: 'user' });
    return { code: result.code, ...said };
  } catch (error) {
    const code = reportError(error, { verbose: false, help: 'coxswain --help' });
    return { code, ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
