import { createWriteStream } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import type { AgentSession, PermissionMode, ToolProvider } from '../../contracts/index.ts';
import { MODE_TRAITS, PERMISSION_MODES } from '../../contracts/index.ts';
import type { Interrupts } from '../terminal/index.ts';
import { EXIT, onOwnStdout, Screen } from '../terminal/index.ts';
import type { HostFlags, LimitFlags, ModuleHost, ModuleHostOptions } from '../workspace/index.ts';
import { closeQuietly, isMade, limitsFromFlags, openModuleHost } from '../workspace/index.ts';

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
    openModuleHost(path, flags, place),
  ]);
  const rooms = new Rooms(path, flags, place, work);
  interrupts.outlive(work.warn);
  try {
    const server = await serveAcp(
      {
        name: work.agent,
        version,
        limits: limitsFromFlags(flags),
        modes: modesUnder(flags.mode),
        ...(flags.contextTokens === undefined ? {} : { contextTokens: flags.contextTokens }),
        open: async ({ sessionId, cwd, mcpToolsets }) =>
          rooms.open(cwd, await mcpToolsets(), ({ host, agent }) =>
            host.open(agent, sessionId === undefined ? {} : { sessionId }),
          ),
        closed: (session) => rooms.leave(session),
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

/** A module host that ends with the last session in it. */
interface Room {
  readonly work: Promise<ModuleHost>;
  sessions: number;
}

/** Module hosts of sessions that have a folder or tools of their own. */
class Rooms {
  readonly #make: (more: Own) => Promise<ModuleHost>;
  readonly #flags: AcpFlags;
  readonly #path: string;
  readonly #first: ModuleHost;
  readonly #byFolder = new Map<string, Room>();
  readonly #opened = new Set<Room>();
  readonly #of = new Map<AgentSession, Room>();

  constructor(path: string, flags: AcpFlags, place: ModuleHostOptions, first: ModuleHost) {
    this.#make = (more) => openModuleHost(path, flags, { ...place, ...more, beside: first });
    this.#path = path;
    this.#flags = flags;
    this.#first = first;
  }

  async open(
    cwd: string,
    toolProviders: readonly ToolProvider[],
    open: (work: ModuleHost) => Promise<AgentSession>,
  ): Promise<AgentSession> {
    // What is exported ready-made has its folder; a flag says more than an editor.
    const isOwn = this.#flags.workspace === undefined && (await isMade(this.#path));
    if (!isOwn && toolProviders.length === 0) return open(this.#first);
    const room = this.#enter(isOwn ? cwd : undefined, toolProviders);
    try {
      const session = await open(await room.work);
      this.#of.set(session, room);
      return session;
    } catch (error) {
      await this.#left(room);
      throw error;
    }
  }

  async leave(session: AgentSession): Promise<void> {
    const room = this.#of.get(session);
    if (!room) return;
    this.#of.delete(session);
    await this.#left(room);
  }

  async close(): Promise<void> {
    for (const room of [...this.#opened]) await this.#end(room);
  }

  #enter(workspace: string | undefined, toolProviders: readonly ToolProvider[]): Room {
    const shared = toolProviders.length === 0 ? workspace : undefined;
    const known = shared === undefined ? undefined : this.#byFolder.get(shared);
    if (known) {
      known.sessions++;
      return known;
    }
    const room: Room = {
      work: this.#make({ ...(workspace === undefined ? {} : { workspace }), toolProviders }),
      sessions: 1,
    };
    this.#opened.add(room);
    if (shared !== undefined) this.#byFolder.set(shared, room);
    return room;
  }

  async #left(room: Room): Promise<void> {
    room.sessions--;
    if (room.sessions === 0) await this.#end(room);
  }

  async #end(room: Room): Promise<void> {
    this.#opened.delete(room);
    for (const [folder, one] of this.#byFolder) if (one === room) this.#byFolder.delete(folder);
    const [made] = await Promise.allSettled([room.work]);
    if (made.status === 'fulfilled') await closeQuietly(made.value);
  }
}

const LOOSE_TO_STRICT: readonly PermissionMode[] = PERMISSION_MODES.toSorted(
  (a, b) => MODE_TRAITS[a].strictness - MODE_TRAITS[b].strictness,
);

/** What an editor may choose: a mode that a flag names is the loosest. */
function modesUnder(mode: PermissionMode | undefined): PermissionMode[] {
  const first = mode ?? 'default';
  return [...new Set([first, ...LOOSE_TO_STRICT.slice(mode === undefined ? 0 : LOOSE_TO_STRICT.indexOf(mode))])];
}
