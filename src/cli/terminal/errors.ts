import { CommanderError } from 'commander';
import { CoxswainError, errorRowOf, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { EXIT } from './exit-code.ts';
import { clean } from './text.ts';

/** The command was called with something that it cannot take. */
export function usageError(message: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_USAGE', message, cause === undefined ? {} : { cause });
}

/** `E_… message`, in one line. */
export function errorLine(error: unknown): string {
  const code = isCoxswainError(error) ? error.code : 'E_INTERNAL';
  const text = messageOf(error)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
  return `${code} ${clean(text || 'something went wrong')}`;
}

/** Writes what went wrong to stderr in one line (with `verbose`: and the stack); returns the exit code. */
export function reportError(error: unknown, options: { verbose: boolean; help: string }): number {
  if (error instanceof CommanderError) return reportUsage(error, options.help);
  process.stderr.write(`coxswain: ${errorLine(error)}\n`);
  if (options.verbose && error instanceof Error) writeStack(error);
  return EXIT[(isCoxswainError(error) && errorRowOf(error.code)?.exit) || 'failed'];
}

function writeStack(error: Error): void {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    process.stderr.write(`${at === error ? '' : 'caused by '}${clean(at.stack ?? at.message)}\n`);
  }
}

/** Help and version were written already; the rest is a mistake of whoever typed it. */
function reportUsage(error: CommanderError, help: string): number {
  if (error.exitCode === 0) return EXIT.done;
  if (error.code === 'commander.help') return EXIT.usage;
  const text = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  process.stderr.write(`coxswain: E_USAGE ${clean(text)}; see ${help}\n`);
  return EXIT.usage;
}
