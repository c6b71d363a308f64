import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { AgentDescriptor, AgentEvent, AgentSession, SessionRef } from '../../contracts/index.ts';
import { messageOf } from '../../contracts/index.ts';
import type { Check, Shape, StreamQueue } from '../../session/index.ts';
import { amount, checkIs, checkOptions, name, names, signal, texts } from '../../session/index.ts';
import type { ConformanceTarget, RunningExecutor } from '../kit/index.ts';
import { broken, executorLost, RpcClient } from './rpc.ts';
import { StdioSession } from './stdio-session.ts';

/** Version of the executor profile. */
export const PROFILE_VERSION = '1.0';

export interface LaunchOptions {
  /** Added to the environment of the process. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** Kills it. */
  signal?: AbortSignal;
  /** Milliseconds between the end of its input and its end by signal; default 1,000. */
  graceMs?: number;
}

const launch: Shape<LaunchOptions> = { env: texts, cwd: name, signal, graceMs: amount };
const words: Check = {
  needs: 'a list: the command, then its arguments',
  fits: (value) => names.fits(value) && name.fits((value as readonly string[])[0]),
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
function checkCommand(command: readonly string[], options: LaunchOptions): void {
  checkIs(command, 'command', words);
  checkOptions<LaunchOptions>(options, 'options', launch);
}

const DEFAULT_GRACE_MS = 1_000;
/** Characters of stderr that are kept, to say why an executor went. */
const MAX_STDERR = 2_000;
/** A process group of its own; Windows has none. */
const OWN_GROUP = process.platform !== 'win32';
/** Events of no stream that are kept, to be judged. */
const MAX_STRAYS = 100;

/**
 * Starts a command that speaks the executor profile on its standard input and output.
 * @throws CoxswainError `UNAVAILABLE / E_EXECUTOR_LOST`, `INTERNAL / E_EXECUTOR_PROTOCOL`
 */
export async function launchExecutor(
  command: readonly string[],
  options: LaunchOptions = {},
): Promise<RunningExecutor & { descriptor: AgentDescriptor }> {
  checkCommand(command, options);
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    detached: OWN_GROUP,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const { rpc, initialize } = executorOn(child.stdout, child.stdin);
  const exited = watch(child, rpc);
  const die = () => signalTo(child, 'SIGKILL');
  options.signal?.addEventListener('abort', die, { once: true });
  process.once('exit', die);
  void exited.then(() => {
    options.signal?.removeEventListener('abort', die);
    process.off('exit', die);
    // What it has started may outlive it.
    if (OWN_GROUP) die();
  });
  const close = () => {
    rpc.drain();
    return end(child, exited, options.graceMs ?? DEFAULT_GRACE_MS);
  };
  try {
    return {
      ...(await initialize()),
      close,
      lost: () => rpc.failed,
      again: (more) => launchExecutor([file, ...args], { ...options, ...more }),
      async kill() {
        die();
        rpc.drain();
        await exited;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An executor at the other end of two pipes. */
export function executorOn(input: Readable, output: Writable) {
  const sessions = new Map<string, StdioSession>();
  const strays: AgentEvent[] = [];
  const rpc = new RpcClient(input, output, {
    notified: (method, params) => {
      if (method !== 'event') return;
      const { sessionId, streamId, event } = (params ?? {}) as {
        sessionId: string;
        streamId: string;
        event: AgentEvent;
      };
      if (typeof event?.type !== 'string') throw broken('an event notification without an event');
      const isShown = sessions.get(sessionId)?.take(streamId, event) ?? false;
      if (!isShown && strays.length < MAX_STRAYS) strays.push({ ...event, sessionId, streamId });
    },
    lost: (reason) => {
      for (const session of sessions.values()) session.lose(reason);
    },
    room: () => roomIn([...sessions.values()].flatMap(({ queues }) => queues)),
  });
  const initialize = async () => {
    const told = await rpc.call('initialize', { protocolVersion: PROFILE_VERSION });
    const { protocolVersion, descriptor } = (told ?? {}) as { protocolVersion?: string; descriptor?: AgentDescriptor };
    if (protocolVersion?.split('.')[0] !== PROFILE_VERSION.split('.')[0]) {
      throw broken(`it implements version ${protocolVersion}, not ${PROFILE_VERSION}`);
    }
    if (!Array.isArray(descriptor?.capabilities)) throw broken('initialize was answered without a descriptor');
    const open = async (ref: SessionRef = {}): Promise<AgentSession> => {
      const { sessionId } = ((await rpc.call('open', { ref })) ?? {}) as { sessionId?: unknown };
      if (typeof sessionId !== 'string') throw broken('open was answered without a sessionId');
      const session = new StdioSession(sessionId, descriptor, rpc);
      sessions.set(sessionId, session);
      return session;
    };
    return { descriptor, open, stray: () => strays };
  };
  return { rpc, initialize };
}

/** One pipe carries all streams: it rests while one has too much and nobody waits for any. */
function roomIn(queues: readonly StreamQueue<AgentEvent>[]): Promise<unknown> | undefined {
  if (queues.every((queue) => queue.room(true) === undefined)) return undefined;
  const rooms = queues.map((queue) => queue.room(false));
  return rooms.includes(undefined) ? undefined : Promise.race(rooms);
}

/** Tells who waits when the process goes; resolves then. */
function watch(child: ChildProcessWithoutNullStreams, rpc: RpcClient): Promise<void> {
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-MAX_STDERR);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      rpc.fail(executorLost(messageOf(error)));
      resolve();
    });
    child.once('close', (code, signal) => {
      const said = words.trim();
      rpc.fail(
        executorLost(`it ended with ${signal ?? `exit code ${code}`}${said === '' ? '' : `; it said: ${said}`}`),
      );
      resolve();
    });
  });
}

/** A command may be a wrapper: what it has started gets the signal, too. */
function signalTo(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(OWN_GROUP ? -child.pid : child.pid, signal);
  } catch (error) {
    // ESRCH: all of them have gone; EPERM: those that are left are dead, and nobody has looked after them yet.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The end of its input asks it to go; then it is told. */
async function end(child: ChildProcessWithoutNullStreams, exited: Promise<void>, graceMs: number): Promise<void> {
  child.stdin.end();
  const terms = setTimeout(() => signalTo(child, 'SIGTERM'), graceMs);
  const kills = setTimeout(() => signalTo(child, 'SIGKILL'), 2 * graceMs);
  await exited;
  clearTimeout(terms);
  clearTimeout(kills);
}

/** A target that is a command: one process a check. */
export function targetOfCommand(command: readonly string[], options: LaunchOptions = {}): ConformanceTarget {
  checkCommand(command, options);
  return {
    name: command.join(' '),
    start: ({ signal } = {}) => launchExecutor(command, { ...options, ...(signal ? { signal } : {}) }),
  };
}
