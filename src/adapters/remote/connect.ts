import type {
  AgentDescriptor,
  AgentSource,
  AttachResult,
  CoxswainError,
  InitializeResult,
  Principal,
  SessionProvider,
} from '../../contracts/index.ts';
import { copyJson, isCoxswainError } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import { assertEndpoint } from './endpoint.ts';
import { Link } from './link.ts';
import type { QuestionPlace, ReportedApproval } from './linked-approvals.ts';
import { LinkedApprovals } from './linked-approvals.ts';
import { LinkedSession } from './linked-session.ts';
import type { ConnectOptions, LinkState, RemoteOpenOptions } from './options.ts';
import type { FoundSessions, RemoteHost, RemoteOperator, SessionQuery } from './remote-host.ts';
import { remoteOperator, remoteProvider } from './remote-provider.ts';
import { remoteInput } from './remote-shape.ts';

/**
 * Connects to a server of agents, over WebSocket (`ws:`, `wss:`) or plain HTTP (`http:`, `https:`). What it gives are AgentSessions; a lost connection is made again by itself.
 * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `UNAUTHENTICATED / E_UNAUTHENTICATED`, `PERMISSION_DENIED /
 *   E_FORBIDDEN`, `RESOURCE_EXHAUSTED / E_RATE_LIMIT`, `UNAVAILABLE / E_CONNECTION_LOST`
 * @example
 * ```ts
 * import { run } from 'coxswain';
 * import { connect } from 'coxswain/client';
 *
 * const remote = await connect('ws://127.0.0.1:4747', { token: 'secret' });
 * const session = await remote.open('clerk');
 * console.log((await run(session, 'Where is order 7?')).text);
 * await remote.close();
 * ```
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteHost> {
  remoteInput.connect(url, options);
  assertEndpoint(url);
  const client = new Client(url, options);
  await client.begin();
  return client;
}

class Client implements RemoteHost {
  readonly approvals: LinkedApprovals;
  readonly #link: Link;
  readonly #operator: RemoteOperator;
  readonly #sessions = new Map<string, LinkedSession>();
  readonly #states = new Set<(state: LinkState, reason?: string) => void>();
  #init: InitializeResult | undefined;

  constructor(url: string, options: ConnectOptions) {
    const onState = (state: LinkState, reason?: string) => {
      options.onState?.(state, reason);
      for (const changed of [...this.#states]) changed(state, reason);
    };
    this.#link = new Link(
      url,
      { ...options, onState },
      {
        notice: (method, params) => this.#notice(method, params),
        ready: (init, first) => this.#ready(init, first),
        failed: (error, isOwn) => this.#failed(error, isOwn),
      },
    );
    this.approvals = new LinkedApprovals(this.#link);
    this.#operator = remoteOperator(this.#link);
  }

  begin(): Promise<void> {
    return this.#link.open();
  }

  get state(): LinkState {
    return this.#link.state;
  }

  get serves(): 'host' | 'executor' {
    return this.#init?.serves ?? 'host';
  }

  get principal(): Principal {
    return this.#init?.principal ?? { id: '' };
  }

  get userId(): string {
    return nameOfPrincipal(this.principal);
  }

  get agents(): readonly AgentDescriptor[] {
    return this.#init?.agents ?? [];
  }

  get sources(): readonly AgentSource[] {
    return this.agents.map((descriptor) => ({
      descriptor,
      open: (ref) => this.open(descriptor.name, ref),
      sessions: () => this.sessions(descriptor.name),
    }));
  }

  get operator(): RemoteOperator | undefined {
    return this.#init?.capabilities.operator ? this.#operator : undefined;
  }

  async findSessions(query: SessionQuery = {}): Promise<FoundSessions> {
    remoteInput.find(query);
    return this.#link.request('session/find', { ...query });
  }

  async open(agent: string, options: RemoteOpenOptions = {}): Promise<LinkedSession> {
    remoteInput.open(agent, options);
    const { control = true, ...given } = copyJson(options, 'open: options');
    const isNew = given.sessionId === undefined && !given.snapshot;
    // Named here, so that asking again makes no second one.
    const ref = isNew ? { ...given, sessionId: crypto.randomUUID(), create: true } : given;
    let session: LinkedSession | undefined;
    const known = this.#sessions.get(ref.sessionId ?? '');
    const expecting = known?.expect() ? known : undefined;
    try {
      const at = await this.#link.request<AttachResult>(
        'session/open',
        // What was before is read when it is asked for.
        { ...ref, agent, control, history: false },
        {
          resend: !given.fork && !given.snapshot,
          // Its frames are right behind.
          take: (place) => {
            session = this.#taken(place, agent, control, expecting);
          },
        },
      );
      return session ?? this.#register(at, agent, control);
    } catch (error) {
      await expecting?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** One session has one place in the frames of a client. */
  #taken(at: AttachResult, agent: string, control: boolean, expecting: LinkedSession | undefined): LinkedSession {
    const known = this.#sessions.get(at.sessionId);
    return known && (known === expecting || known.expect())
      ? known.join(at.fencingToken)
      : this.#register(at, agent, control);
  }

  #register(at: AttachResult, agent: string, control: boolean): LinkedSession {
    const session = new LinkedSession(at, at.cursor, {
      agent,
      link: this.#link,
      control,
      closed: () => this.#sessions.delete(at.sessionId),
    });
    this.#sessions.set(at.sessionId, session);
    return session;
  }

  sessions(agent?: string): SessionProvider {
    remoteInput.agent(agent);
    return remoteProvider(this.#link, this, agent);
  }

  onState(changed: (state: LinkState, reason?: string) => void): () => void {
    const own: typeof changed = (state, reason) => changed(state, reason);
    this.#states.add(own);
    return () => this.#states.delete(own);
  }

  async close(): Promise<void> {
    this.#link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #notice(method: string, params: Record<string, unknown>): void {
    if (method === 'approvals/open') {
      this.approvals.see(params.approval as ReportedApproval);
      return;
    }
    if (method === 'approvals/changed') {
      this.approvals.changed(params.question as QuestionPlace);
      return;
    }
    this.#sessions.get(String(params.sessionId))?.notice(method, params);
  }

  async #ready(init: InitializeResult, first: boolean): Promise<void> {
    this.#init = init;
    if (first) return;
    await Promise.all([...this.#sessions.values()].map((session) => this.#resume(session)));
    await this.approvals.resume();
  }

  async #resume(session: LinkedSession): Promise<void> {
    try {
      await session.resume();
    } catch (error) {
      // The connection is gone again, or the server has no room yet: the next one tries again.
      if (!isCoxswainError(error) || error.retryable) throw error;
      session.fail(error);
    }
  }

  #failed(error: CoxswainError, isOwn: boolean): void {
    for (const session of [...this.#sessions.values()]) session.fail(error, isOwn);
    this.approvals.end(isOwn ? undefined : error);
  }
}
