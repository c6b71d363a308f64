import { keepingProcess, warnWith } from '../base/index.ts';
import type {
  AgentDescriptor,
  AgentSession,
  AgentSource,
  HostContext,
  HostJournal,
  PermissionMode,
  Principal,
  ReportedRequest,
  SessionInput,
  SessionPlace,
  SessionProvider,
  SessionRef,
} from '../contracts/index.ts';
import { assertSafeId, CoxswainError, storeGiven } from '../contracts/index.ts';
import { subagentSessionId } from '../gate/index.ts';
import type { AuditEntry } from '../session/index.ts';
import {
  auditOf,
  checkPrincipal,
  guardedTelemetry,
  isOwn,
  isPipeable,
  kindOf,
  LazyMap,
  MemoryJournal,
} from '../session/index.ts';
import type { AgentHost } from './agent-host.ts';
import type { ApprovalHost, BorrowedSession, Recovery } from './approvals/index.ts';
import { findUnfinished, HostApprovals, recoverSessions } from './approvals/index.ts';
import type { Schedules, SubmitOptions, SubmittedTurn, Webhooks, Work, WorkOptions } from './background/index.ts';
import { Background, unattendedOf, withoutDeadly } from './background/index.ts';
import type { CalledBy, FrameHost, SessionOwnership, SharedStanding } from './frame/index.ts';
import { HostedFrame } from './frame/index.ts';
import { HostedSession, isStillThere } from './hosted/index.ts';
import { Lent } from './lent.ts';
import { Confirmations, RunTimeQuestions } from './questions/index.ts';
import { allSessions, sessionsInTurn, storedSessions, waitingSessions } from './stored-sessions.ts';
import { SubagentSession } from './subagents/index.ts';
import type { AuditOptions, Holder, HostOptions, OpenOptions } from './terms/index.ts';
import {
  checkAudit,
  checkHost,
  checkOpen,
  checkWork,
  defaultPolicy,
  Entrance,
  held,
  hostContext,
  RememberedRules,
  tellMade,
} from './terms/index.ts';
import type { Subagent } from './tools/index.ts';
import { HostToolRegistry, subagentOf } from './tools/index.ts';
import { journalOf, SessionJournal, WitnessedSession } from './witness/index.ts';

/**
 * A host: it owns policy, hooks, tools, approvals and budgets; agents ask, it decides.
 * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_AGENT | E_DUPLICATE_TOOL | E_SCHEMA | E_ID`
 */
export function createHost(options: HostOptions): AgentHost {
  const host = new Host(options);
  tellMade(host);
  return host;
}

class Host implements AgentHost, Holder {
  readonly approvals: HostApprovals;
  readonly #options: HostOptions;
  readonly #sources = new Map<string, AgentSource>();
  readonly #tools: HostToolRegistry;
  /** Sessions that are open here, by `standingOf`. */
  readonly #open = new Map<string, SharedStanding>();
  /** Of sessions that were deleted while they were open: another one has the name. */
  readonly #deleted = new Set<SharedStanding>();
  readonly #frameHost: FrameHost;
  readonly #approvalHost: ApprovalHost;
  /** Handles that the host has opened for itself. */
  readonly #lent = new Map<HostedSession, Lent>();
  /** Runs that the host goes on with by itself. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #background: Background;
  readonly #entrance: Entrance;
  readonly #warn: (message: string, error?: unknown) => void;
  /** What is noted of sessions whose executor is not believed. */
  readonly #journal: HostJournal;
  /** The same of sessions that end with their handle. */
  readonly #passing = new MemoryJournal();

  constructor(given: HostOptions) {
    checkHost(given);
    assertSafeId('app', given.app);
    if (given.userId !== undefined) assertSafeId('user id', given.userId);
    this.#warn = warnWith(given.warn);
    const { telemetry } = given;
    const guarded = { ...given, warn: this.#warn };
    const options = telemetry ? { ...guarded, telemetry: guardedTelemetry(telemetry, this.#warn) } : guarded;
    this.#options = options;
    this.#journal = journalOf(storeGiven(options, 'createHost: options')) ?? new MemoryJournal();
    for (const source of options.agents) {
      const { name } = source.descriptor;
      if (this.#sources.has(name)) {
        throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_AGENT', `the host has two agents named ${name}`);
      }
      this.#sources.set(name, source);
    }
    this.#tools = new HostToolRegistry(options.tools ?? [], options.toolProviders ?? [], this.#warn);
    this.#entrance = new Entrance(options.admission);
    const host: ApprovalHost = {
      openSessions: (scope) => waitingSessions(this.#sources, this.#ownContext(), scope),
      openTurns: () => sessionsInTurn(this.#sources, this.#ownContext()),
      allSessions: async (page) => allSessions(this.sessions(), page),
      storedDecisions: async (query) => this.sessions().decided?.(query),
      borrow: (...place) => this.#borrow(...place),
      storeAgent: options.agents[0]?.descriptor.name,
      agentTools: new Set(
        (options.tools ?? []).filter((tool) => subagentOf(tool) !== undefined).map(({ name }) => name),
      ),
      warn: this.#warn,
      during: (work) => this.#during(work),
      wake: options.dispatcher && ((place) => this.#background.wake(place)),
    };
    this.#approvalHost = host;
    this.approvals = new HostApprovals(host, options.approvalPollMs);
    const { borrow, warn, during } = host;
    this.#background = new Background(
      {
        borrow,
        warn,
        during,
        open: (agent, opening) => this.open(agent, opening),
        openSessions: host.openSessions,
        unattended: (options) => unattendedOf(this.#sources, this.#ownContext(), options),
        fullForMs: () => (this.#entrance.full() === undefined ? undefined : this.#entrance.retryAfterMs),
        leaveAll: () => this.#leaveAll(),
        app: options.app,
        userId: options.userId ?? 'local',
        agents: this.#sources,
        outcomes: options.outcomes,
        journal: this.#journal,
        releaseDead: ({ agent, userId, sessionId }) => this.#releaseDead(agent, userId, sessionId),
      },
      options.dispatcher,
    );
    this.#frameHost = {
      options,
      base: options.policy ?? defaultPolicy(),
      remembered: new RememberedRules(),
      entrance: this.#entrance,
      confirmations: new Confirmations(),
      runTimeQuestions: new RunTimeQuestions(),
      warn: this.#warn,
      announce: ({ rootAgent, userId, root }, question) => {
        this.approvals.announce(rootAgent, userId, question);
        const { expiresAt } = question;
        const place = { agent: rootAgent, userId, sessionId: root };
        if (expiresAt !== undefined) void this.#background.lookAt(place, new Date(expiresAt));
      },
      answered: ({ userId }, callId) => this.approvals.changed(userId, callId),
      rested: ({ rootAgent: agent, userId, root: sessionId }) => {
        void this.#background.outcomes?.rested({ agent, userId, sessionId });
      },
      forget: (name, { userId, root, ephemeral, caller }, shared) => {
        if (this.#deleted.delete(shared)) return;
        this.#open.delete(name);
        if (ephemeral && !caller) void this.#passing.forget({ app: options.app, userId, sessionId: root });
        this.#frameHost.confirmations.close(name);
      },
      openSubagent: (...subagent) => this.#openSubagent(...subagent),
    };
  }

  get schedules(): Schedules {
    return this.#background.schedules;
  }

  get webhooks(): Webhooks {
    return this.#background.webhooks;
  }

  get permissionMode(): PermissionMode | undefined {
    return this.#options.permissionMode;
  }

  get agents(): readonly AgentDescriptor[] {
    return [...this.#sources.values()].map((source) => source.descriptor);
  }

  async open(agent: string, options: OpenOptions = {}): Promise<HostedSession> {
    checkOpen(options);
    const userId = options.userId ?? this.#options.userId ?? 'local';
    const principal = options.principal ?? this.#options.principal;
    if (principal !== undefined) checkPrincipal(principal, 'principal');
    const session = await this.#openFor(agent, options, userId, principal ?? { id: userId });
    try {
      await session.admit(principal, options.permissionMode);
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
    return session;
  }

  async #openFor(
    agent: string,
    options: OpenOptions,
    userId: string,
    principal: Principal,
    like?: HostedFrame,
  ): Promise<HostedSession> {
    const source = this.#sources.get(agent);
    if (!source) {
      const known = [...this.#sources.keys()].join(', ');
      throw new CoxswainError(
        'NOT_FOUND',
        'E_AGENT_UNKNOWN',
        `the host has no agent ${typeof agent === 'string' ? JSON.stringify(agent.slice(0, 64)) : kindOf(agent)}; it has: ${known}`,
      );
    }
    // Whose it is stands in the context.
    const { userId: _, principal: __, ...ref } = options;
    const opened = await source.open(ref, this.#context(userId, principal));
    const { ephemeral } = options;
    const { id } = opened;
    // Which session it is, such an executor says: what was said always in that one is not said in this.
    if (!isOwn(opened) && ref.sessionId !== id) {
      this.#frameHost.remembered.forget({ userId, agent, sessionId: id, ephemeral });
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
    const { tools, descriptors } = like ?? (await this.#tools.forAgent(agent));
    const id = place.caller ? opened.id : place.root;
    const inStore = isOwn(opened) && storeGiven(this.#options, 'createHost: options') !== undefined && !place.ephemeral;
    const name = standingOf(place.userId, id, inStore ? undefined : agent, place.ephemeral);
    if (!place.caller) {
      const { userId, rootAgent, root: sessionId, ephemeral } = place;
      await this.#frameHost.remembered.opened({ userId, agent: rootAgent, sessionId, ephemeral }, opened);
    }
    let shared = this.#open.get(name);
    if (shared && isOfAnother(shared, opened)) {
      this.#deleted.add(shared);
      shared = undefined;
    }
    if (!shared) {
      const present = place.caller?.shared.present ?? new LazyMap();
      shared = { handles: [], present, begun: undefined, journals: new LazyMap() };
      this.#open.set(name, shared);
    }
    const inner = wrap(isOwn(opened) ? opened : this.#witnessed(agent, opened, id, place, shared));
    const session = new HostedSession(
      inner,
      new HostedFrame(this.#frameHost, place, {
        agent,
        isForeign: !isOwn(opened),
        inner,
        name,
        shared,
        tools,
        descriptors,
      }),
    );
    shared.handles = shared.handles.concat(session);
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
      const kept = ephemeral ? this.#passing : this.#journal;
      journal = new SessionJournal(kept, { app: this.#options.app, userId, agent, sessionId: id, root });
      shared.journals.set(agent, journal);
    }
    const tell = (error: CoxswainError) => this.#warn(error.message, error);
    return new WitnessedSession(session, id, agent, journal, tell, this.#options);
  }

  async #openSubagent(
    { descriptor, open }: Subagent,
    request: ReportedRequest,
    { sessionId: callersId, callId, agent }: CalledBy,
    create: boolean,
    place: SessionOwnership,
  ): Promise<HostedSession> {
    const sessionId = subagentSessionId(place.root, callersId, callId, agent);
    const ref: SessionRef = { sessionId, create, ...(place.ephemeral ? { ephemeral: true } : {}) };
    const inner = await open(ref, this.#context(place.userId, place.principal));
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

  async audit(sessionId: string, options: AuditOptions = {}): Promise<AuditEntry[]> {
    checkAudit(options);
    const { userId, ...redaction } = options;
    const found = await this.sessions(userId).load(sessionId);
    if (found) return auditOf(found.events, redaction);
    throw new CoxswainError(
      'NOT_FOUND',
      'E_SESSION_NOT_FOUND',
      `app ${this.#options.app} has no session ${sessionId} of user ${userId ?? this.#options.userId ?? 'local'}`,
    );
  }

  sessions(userId?: string): SessionProvider {
    const whose = userId ?? this.#options.userId ?? 'local';
    return storedSessions(this.#sources, this.#context(whose), async (sessionId) => {
      this.#frameHost.confirmations.forget(standingOf(whose, sessionId, undefined));
      // What was said always in it ends with it.
      for (const agent of this.#sources.keys()) {
        this.#frameHost.confirmations.forget(standingOf(whose, sessionId, agent));
        this.#frameHost.remembered.forget({ userId: whose, agent, sessionId });
      }
      await this.#journal.forget({ app: this.#options.app, userId: whose, sessionId });
    });
  }

  async close(): Promise<void> {
    // Nothing new is begun, and what runs ends with its session.
    const background = this.#background.close();
    const open = this.#handles;
    await Promise.all(open.map((session) => session[Symbol.asyncDispose]()));
    await background;
    // What was closed with it has come to rest.
    await this.#background.outcomes?.settled();
  }

  get #handles() {
    return [...this.#open.values(), ...this.#deleted].flatMap(({ handles }) => handles);
  }

  #context(userId: string, principal: Principal = { id: userId }): HostContext {
    return hostContext(this.#options, { userId, principal }, this.#warn);
  }

  /** For what is asked over all users. */
  #ownContext(): HostContext {
    return this.#context(this.#options.userId ?? 'local');
  }

  async #releaseDead(agent: string, userId: string, sessionId: string): Promise<void> {
    const provider = this.#sources.get(agent)?.sessions?.(this.#context(userId));
    await provider?.releaseDead?.(userId, sessionId);
  }

  /** Runs that are live here; those of sub-agents leave with their callers. */
  #leaveAll(): Promise<SessionPlace | undefined>[] {
    const running = this.#handles
      .filter((handle) => handle instanceof HostedSession)
      .filter((session) => session.running);
    return running
      .filter(({ frame }) => frame.depth === 0)
      .map(async (session) => {
        const { id: sessionId, descriptor, frame } = session;
        return (await session.leave()) ? { agent: descriptor.name, userId: frame.userId, sessionId } : undefined;
      });
  }

  #during(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  unfinished(): Promise<SessionPlace[]> {
    return findUnfinished(this.#approvalHost);
  }

  async recover(): Promise<Recovery> {
    const dead = await unattendedOf(this.#sources, this.#ownContext(), {});
    const worth = withoutDeadly(await this.unfinished(), dead, this.#warn);
    const { sessions, done } = recoverSessions(this.#approvalHost, worth);
    this.#during(done);
    await this.#background.wakeAll();
    return {
      sessions,
      get done() {
        return keepingProcess(done);
      },
    };
  }

  async submit(
    agent: string,
    input: string | SessionInput | readonly SessionInput[],
    options: SubmitOptions = {},
  ): Promise<SubmittedTurn> {
    return this.#background.submit(agent, input, options);
  }

  async work(options: WorkOptions = {}): Promise<Work> {
    checkWork(options);
    return this.#background.work(options);
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await keepingProcess(Promise.all(this.#underWay));
  }

  [held](): Record<string, number> {
    const handles = this.#handles.length;
    const { openSessions: asking } = this.#frameHost.confirmations;
    return { sessions: this.#open.size, handles, runs: this.#underWay.size, asking, ...this.approvals[held]() };
  }

  /**
   * An open handle of the session, the running one first; else a temporary one. Where something is to run it is one of its own, if
   * the session can be opened again: whoever has opened another one closes it when they like, and what runs on it ends with it.
   */
  async #borrow(agent: string, userId: string, sessionId: string, toRun = false): Promise<BorrowedSession> {
    const names = [undefined, agent].map((of) => standingOf(userId, sessionId, of));
    const open = names.flatMap((name) => this.#open.get(name)?.handles ?? []);
    const ours = open.filter((handle) => handle instanceof HostedSession);
    const handles = ours.filter((handle) => handle.descriptor.name === agent);
    const known = handles.find((handle) => handle.running) ?? handles[0];
    if (known && !(toRun && known.frame.isReopenable) && (known.running || (await isStillThere(known)))) {
      const lent = this.#lent.get(known);
      return lent ? lent.again() : { session: known, [Symbol.asyncDispose]: async () => {} };
    }
    // On behalf of nobody in particular: whose turns they are says the log.
    const session = await this.#openFor(agent, { sessionId }, userId, { id: userId }, known?.frame);
    // As it stands for whoever has it open: the tools that were decided on, under the mode that was set there.
    session.frame.ownMode ??= known?.frame.ownMode;
    const lent = new Lent(session, () => this.#lent.delete(session));
    this.#lent.set(session, lent);
    return lent.again();
  }
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
function standingOf(userId: string, id: string, agent: string | undefined, isPassing = false): string {
  const name = agent === undefined ? `${userId}/${id}` : `${userId}/${id}/${agent}`;
  return isPassing ? `${name}/passing` : name;
}
