import type {
  AgentSession,
  AgentSource,
  HostContext,
  HostJournal,
  Principal,
  ReportedRequest,
  SessionPlace,
  SessionRef,
} from '../contracts/index.ts';
import { CoxswainError, storeGiven } from '../contracts/index.ts';
import { subagentSessionId } from '../gate/index.ts';
import { isOwn, isPipeable, kindOf, LazyMap, MemoryJournal } from '../session/index.ts';
import type { BorrowedSession } from './approvals/index.ts';
import type { CalledBy, FrameHost, SessionOwnership, SharedStanding } from './frame/index.ts';
import { HostedFrame } from './frame/index.ts';
import { HostedSession, isStillThere } from './hosted/index.ts';
import { Lent } from './lent.ts';
import { SubagentSession } from './subagents/index.ts';
import type { HostOptions, OpenOptions } from './terms/index.ts';
import type { HostToolRegistry, Subagent } from './tools/index.ts';
import { SessionJournal, WitnessedSession } from './witness/index.ts';

/** What the sessions of a host are opened with. */
export interface OpeningHost {
  readonly options: HostOptions;
  readonly sources: ReadonlyMap<string, AgentSource>;
  readonly tools: HostToolRegistry;
  readonly frameHost: FrameHost;
  /** What is noted of sessions whose executor is not believed. */
  readonly journal: HostJournal;
  context(userId: string, principal?: Principal): HostContext;
  warn(message: string, error?: unknown): void;
}

/** The sessions that are open at a host: opens them, lends their handles to it, and drops them when they end. */
export class OpenSessions {
  readonly #host: OpeningHost;
  /** By `openSessionName`. */
  readonly #open = new Map<string, SharedStanding>();
  /** Of sessions that were deleted while they were open: another one has the name. */
  readonly #deleted = new Set<SharedStanding>();
  /** Handles that the host has opened for itself. */
  readonly #lent = new Map<HostedSession, Lent>();
  /** What is noted of sessions that end with their handle. */
  readonly #passing = new MemoryJournal();
  #isClosed = false;

  constructor(host: OpeningHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#open.size;
  }

  get handles() {
    return [...this.#open.values(), ...this.#deleted].flatMap(({ handles }) => [...handles]);
  }

  /** Its last handle is closed. */
  forget(name: string, { userId, root, ephemeral, caller }: SessionOwnership, shared: SharedStanding): void {
    if (this.#deleted.delete(shared)) return;
    this.#open.delete(name);
    if (ephemeral && !caller) void this.#passing.forget({ app: this.#host.options.app, userId, sessionId: root });
    this.#host.frameHost.confirmations.close(name);
  }

  /** @param like a frame of the same session, whose tools are taken as they were found */
  async open(
    agent: string,
    options: OpenOptions,
    userId: string,
    principal: Principal,
    like?: HostedFrame,
  ): Promise<HostedSession> {
    const source = this.#host.sources.get(agent);
    if (!source) {
      const known = [...this.#host.sources.keys()].join(', ');
      throw new CoxswainError(
        'NOT_FOUND',
        'E_AGENT_UNKNOWN',
        `the host has no agent ${typeof agent === 'string' ? JSON.stringify(agent.slice(0, 64)) : kindOf(agent)}; it has: ${known}`,
      );
    }
    // Whose it is stands in the context.
    const { userId: _, principal: __, ...ref } = options;
    const opened = await source.open(ref, this.#host.context(userId, principal));
    const { ephemeral } = options;
    const { id } = opened;
    // Which session it is, such an executor says: what was said always in that one is not said in this.
    if (!isOwn(opened) && ref.sessionId !== id) {
      this.#host.frameHost.remembered.forget({ userId, agent, sessionId: id, ephemeral });
    }
    const place = { userId, principal, ephemeral, root: id, rootAgent: agent };
    return this.#hosted(agent, opened, place, undefined, like);
  }

  async #hosted(
    agent: string,
    opened: AgentSession,
    place: SessionOwnership,
    wrap: (session: AgentSession) => AgentSession = (session) => session,
    like?: HostedFrame,
  ): Promise<HostedSession> {
    const { tools, descriptors } = like ?? (await this.#host.tools.forAgent(agent));
    const id = place.caller ? opened.id : place.root;
    const inStore =
      isOwn(opened) && storeGiven(this.#host.options, 'createHost: options') !== undefined && !place.ephemeral;
    const name = openSessionName(place.userId, id, inStore ? undefined : agent, place.ephemeral);
    if (!place.caller) {
      const { userId, rootAgent, root: sessionId, ephemeral } = place;
      await this.#host.frameHost.remembered.opened({ userId, agent: rootAgent, sessionId, ephemeral }, opened);
    }
    let shared = this.#open.get(name);
    if (shared && isOfAnother(shared, opened)) {
      this.#deleted.add(shared);
      shared = undefined;
    }
    if (!shared) {
      const present = place.caller?.shared.present ?? new LazyMap();
      shared = { handles: new Set(), present, begun: undefined, journals: new LazyMap() };
      this.#open.set(name, shared);
    }
    const inner = wrap(isOwn(opened) ? opened : this.#witnessed(agent, opened, id, place, shared));
    const session = new HostedSession(
      inner,
      new HostedFrame(this.#host.frameHost, place, {
        agent,
        isForeign: !isOwn(opened),
        inner,
        name,
        shared,
        tools,
        descriptors,
      }),
    );
    shared.handles.add(session);
    return session;
  }

  /** Of an executor that is not this program's own, only what it wants is believed. */
  #witnessed(
    agent: string,
    session: AgentSession,
    id: string,
    { userId, ephemeral, root }: SessionOwnership,
    shared: SharedStanding,
  ): AgentSession {
    let journal = shared.journals.get(agent);
    if (!journal) {
      const kept = ephemeral ? this.#passing : this.#host.journal;
      journal = new SessionJournal(kept, { app: this.#host.options.app, userId, agent, sessionId: id, root });
      shared.journals.set(agent, journal);
    }
    const tell = (error: CoxswainError) => this.#host.warn(error.message, error);
    return new WitnessedSession(session, id, agent, journal, tell, this.#host.options);
  }

  async openSubagent(
    { descriptor, open }: Subagent,
    request: ReportedRequest,
    { sessionId: callersId, callId, agent }: CalledBy,
    create: boolean,
    place: SessionOwnership,
  ): Promise<HostedSession> {
    const sessionId = subagentSessionId(place.root, callersId, callId, agent);
    const ref: SessionRef = { sessionId, create, ...(place.ephemeral ? { ephemeral: true } : {}) };
    const inner = await open(ref, this.#host.context(place.userId, place.principal));
    if (inner.id !== sessionId && descriptor.capabilities.includes('resume')) {
      await inner[Symbol.asyncDispose]();
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_UNSUPPORTED',
        `sub-agent ${descriptor.name} says that it can resume, but opened ${inner.id} for session ${sessionId}; open context.session`,
      );
    }
    return this.#hosted(descriptor.name, inner, place, (session) => new SubagentSession(session, request));
  }

  /**
   * An open handle of the session, the running one first; else a temporary one. Where something is to run it is one of its own, if
   * the session can be opened again: whoever has opened another one closes it when they like, and what runs on it ends with it.
   */
  async borrow(agent: string, userId: string, sessionId: string, toRun = false): Promise<BorrowedSession> {
    if (!toRun) return this.#borrow(agent, userId, sessionId, false);
    if (this.#isClosed) throw hostClosed(sessionId);
    const borrowed = await this.#borrow(agent, userId, sessionId, true);
    if (!this.#isClosed) return borrowed;
    await borrowed[Symbol.asyncDispose]();
    throw hostClosed(sessionId);
  }

  /** What runs ends with its session, and the host begins nothing more by itself: others find it in the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.handles.map((session) => session[Symbol.asyncDispose]()));
  }

  async #borrow(agent: string, userId: string, sessionId: string, toRun: boolean): Promise<BorrowedSession> {
    const names = [undefined, agent].map((of) => openSessionName(userId, sessionId, of));
    const open = names.flatMap((name) => [...(this.#open.get(name)?.handles ?? [])]);
    const ours = open.filter((handle) => handle instanceof HostedSession);
    const handles = ours.filter((handle) => handle.descriptor.name === agent && !handle.isClosed);
    const known =
      handles.find((handle) => handle.running) ?? handles.find((handle) => !handle.frame.isReopenable) ?? handles[0];
    if (known && !(toRun && known.frame.isReopenable)) {
      // Held while it is looked at: whoever has it lent may give it back in between.
      const held = this.#lent.get(known)?.again() ?? { session: known, [Symbol.asyncDispose]: async () => {} };
      let isThere = false;
      try {
        isThere = (await isStillThere(known)) && !known.isClosed;
        if (isThere) return held;
      } finally {
        if (!isThere) await held[Symbol.asyncDispose]();
      }
    }
    // On behalf of nobody in particular: whose turns they are says the log.
    const session = await this.open(agent, { sessionId }, userId, { id: userId }, known?.frame);
    // As it stands for whoever has it open: the tools that were decided on, under the mode that was set there. What that one
    // has may be a session that was deleted: nothing of it holds in the one that was made since.
    if (known?.frame.shared === session.frame.shared) session.frame.ownMode ??= known.frame.ownMode;
    const lent = new Lent(session, () => this.#lent.delete(session));
    this.#lent.set(session, lent);
    return lent.again();
  }

  /** Runs that are live here are left; those of sub-agents leave with their callers. */
  leaveAll(): Promise<SessionPlace | undefined>[] {
    const running = this.handles
      .filter((handle) => handle instanceof HostedSession)
      .filter((session) => session.running);
    return running
      .filter(({ frame }) => frame.depth === 0)
      .map(async (session) => {
        const { id: sessionId, descriptor, frame } = session;
        return (await session.leave()) ? { agent: descriptor.name, userId: frame.userId, sessionId } : undefined;
      });
  }
}

function hostClosed(sessionId: string): CoxswainError {
  const message = `the host was closed: session ${sessionId} is left to who works over its store`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', message);
}

/** What is open under the name is a session that was deleted: this one was made since. */
function isOfAnother({ handles: [open] }: SharedStanding, opened: AgentSession): boolean {
  const known = open instanceof HostedSession ? open.inner : undefined;
  return known !== undefined && isPipeable(known) && isPipeable(opened) && known.createdAt !== opened.createdAt;
}

/**
 * What a session is known by among all that are open here. Of those in the host's store user and id say which it is; one
 * that its executor keeps is another, whatever id that gives it, and so is one that is kept nowhere.
 * @param agent whose executor keeps it; undefined: it is in the host's store
 */
export function openSessionName(userId: string, id: string, agent: string | undefined, isPassing = false): string {
  const name = agent === undefined ? `${userId}/${id}` : `${userId}/${id}/${agent}`;
  return isPassing ? `${name}/passing` : name;
}
