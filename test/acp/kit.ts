import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { AcpPipe, FromAcpOptions } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import type { AgentSession, AgentSource, PolicyEvaluator } from '../../src/contracts/index.ts';
import { smallApp } from './small-app.ts';

const agentFile = fileURLToPath(new URL('./agent.ts', import.meta.url));

export interface SmallAgent extends AsyncDisposable {
  source: AgentSource;
  folder: string;
  open(id?: string, policy?: PolicyEvaluator): Promise<AgentSession>;
  /** What the agent has noted, oldest first. */
  journal(): unknown[];
}

interface SmallOptions extends Partial<FromAcpOptions> {
  flags?: string[];
}

/** The small agent at the other end of a pipe in this process: the same bytes, and no start of Node a test. */
export function smallAgent({ flags = [], ...rest }: SmallOptions = {}): SmallAgent {
  const notes: unknown[] = [];
  let starts = 0;
  const connect = (): AcpPipe => {
    const there = new TransformStream<Uint8Array, Uint8Array>();
    const back = new TransformStream<Uint8Array, Uint8Array>();
    const id = `s-${starts++}`;
    const end = async () => connection.close();
    const world = { note: (what: unknown) => notes.push(what), flags, newId: () => id, die: () => void end() };
    const connection = smallApp(world).connect(ndJsonStream(back.writable, there.readable));
    return { input: there.writable, output: back.readable, close: end, kill: () => void end() };
  };
  return openable(
    '/work',
    fromAcp({ name: 'small', connect, cwd: '/work', ...rest }),
    () => [...notes],
    async () => {},
  );
}

/** The small agent as a child process. */
export function smallChild({ flags = [], ...rest }: SmallOptions = {}): SmallAgent {
  const folder = mkdtempSync(join(tmpdir(), 'acp-'));
  const file = join(folder, 'journal');
  const args = [agentFile, file, ...flags];
  const source = fromAcp({ name: 'small', command: process.execPath, args, cwd: folder, ...rest });
  const journal = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return openable(folder, source, journal, async () => rmSync(folder, { recursive: true, force: true }));
}

function openable(
  folder: string,
  source: AgentSource,
  journal: () => unknown[],
  remove: () => Promise<void>,
): SmallAgent {
  const opened: AgentSession[] = [];
  return {
    source,
    folder,
    journal,
    async open(id = 's1', policy) {
      const session = await source.open(
        { sessionId: id, create: true },
        { app: 'shop', ...(policy ? { policy } : {}) },
      );
      opened.push(session);
      return session;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((session) => session[Symbol.asyncDispose]()));
      await remove();
    },
  };
}
