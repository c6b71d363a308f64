import type {
  AgentCallContext,
  ArtifactAccess,
  AuthConfig,
  ConfirmationRequest,
  MemoryEntry,
  Principal,
  ToolUpdate,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson } from '../../contracts/index.ts';
import { checkConfirmation, cleanUpdate } from '../../gate/index.ts';
import type { EventActions } from '../log/index.ts';
import { noDelta, StateView } from '../log/index.ts';
import type { ContextServices } from '../services/index.ts';
import { checkAuthConfig, secretsIn, withoutSecrets } from '../services/index.ts';
import type { AgentNames, InvocationInfo } from './invocation-info.ts';

/** What contexts of hooks and handlers ask of the agent's activation that they belong to. */
export interface Activity {
  readonly agent: { readonly name: string };
  readonly agentPath: readonly string[];
  readonly signal: AbortSignal;
  readonly place: { readonly tree: AgentNames };
  readonly invocation: InvocationInfo & { readonly services: ContextServices; requesterOf(turnId: string): Principal };
  /** Layers of state below a context's own writes, newest first. */
  stateLayers(): Readonly<Record<string, unknown>>[];
  toolUpdate(callId: string, update: ToolUpdate): void;
}

/** What a callback may read and do; its writes are committed with the event that follows. */
export class CallbackContext {
  readonly #agent: Activity;
  #state: StateView | undefined;

  constructor(agent: Activity) {
    this.#agent = agent;
  }

  /** Made when somebody looks: most contexts are made for nobody. */
  get state(): StateView {
    this.#state ??= new StateView({}, () => this.#agent.stateLayers());
    return this.#state;
  }

  get invocation(): InvocationInfo {
    return this.#agent.invocation;
  }

  get agentName(): string {
    return this.#agent.agent.name;
  }

  get agentPath(): readonly string[] {
    return this.#agent.agentPath;
  }

  get sessionId(): string {
    return this.#agent.invocation.sessionId;
  }

  get sessionUid(): string | undefined {
    return this.#agent.invocation.sessionUid;
  }

  get userId(): string {
    return this.#agent.invocation.userId;
  }

  /** On whose behalf the turn was begun. */
  get principal(): Principal {
    return this.#agent.invocation.principal;
  }

  get signal(): AbortSignal {
    return this.#agent.signal;
  }

  /** Fires when the run, or this branch of it, is to end. */
  get runSignal(): AbortSignal {
    return this.#agent.signal;
  }

  /** What was written so far. */
  get delta(): Record<string, unknown> {
    return this.#state?.delta ?? noDelta;
  }

  searchMemory(query: string): Promise<MemoryEntry[]> {
    return this.#agent.invocation.services.searchMemory(query);
  }
}

/** What the runtime does with a handler's signals. */
export interface ToolEffects {
  confirmation?: ConfirmationRequest;
  credential?: AuthConfig;
  escalate?: true;
  skipSummarization?: true;
  transferToAgent?: string;
}

/** What somebody wants done once a call is answered; undefined: nothing. */
export type CallSignals = Pick<Partial<EventActions>, 'escalate' | 'skipSummarization' | 'transferToAgent'>;

/** The signals among effects. */
export function signalsOf({ escalate, skipSummarization, transferToAgent }: ToolEffects): CallSignals | undefined {
  if (!escalate && !skipSummarization && transferToAgent === undefined) return undefined;
  return {
    ...(escalate ? { escalate } : {}),
    ...(skipSummarization ? { skipSummarization } : {}),
    ...(transferToAgent === undefined ? {} : { transferToAgent }),
  };
}

/** A call that a context is for; of an earlier turn, where it was left open. */
export interface CallOfTool {
  readonly id: string;
  readonly name: string;
  readonly turnId?: string;
}

interface AboutCall {
  isHooks?: boolean;
  toolSource?: string | undefined;
  wasAsked?: boolean;
}

/** What a handler and the hooks around it are given. */
export class ToolContext implements AgentCallContext<never> {
  readonly callId: string;
  readonly toolName: string;
  readonly state: StateView;
  readonly confirmation?: { confirmed: boolean; payload?: unknown };
  /** Where the tool comes from, as the gate calls it. */
  readonly toolSource: string | undefined;
  /** A person has let it run. */
  readonly wasAsked: boolean;
  readonly effects: ToolEffects = {};
  readonly artifactDelta: Record<string, number> = {};
  readonly #agent: Activity;
  readonly #isHooks: boolean;
  readonly #turnId: string | undefined;
  /** Of the credentials that this call was given. */
  #secrets: readonly string[] = none;
  #hasEnded = false;
  #controller: AbortController | undefined;
  #cancelled: unknown;
  #stopFollowing: (() => void) | undefined;

  constructor(
    agent: Activity,
    call: CallOfTool,
    confirmation?: { confirmed: boolean; payload?: unknown },
    about: AboutCall = {},
  ) {
    this.#agent = agent;
    this.#isHooks = about.isHooks === true;
    this.callId = call.id;
    this.toolName = call.name;
    this.toolSource = about.toolSource;
    this.wasAsked = about.wasAsked === true || confirmation !== undefined;
    this.#turnId = call.turnId;
    this.state = new StateView({}, () => agent.stateLayers());
    if (confirmation) this.confirmation = confirmation;
  }

  /** Made when a handler asks for it: most never do. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      const parent = this.#agent.signal;
      this.#controller = controller;
      if (this.#cancelled !== undefined) controller.abort(this.#cancelled);
      else if (parent.aborted) controller.abort(parent.reason);
      else {
        const follow = () => controller.abort(parent.reason);
        parent.addEventListener('abort', follow, { once: true });
        this.#stopFollowing = () => parent.removeEventListener('abort', follow);
      }
    }
    return this.#controller.signal;
  }

  /** Fires when the run, or this branch of it, is to end; `signal` fires when this call is to end alone, too. */
  get runSignal(): AbortSignal {
    return this.#agent.signal;
  }

  /** A context for hooks before the handler. */
  static ofHooks(agent: Activity, call: CallOfTool, toolSource?: string): ToolContext {
    return new ToolContext(agent, call, undefined, { isHooks: true, toolSource });
  }

  /** The activation that a handler's context belongs to; undefined for anything else. */
  static activityOf(context: unknown): Activity | undefined {
    return typeof context === 'object' && context !== null && #agent in context ? context.#agent : undefined;
  }

  /** Ends this call alone. */
  cancel(reason: unknown): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Detaches from the run's signal. */
  dispose(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  get deps(): never {
    return this.#agent.invocation.deps as never;
  }

  get sessionId(): string {
    return this.#agent.invocation.sessionId;
  }

  get sessionUid(): string | undefined {
    return this.#agent.invocation.sessionUid;
  }

  get userId(): string {
    return this.#agent.invocation.userId;
  }

  get principal(): Principal {
    const { invocation } = this.#agent;
    return invocation.requesterOf(this.#turnId ?? invocation.turnId);
  }

  get agentPath(): readonly string[] {
    return this.#agent.agentPath;
  }

  get agentName(): string {
    return this.#agent.agent.name;
  }

  get invocation(): InvocationInfo {
    return this.#agent.invocation;
  }

  get artifacts(): ArtifactAccess {
    return this.#agent.invocation.services.artifacts(this.artifactDelta);
  }

  progress(update: ToolUpdate): void {
    if (!this.#agent.signal.aborted) this.#agent.toolUpdate(this.callId, this.withoutSecrets(cleanUpdate(update)));
  }

  requestConfirmation(request: ConfirmationRequest): void {
    if (this.#hasEnded) throw tooLate('requestConfirmation');
    checkConfirmation(request);
    this.effects.confirmation = copyJson(request, 'requestConfirmation');
  }

  requestCredential(config: AuthConfig): void {
    if (this.#hasEnded || this.#isHooks) throw tooLate('requestCredential');
    this.effects.credential = checkAuthConfig(config);
  }

  async getAuthResponse(key: string = this.toolName): Promise<unknown> {
    const credential = await this.#agent.invocation.services.credentials.load(key);
    this.#secrets = [...this.#secrets, ...secretsIn(credential)];
    return credential;
  }

  /** The handler has said what it had to say: a question now would have it run twice. */
  ended(): void {
    this.#hasEnded = true;
  }

  get hasSecrets(): boolean {
    return this.#secrets.length > 0;
  }

  /** What goes into log and stream, without the credentials that this call was given. */
  withoutSecrets<T>(value: T): T {
    return withoutSecrets(value, this.#secrets);
  }

  escalate(): void {
    this.effects.escalate = true;
  }

  skipSummarization(): void {
    this.effects.skipSummarization = true;
  }

  transferTo(agentName: string): void {
    if (!this.#agent.place.tree.find(agentName)) {
      throw new CoxswainError('NOT_FOUND', 'E_AGENT_UNKNOWN', `there is no agent ${JSON.stringify(agentName)} here`);
    }
    this.effects.transferToAgent = agentName;
  }

  searchMemory(query: string): Promise<MemoryEntry[]> {
    return this.#agent.invocation.services.searchMemory(query);
  }
}

const none: readonly string[] = [];

function tooLate(what: string): CoxswainError {
  const message = `${what} is for a handler while it runs: its call runs again once there is an answer`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', message);
}
