import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { agentEvent, agentEventTypes } from '../../src/contracts/schemas/index.ts';
import { built } from '../packed.ts';

const root = join(import.meta.dirname, '..', '..');
export const cli = built('cli.js');
export const workspaceAgent = join(root, 'examples', 'workspace', 'agent.ts');
export const puppet = built('puppet.js');
export const mainJob = 'find every TODO and write them to todo.md';

export interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

export interface StartOptions extends RunOptions {
  /** `pipe` without input: stays open, for whoever writes to the child. */
  stdin?: 'pipe' | 'ignore';
}

/** A folder of its own for one test: the current folder of the command, with the example's files in `files`. */
export class Place {
  readonly path = mkdtempSync(join(tmpdir(), 'coxswain-cli-'));

  get files(): string {
    const files = join(this.path, 'files');
    if (!existsSync(files)) cpSync(join(root, 'examples', 'workspace', 'files'), files, { recursive: true });
    return files;
  }

  /** An empty folder for the puppet. */
  get desk(): string {
    const desk = join(this.path, 'desk');
    mkdirSync(desk, { recursive: true });
    return desk;
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    const running = this.start(args, options);
    return running.ended;
  }

  start(
    args: readonly string[],
    { input, env, stdin = input === undefined ? 'ignore' : 'pipe' }: StartOptions = {},
  ): Running {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: this.path,
      env: { ...cleanEnv(), ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    if (input !== undefined) child.stdin?.end(input);
    return new Running(child);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Result>;
  stdout = '';
  stderr = '';
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#saw(() => (this.stdout += chunk)));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => this.#saw(() => (this.stderr += chunk)));
    this.ended = new Promise((resolve) => {
      child.on('close', (code) => {
        this.#saw(() => {});
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Waits until the output holds a text; fails if the process ends without it. */
  async shows(text: string, where: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    while (!this[where].includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended without ${JSON.stringify(text)} on ${where}:\n${this.stdout}\n${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        const look = () => {
          this.#watchers.delete(look);
          resolve();
        };
        this.#watchers.add(look);
      });
    }
  }

  #saw(change: () => void): void {
    change();
    for (const look of [...this.#watchers]) look();
  }
}

/** Lines of stdout as events; throws for anything that is none. */
export function eventsOf(stdout: string): AgentEvent[] {
  if (stdout !== '' && !stdout.endsWith('\n')) throw new Error('the last line is cut off');
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const event = agentEvent.parse(JSON.parse(line)) as AgentEvent;
      if (!(agentEventTypes as readonly string[]).includes(event.type)) throw new Error(`not an event: ${line}`);
      return event;
    });
}

export function found(text: string, pattern: RegExp): string {
  const match = pattern.exec(text)?.[1];
  if (match === undefined) throw new Error(`no ${pattern} in:\n${text}`);
  return match;
}

export const sessionIn = (stderr: string) => found(stderr, /^session (\S+)/m);
export const requestIn = (stderr: string) => found(stderr, /^ {2}request {2}(\S+)/m);

export function cleanEnv(): Record<string, string> {
  const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, NODE_OPTIONS: ____, ...env } = process.env;
  // No test asks a real model because somebody has a key.
  for (const name of Object.keys(env)) if (/_API_KEY$|_BASE_URL$|^COXSWAIN_MODEL$/.test(name)) delete env[name];
  return env as Record<string, string>;
}

/** Why nothing can be tried on a pseudo-terminal here; undefined if it can. */
export function noTerminal(): string | undefined {
  if (process.platform === 'win32') return 'no pseudo-terminals on Windows';
  const probe = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode'], { stdio: 'ignore' });
  return probe.status === 0 ? undefined : 'needs python3 (3.9 or newer) with its pty module';
}

export interface TerminalResult {
  /** What was on the screen, without colour and cursor movement. */
  screen: string;
  raw: string;
  code: number;
}

/** Runs the command on a pseudo-terminal; each step waits for a text, then types (or sends `SIG…`). */
export async function onTerminal(
  place: Place,
  args: readonly string[],
  steps: readonly [wanted: string, typed: string][],
  env: Record<string, string> = {},
): Promise<TerminalResult> {
  const child = spawn('python3', [join(import.meta.dirname, 'terminal.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  const job = {
    argv: [process.execPath, cli, ...args],
    cwd: place.path,
    env: { ...cleanEnv(), TERM: 'xterm', ...env },
    steps,
  };
  child.stdin.end(JSON.stringify(job));
  const { stdout, stderr } = await new Running(child).ended;
  if (stdout === '') throw new Error(stderr);
  const { output, code, missed } = JSON.parse(stdout) as { output: string; code: number; missed: string | null };
  const screen = screenOf(output);
  if (missed !== null) throw new Error(`${JSON.stringify(missed)} never came:\n${screen}`);
  return { screen, raw: output, code };
}

function screenOf(output: string): string {
  return (
    output
      // A line feed of a program that writes both is given a return too.
      .replaceAll(/\r+\n/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal acts upon
      .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '')
      .replaceAll(/[^\n]*\r/g, '')
  );
}
