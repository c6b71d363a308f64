import { createWriteStream } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import type { PermissionMode, ToolProvider } from '../../contracts/index.ts';
import { MODE_STRICTNESS, PERMISSION_MODES } from '../../contracts/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { EXIT, onOwnStdout, Screen } from '../terminal/index.ts';
import type { HostFlags, LimitFlags, Place, Workplace } from '../workspace/index.ts';
import { closeQuietly, isMade, limitsOf, openWorkplace } from '../workspace/index.ts';

export interface AcpFlags extends HostFlags, LimitFlags {
  contextTokens?: number;
}

/** `coxswain acp`: serves the agent to an editor on stdin and stdout, until it closes stdin. */
export function acpCommand(path: string, flags: AcpFlags, version: string, interrupts: Interrupts): Promise<number> {
  return onOwnStdout(interrupts, (fd) => serve(path, flags, version, fd, interrupts));
}

async function serve(
  path: string,
  flags: AcpFlags,
  version: string,
  fd: number,
  interrupts: Interrupts,
): Promise<number> {
  const { signal } = interrupts.start();
  const place = { screen: new Screen(), interrupts, asksElsewhere: true };
  const [{ serveAcp }, work] = await Promise.all([
    import('../../adapters/acp/index.ts'),
    openWorkplace(path, flags, place),
  ]);
  const rooms = new Rooms(path, flags, place, work);
  interrupts.outlive(work.warn);
  try {
    const server = await serveAcp(
      {
        name: work.agent,
        version,
        limits: limitsOf(flags),
        modes: modesUnder(flags.mode),
        ...(flags.contextTokens === undefined ? {} : { contextTokens: flags.contextTokens }),
        open: async ({ sessionId, cwd, mcpToolsets }) => {
          const { host, agent } = await rooms.for(cwd, await mcpToolsets());
          return host.open(agent, sessionId === undefined ? {} : { sessionId });
        },
        list: (page) => work.host.sessions(flags.user).list(page),
        delete: (sessionId) => work.host.sessions(flags.user).delete(sessionId),
        warn: work.warn,
      },
      {
        input: Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
        output: Writable.toWeb(createWriteStream('', { fd })) as WritableStream<Uint8Array>,
      },
    );
    signal.addEventListener('abort', () => void server.close(), { once: true });
    await server.closed;
    return signal.aborted ? EXIT.aborted : EXIT.done;
  } finally {
    await rooms.close();
    await closeQuietly(work);
  }
}

interface Own {
  workspace?: string;
  toolProviders: readonly ToolProvider[];
}

/** Workplaces of sessions that have a folder or tools of their own. */
class Rooms {
  readonly #make: (more: Own) => Promise<Workplace>;
  readonly #flags: AcpFlags;
  readonly #path: string;
  readonly #first: Workplace;
  readonly #byFolder = new Map<string, Promise<Workplace>>();
  readonly #opened: Promise<Workplace>[] = [];

  constructor(path: string, flags: AcpFlags, place: Place, first: Workplace) {
    this.#make = (more) => openWorkplace(path, flags, { ...place, ...more, beside: first });
    this.#path = path;
    this.#flags = flags;
    this.#first = first;
  }

  async for(cwd: string, toolProviders: readonly ToolProvider[]): Promise<Workplace> {
    // What is exported ready-made has its folder; a flag says more than an editor.
    const isOwn = this.#flags.workspace === undefined && (await isMade(this.#path));
    const folder = isOwn ? { workspace: cwd } : {};
    if (toolProviders.length > 0) return this.#open({ ...folder, toolProviders });
    if (!isOwn) return this.#first;
    const known = this.#byFolder.get(cwd) ?? this.#open({ ...folder, toolProviders });
    this.#byFolder.set(cwd, known);
    known.catch(() => this.#byFolder.delete(cwd));
    return known;
  }

  async close(): Promise<void> {
    for (const work of await Promise.allSettled(this.#opened)) {
      if (work.status === 'fulfilled') await closeQuietly(work.value);
    }
  }

  #open(more: Own): Promise<Workplace> {
    const work = this.#make(more);
    this.#opened.push(work);
    return work;
  }
}

const LOOSE_TO_STRICT: readonly PermissionMode[] = PERMISSION_MODES.toSorted(
  (a, b) => MODE_STRICTNESS[a] - MODE_STRICTNESS[b],
);

/** What an editor may choose: a mode that a flag names is the loosest. */
function modesUnder(mode: PermissionMode | undefined): PermissionMode[] {
  const first = mode ?? 'default';
  return [...new Set([first, ...LOOSE_TO_STRICT.slice(mode === undefined ? 0 : LOOSE_TO_STRICT.indexOf(mode))])];
}
