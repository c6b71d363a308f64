import { buildProgram } from './program.ts';
import { EXIT, Interrupts, isOnOwnStdout, reportError } from './terminal/index.ts';

/** Runs the command and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const interrupts = new Interrupts();
  const verbose = args.includes('--verbose');
  guard(interrupts, verbose);
  // A run that waits for nothing but a person or a signal is no reason for the process to end.
  setInterval(() => {}, 2 ** 30);
  let code: number;
  try {
    code = await run(args, interrupts);
  } catch (error) {
    code = reportError(error, { verbose, help: helpFor(args) });
  }
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // What an agent module has left open must not keep the process.
  process.exit(code);
}

async function run(args: readonly string[], interrupts: Interrupts): Promise<number> {
  interrupts.listen();
  const { program, result } = buildProgram(interrupts);
  await program.parseAsync(args, { from: 'user' });
  return result.code;
}

/** The help that belongs to the command that was meant. */
function helpFor(args: readonly string[]): string {
  const [first = '', second = ''] = args;
  const known: Record<string, readonly string[]> = {
    init: [],
    run: [],
    sessions: ['list', 'show', 'delete', 'fork', 'rewind', 'export', 'import', 'prune', 'erase', 'rebuild'],
    store: ['migrate'],
    approvals: ['list', 'approve', 'deny'],
    policy: ['test', 'explain'],
    audit: ['show', 'export', 'verify'],
    mcp: [],
    acp: [],
    serve: [],
    dev: [],
    conformance: [],
  };
  if (!(first in known)) return 'coxswain --help';
  return ['coxswain', first, ...(known[first]?.includes(second) ? [second] : []), '--help'].join(' ');
}

function guard(interrupts: Interrupts, verbose: boolean): void {
  // SQLite and the type stripper call themselves experimental; nobody who uses this command can do anything about it.
  const warned = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const listener of warned) listener(warning);
  });
  let isRead = true;
  const isSpare = isOnOwnStdout();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A terminal that is gone is told of by a signal.
    if (isSpare || error.code === 'EIO') return;
    if (error.code !== 'EPIPE') throw error;
    if (isRead) interrupts.press('nobody reads the output');
    isRead = false;
  });
  process.stderr.on('error', () => {});
  const crash = (error: unknown) => {
    reportError(error, { verbose, help: 'coxswain --help' });
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (error) => {
    if (!interrupts.stray(error)) crash(error);
  });
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
