import { keepingProcess, localTime, warnWith } from '../base/index.ts';
import type {
  AgentDescriptor,
  AgentSource,
  HostContext,
  HostJournal,
  PermissionMode,
  Principal,
  SessionInput,
  SessionPlace,
  SessionProvider,
} from '../contracts/index.ts';
import { assertSafeId, CoxswainError, storeGiven } from '../contracts/index.ts';
import type { AuditEntry } from '../session/index.ts';
import { auditOf, checkPrincipal, guardedTelemetry, MemoryJournal } from '../session/index.ts';
import type { AgentHost } from './agent-host.ts';
import type { ApprovalHost, Recovery } from './approvals/index.ts';
import { findUnfinished, HostApprovals, recoverSessions } from './approvals/index.ts';
import type { Schedules, SubmitOptions, SubmittedTurn, Webhooks, Work, WorkOptions } from './background/index.ts';
import { Background, unattendedOf, withoutDeadly } from './background/index.ts';
import type { FrameHost } from './frame/index.ts';
import type { HostedSession } from './hosted/index.ts';
import { OpenSessions, openSessionName } from './open-sessions.ts';
import { Confirmations, RunTimeQuestions } from './questions/index.ts';
import { allSessions, sessionsInTurn, storedSessions, waitingSessions } from './stored-sessions.ts';
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
import { HostToolRegistry, subagentOf } from './tools/index.ts';
import { journalOf } from './witness/index.ts';

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
  readonly #open: OpenSessions;
  readonly #frameHost: FrameHost;
  readonly #approvalHost: ApprovalHost;
  /** Runs that the host goes on with by itself. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #background: Background;
  readonly #entrance: Entrance;
  readonly #warn: (message: string, error?: unknown) => void;
  /** What is noted of sessions whose executor is not believed. */
  readonly #journal: HostJournal;

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
    const tools = new HostToolRegistry(options.tools ?? [], options.toolProviders ?? [], this.#warn);
    this.#entrance = new Entrance(options.admission);
    const host: ApprovalHost = {
      openSessions: (scope) => waitingSessions(this.#sources, this.#ownContext(), scope),
      openTurns: () => sessionsInTurn(this.#sources, this.#ownContext()),
      allSessions: async (page) => allSessions(this.sessions(), page),
      storedDecisions: async (query) => this.sessions().decided?.(query),
      borrow: (...place) => this.#open.borrow(...place),
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
        leaveAll: () => this.#open.leaveAll(),
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
        if (expiresAt !== undefined) void this.#background.lookAt(place, new Date(localTime(Date.parse(expiresAt))));
      },
      answered: ({ userId }, callId) => this.approvals.changed(userId, callId),
      rested: ({ rootAgent: agent, userId, root: sessionId }) => {
        void this.#background.outcomes?.rested({ agent, userId, sessionId });
      },
      forget: (name, place, shared) => {
        this.#open.forget(name, place, shared);
        const { ephemeral, caller, rootAgent, userId, root } = place;
        if (ephemeral && !caller) void this.approvals.sessionDeleted([rootAgent], userId, root);
      },
      openSubagent: (...subagent) => this.#open.openSubagent(...subagent),
    };
    this.#open = new OpenSessions({
      options,
      sources: this.#sources,
      tools,
      frameHost: this.#frameHost,
      journal: this.#journal,
      context: (...whose) => this.#context(...whose),
      warn: this.#warn,
    });
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
    const session = await this.#open.open(agent, options, userId, principal ?? { id: userId });
    try {
      await session.admit(principal, options.permissionMode);
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
    return session;
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
      this.#frameHost.confirmations.forget(openSessionName(whose, sessionId, undefined));
      // What was said always in it ends with it.
      for (const agent of this.#sources.keys()) {
        this.#frameHost.confirmations.forget(openSessionName(whose, sessionId, agent));
        this.#frameHost.remembered.forget({ userId: whose, agent, sessionId });
      }
      await this.#journal.forget({ app: this.#options.app, userId: whose, sessionId });
      await this.approvals.sessionDeleted(this.#sources.keys(), whose, sessionId);
    });
  }

  async close(): Promise<void> {
    // Nothing new is begun, and what runs ends with its session.
    const background = this.#background.close();
    await this.#open.close();
    await background;
    // What was closed with it has come to rest.
    await this.#background.outcomes?.settled();
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
    const handles = this.#open.handles.length;
    const { openSessions: asking } = this.#frameHost.confirmations;
    return { sessions: this.#open.size, handles, runs: this.#underWay.size, asking, ...this.approvals[held]() };
  }
}
