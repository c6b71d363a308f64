import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { CoxswainError } from '../../../contracts/index.ts';
import { endGroup, HAS_GROUPS, signalGroup } from './process-group.ts';

/** A way to an agent that runs already, wherever it is. */
export interface AcpPipe {
  /** What the agent reads. */
  readonly input: WritableStream<Uint8Array>;
  /** What the agent writes. */
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves to an error that says how it ended, where that can be known. */
  readonly gone?: Promise<CoxswainError>;
  /** Ends it in good order. */
  close(): Promise<void>;
  /** Ends it at once: it does not do what it is told. */
  kill(): void;
}

/** How to start an agent that answers on stdio. */
export interface AcpCommand {
  command: string;
  args?: readonly string[];
  /** Folder of the process. Default: the session's `cwd`. */
  folder?: string;
  /** Beside a few harmless variables (PATH, HOME, …) nothing of this process' environment is handed on. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Told what it writes to stderr. Default: nobody; it may hold anything. */
  onStderr?(text: string): void;
}

const HARMLESS = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
const HARMLESS_WINDOWS = ['APPDATA', 'COMSPEC', 'LOCALAPPDATA', 'PATHEXT', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERPROFILE'];
const GRACE_MS = 2_000;

/** An agent's process: its two pipes, and how it ended. */
export class AgentProcess implements AcpPipe {
  readonly input: WritableStream<Uint8Array>;
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves once the process is gone, to the error that says so. */
  readonly gone: Promise<CoxswainError>;
  readonly #child: ChildProcess;
  #isGone = false;
  /** Resolves once whatever it has started is gone, too. */
  #groupEnds: Promise<void> | undefined;

  constructor(agent: string, { command, args = [], folder, env, onStderr }: AcpCommand, cwd: string) {
    const child = spawn(command, [...args], {
      cwd: folder ?? cwd,
      env: { ...harmlessEnv(), ...env },
      stdio: ['pipe', 'pipe', onStderr ? 'pipe' : 'ignore'],
      // A group of its own: whatever it starts ends with it, and a Ctrl-C at the terminal is ours to handle.
      detached: HAS_GROUPS,
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => onStderr?.(text));
    // What is written to a process that is gone is told by its end.
    child.stdin?.on('error', () => {});
    this.input = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>;
    this.output = Readable.toWeb(child.stdout as Readable) as unknown as ReadableStream<Uint8Array>;
    const { promise, resolve } = Promise.withResolvers<CoxswainError>();
    this.gone = promise;
    child.once('error', (error: NodeJS.ErrnoException) => {
      this.#isGone = true;
      resolve(processError(`agent ${agent} could not be started: ${command}: ${error.code ?? error.message}`));
    });
    child.once('exit', (code, signal) => {
      this.#isGone = true;
      this.#groupEnds = endGroup(child.pid, GRACE_MS);
      resolve(processError(`the process of agent ${agent} has ended (${signal ?? `exit code ${code}`})`));
    });
  }

  /** Ends it: by the end of its input, then by signals. What it has started is ended when it is gone. */
  async close(): Promise<void> {
    if (!this.#isGone) this.#child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#endsWithin(GRACE_MS)) break;
      this.#kill(signal);
    }
    await this.#endsWithin(GRACE_MS);
    await this.#groupEnds;
  }

  kill(): void {
    if (!this.#isGone) this.#kill('SIGKILL');
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (HAS_GROUPS && pid !== undefined) signalGroup(pid, signal);
    else this.#child.kill(signal);
  }

  async #endsWithin(ms: number): Promise<boolean> {
    if (this.#isGone) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.gone, promise]);
    clearTimeout(timer);
    return this.#isGone;
  }
}

function harmlessEnv(): Record<string, string> {
  const names = process.platform === 'win32' ? [...HARMLESS, ...HARMLESS_WINDOWS] : HARMLESS;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export function processError(message: string): CoxswainError {
  return new CoxswainError('UNAVAILABLE', 'E_AGENT_PROCESS', `${message}; send a message to start it again`);
}
