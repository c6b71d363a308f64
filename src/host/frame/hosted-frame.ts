import type {
  AgentErrorEvent,
  AgentSession,
  ApprovalQuestion,
  ApproverRule,
  CallInfo,
  ExecutorSession,
  LifecycleInterceptor,
  PermissionMode,
  PolicyEvaluator,
  Principal,
  ReportedRequest,
  SessionInput,
  ToolDescriptor,
  ToolResult,
  TurnTerms,
} from '../../contracts/index.ts';
import { asksNobody, callIdOf } from '../../contracts/index.ts';
import type { CapOptions } from '../../gate/index.ts';
import { boundedResult, excludedBy, frozenPrincipal, subagentSessionId } from '../../gate/index.ts';
import type { LazyMap } from '../../session/index.ts';
import { isPipeable, lendsArtifacts, nameOfPrincipal, newId, resultArtifacts } from '../../session/index.ts';
import type { PolicyRule } from '../policy/index.ts';
import type { Confirmations, JudgeOptions, RunTimeQuestions } from '../questions/index.ts';
import { Judge } from '../questions/index.ts';
import type {
  Entrance,
  HostOptions,
  PresentAgent,
  Remembered,
  RememberedFor,
  RememberedRules,
} from '../terms/index.ts';
import { firstOf, forBoth, onBehalfOf, presentAgent, sessionPolicy, stricterMode } from '../terms/index.ts';
import type { Grounds, HostTool, Subagent } from '../tools/index.ts';
import { subagentOf } from '../tools/index.ts';
import type { Claimed, SessionJournal } from '../witness/index.ts';
import { claimed } from '../witness/index.ts';
import type { Handle } from './handle.ts';

/** What all handles of a session know of it. */
export interface SharedStanding {
  /** Those that are open in this host. */
  readonly handles: Set<Handle>;
  /** People who have opened it, by {@link nameOfPrincipal}, with the roles that they had last. */
  readonly present: LazyMap<string, Principal>;
  /** What the newest turn was begun with, for executors that keep no terms. */
  begun: TurnTerms | undefined;
  /** Why the newest stream could not say in the log how it has ended; undefined: it has. */
  lost?: AgentErrorEvent | undefined;
  /** Runs a stream where watchers see it; resolves when it has ended. */
  show?: ((input: SessionInput) => Promise<void>) | undefined;
  /** What the host has noted of it, by agent, where its executor is not believed. */
  readonly journals: LazyMap<string, SessionJournal>;
}

/** The call that a session is for. */
export type CalledBy = NonNullable<TurnTerms['calledBy']>;

/** Whose session it is, and below which. */
export interface SessionOwnership {
  userId: string;
  principal: Principal;
  ephemeral: boolean | undefined;
  /** Session and agent that a person has opened. */
  root: string;
  rootAgent: string;
  caller?: HostedFrame;
  /** The caller's call that it works for. */
  calledBy?: CalledBy | undefined;
  /** The mode of the caller's turn. */
  callersMode?: () => PermissionMode | undefined;
}

/** What all sessions of a host have of it. */
export interface FrameHost {
  readonly options: HostOptions;
  readonly base: PolicyEvaluator;
  readonly remembered: RememberedRules;
  readonly confirmations: Confirmations;
  readonly runTimeQuestions: RunTimeQuestions;
  readonly entrance: Entrance;
  readonly warn: (message: string, error?: unknown) => void;
  announce(place: SessionOwnership, question: ReportedRequest): void;
  /** Something about a call was answered. */
  answered(place: SessionOwnership, callId: string): void;
  /** Nothing runs of a session's turn any more: it has ended, or waits. */
  rested(place: SessionOwnership): void;
  /** A session's last handle was closed. */
  forget(name: string, place: SessionOwnership, shared: SharedStanding): void;
  openSubagent(
    agent: Subagent,
    request: ReportedRequest,
    calledBy: CalledBy,
    create: boolean,
    place: SessionOwnership,
  ): Promise<Handle>;
}

/** One handle of a session. */
export interface FramedSession {
  agent: string;
  /** Its executor is not this package's runtime. */
  isForeign: boolean;
  inner: ExecutorSession;
  /** Of the session among all of its host. */
  name: string;
  shared: SharedStanding;
  tools: ReadonlyMap<string, HostTool>;
  descriptors: readonly ToolDescriptor[];
}

/** What a hosted session is given by its host. A class: thousands are open at once, and each closure has its price. */
export class HostedFrame implements JudgeOptions {
  /** Set where the session was opened, or by an update that the inner session does not keep. */
  ownMode: PermissionMode | undefined;
  /** Whose frame it is. */
  session: Handle | undefined;
  readonly shared: SharedStanding;
  readonly tools: ReadonlyMap<string, HostTool>;
  readonly descriptors: readonly ToolDescriptor[];
  /** Agents above this one. */
  readonly depth: number;
  /** One of the tools is an agent. */
  readonly hasSubagents: boolean;
  readonly #host: FrameHost;
  readonly #place: SessionOwnership;
  /** What the host knows the executor by. */
  readonly agent: string;
  readonly #inner: ExecutorSession;
  readonly #name: string;
  readonly #isForeign: boolean;
  #uid: string | undefined;
  #judge: Judge | undefined;
  #policy: { rules: Remembered; mode: PermissionMode | undefined; policy: PolicyEvaluator } | undefined;

  constructor(host: FrameHost, place: SessionOwnership, framed: FramedSession) {
    this.#host = host;
    this.#place = place;
    this.agent = framed.agent;
    this.#inner = framed.inner;
    this.#name = framed.name;
    this.#isForeign = framed.isForeign;
    this.shared = framed.shared;
    this.tools = framed.tools;
    this.descriptors = framed.descriptors;
    this.depth = (place.caller?.depth ?? -1) + 1;
    this.hasSubagents = false;
    for (const { tool } of framed.tools.values()) if (subagentOf(tool)) this.hasSubagents = true;
  }

  get options(): HostOptions {
    return this.#host.options;
  }

  /** Who may begin a turn here, beside those that run. */
  get entrance(): Entrance {
    return this.#host.entrance;
  }

  /** Of a sub-agent: the call that it works for. */
  get calledBy(): TurnTerms['calledBy'] {
    return this.#place.calledBy;
  }

  /** Whoever opened this handle. */
  get principal(): Principal {
    return this.#place.principal;
  }
  get warn(): (message: string, error?: unknown) => void {
    return this.#host.warn;
  }
  get base(): PolicyEvaluator {
    return this.#host.base;
  }
  get policyTimeoutMs(): number | undefined {
    return this.options.policyTimeoutMs;
  }
  /**
   * A result as large as a model is given it, whoever made it: all results that this host lets into the session, which may
   * lend its artifacts for the call `of` whose result this becomes a part of. Once the signal fires, nobody waits for what
   * is kept of it.
   */
  bounded(
    callId: string | undefined,
    result: ToolResult,
    beside: Pick<CapOptions, 'signal' | 'note'> = {},
    of = callId,
  ): ToolResult | Promise<ToolResult> {
    const inner = this.#inner;
    const artifacts = of !== undefined && lendsArtifacts(inner) ? inner[resultArtifacts](of) : undefined;
    return boundedResult(this.options, callId, result, artifacts && (() => artifacts), beside);
  }

  /**
   * What another executor runs is its own affair. The turn of an agent that is called is a part of its caller's: what that one's
   * people have approved, they have approved of that version.
   */
  get present(): PresentAgent | undefined {
    if (this.#isForeign) return undefined;
    const { caller } = this.#place;
    if (caller) return caller.present;
    return presentAgent(this.#inner.descriptor, this.options, (tool) => subagentOf(tool)?.descriptor);
  }

  get approvers(): ApproverRule | undefined {
    return this.options.approvers;
  }

  get hookTimeoutMs(): number | undefined {
    return this.options.hookTimeoutMs;
  }

  get hooks(): LifecycleInterceptor | undefined {
    return this.options.hooks;
  }
  /** Whose session it is. */
  get userId(): string {
    return this.#place.userId;
  }
  /** See `CallInfo`. What another executor says of its sessions' beginnings is not believed: a handle is all that is known. */
  get sessionUid(): string | undefined {
    if (isPipeable(this.#inner)) return this.#inner.uid;
    this.#uid ??= newId();
    return this.#uid;
  }
  /** Of the session among all of its host. */
  get name(): string {
    return this.#name;
  }
  get confirmations(): Confirmations {
    return this.#host.confirmations;
  }

  get runTimeQuestions(): RunTimeQuestions {
    return this.#host.runTimeQuestions;
  }
  /** Made when something is to be judged. */
  get judge(): Judge {
    this.#judge ??= new Judge(this);
    return this.#judge;
  }

  isOfAnother({ agentPath: [root] }: ReportedRequest): boolean {
    return this.depth === 0 && this.keepsLog && root !== this.#inner.descriptor.name;
  }

  /** Whoever opens it again finds what is here. */
  get isReopenable(): boolean {
    if (this.session?.subagents?.holdsInMemory) return false;
    return this.keepsLog && !this.#place.ephemeral && this.#inner.descriptor.capabilities.includes('resume');
  }

  get keepsLog(): boolean {
    return isPipeable(this.#inner);
  }

  /** Of the run that is live, or else of the host. */
  get deps(): unknown {
    return this.running()?.liveRun?.options.deps ?? this.options.deps;
  }

  /** What a turn's own mode comes to: a session's holds too if it is stricter; the host's where neither has one. */
  modeOf(turns: PermissionMode | undefined): PermissionMode | undefined {
    const { callersMode } = this.#place;
    // A sub-agent may do what its caller may.
    if (callersMode) return stricterMode(turns, callersMode());
    const inner = this.#inner;
    const kept = stricterMode(this.ownMode, isPipeable(inner) ? inner.permissionMode : undefined);
    return stricterMode(turns, kept) ?? this.options.permissionMode;
  }

  /** The host's tool that a request is for: one of that name that the agent runs itself is another. */
  toolOf({ name, handledBy }: Pick<ReportedRequest, 'name' | 'handledBy'>): HostTool | undefined {
    return name === undefined || handledBy === 'agent' ? undefined : this.tools.get(name);
  }

  requesterOf({ requestedBy, [claimed]: claim }: Claimed): Principal {
    if (claim !== undefined) return this.principal;
    return requestedBy ?? this.shared.begun?.principal ?? this.principal;
  }

  /** Which call it is and for whom, as what its tool's author says of it is told. */
  callInfo(request: ReportedRequest, callId: string, signal: AbortSignal = new AbortController().signal): CallInfo {
    return {
      callId,
      sessionId: this.#inner.id,
      sessionUid: this.sessionUid,
      userId: this.userId,
      principal: frozenPrincipal(this.requesterOf(request)),
      agentPath: request.agentPath,
      signal,
      deps: this.deps,
    };
  }

  /** On what grounds a request is decided. */
  grounds(request: ReportedRequest): Grounds {
    const mode = this.modeOf(this.#turnsMode(request));
    const requester = this.requesterOf(request);
    const policy = forBoth(this.#policyIn(mode), (request as Claimed)[claimed] ?? undefined);
    return {
      ...onBehalfOf(requester, this.shared.present.get(nameOfPrincipal(requester)), policy),
      permissionMode: mode,
      interactive: (this.options.interactive ?? true) && !asksNobody(mode),
    };
  }

  /** The base and what is remembered, before any mode. */
  get rules(): PolicyEvaluator {
    return sessionPolicy(this.base, this.#host.remembered.of(this.#scope), undefined);
  }

  excluded(mode: PermissionMode | undefined): readonly string[] | Promise<readonly string[]> {
    const scope = { agent: this.agent, ...(mode === undefined ? {} : { permissionMode: mode }) };
    return excludedBy(this.base, scope, this.policyTimeoutMs);
  }

  async remember(option: ApprovalQuestion['approval']['remember'][number]): Promise<void> {
    const first = option.scope === 'session' ? await firstOf(this.#rootSession) : undefined;
    this.#host.remembered.add(this.#scope, option, first);
  }

  /** The session that a person has opened. */
  get #rootSession(): AgentSession {
    const { caller } = this.#place;
    return caller ? caller.#rootSession : this.#inner;
  }

  rememberedFor(tool: string): readonly PolicyRule[] {
    const { user, session } = this.#host.remembered.of(this.#scope);
    return [...session, ...user].filter((rule) => rule.tool === tool);
  }

  /** A question is open. */
  announce(question: ReportedRequest): void {
    this.#host.announce(this.#place, question);
  }

  answered(requestId: string): void {
    this.#host.answered(this.#place, callIdOf(requestId));
  }

  /** The turn has ended, or waits, whoever ran it here. */
  rested(): void {
    if (this.depth === 0 && !this.#place.ephemeral) this.#host.rested(this.#place);
  }

  /** The handle of this session that runs it, in this host. */
  running(): Handle | undefined {
    for (const handle of this.shared.handles) if (handle.running) return handle;
    return undefined;
  }

  /** Something was answered: all handles of this session look again. */
  wakeAll(): void {
    for (const handle of this.shared.handles) handle.wake();
  }

  closed(): void {
    const { shared } = this;
    if (this.session) shared.handles.delete(this.session);
    if (shared.handles.size > 0) return;
    this.#host.forget(this.#name, this.#place, shared);
    const { ephemeral, caller } = this.#place;
    // Nobody can come back to it: whoever opens one of this id opens another.
    const isOver = ephemeral || !this.#inner.descriptor.capabilities.includes('resume');
    if (isOver && !caller) this.#host.remembered.forget(this.#scope);
  }

  /** A sub-agent that was started is gone on with: it keeps its own log. */
  goesOn(request: ReportedRequest): boolean {
    return this.session?.subagents?.of(request)?.isResumable ?? false;
  }

  holds(): boolean {
    return this.running()?.liveRun?.hold.isHeld === true;
  }

  /** The call that an agent which is called as a tool works for. */
  #calledBy(request: ReportedRequest, callersId: string): CalledBy {
    const { root: sessionId, rootAgent } = this.#place;
    const root = { agent: rootAgent, sessionId };
    const call = { sessionId: callersId, callId: request.callId ?? request.requestId, root };
    // Such an executor names its sessions and calls itself, as another one may.
    return this.#isForeign ? { ...call, agent: this.agent } : call;
  }

  /** Id of its session, where that is kept; undefined: it ends with this one. */
  subagentsId(request: ReportedRequest, callersId: string): string | undefined {
    if (this.#place.ephemeral) return undefined;
    const { sessionId, callId, agent } = this.#calledBy(request, callersId);
    return subagentSessionId(this.#place.root, sessionId, callId, agent);
  }

  /** The session of an agent that is called as a tool: the same at each call. */
  openSubagent(agent: Subagent, request: ReportedRequest, callersId: string, create: boolean): Promise<Handle> {
    const calledBy = this.#calledBy(request, callersId);
    return this.#host.openSubagent(agent, request, calledBy, create, {
      ...this.#place,
      principal: this.requesterOf(request),
      caller: this,
      calledBy,
      // What has tightened since the sub-agent was opened counts, too.
      callersMode: () => this.modeOf(stricterMode(this.#turnsMode(request), this.shared.begun?.permissionMode)),
    });
  }

  #turnsMode({ requestedBy, permissionMode, [claimed]: claim }: Claimed): PermissionMode | undefined {
    return requestedBy || claim !== undefined ? permissionMode : this.shared.begun?.permissionMode;
  }

  get #scope(): RememberedFor {
    const { userId, rootAgent: agent, root: sessionId, ephemeral } = this.#place;
    const root = this.#rootSession;
    return { userId, agent, sessionId, ephemeral, uid: isPipeable(root) ? (root.uid ?? '') : undefined };
  }

  /** The base, what is remembered and the mode, in one. */
  #policyIn(mode: PermissionMode | undefined): PolicyEvaluator {
    const rules = this.#host.remembered.of(this.#scope);
    const known = this.#policy;
    if (known && known.mode === mode && known.rules.user === rules.user && known.rules.session === rules.session) {
      return known.policy;
    }
    const policy = sessionPolicy(this.base, rules, mode);
    this.#policy = { rules, mode, policy };
    return policy;
  }
}
