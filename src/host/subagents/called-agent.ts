import type { AgentEvent, AnyTool, ReportedRequest, Usage } from '../../contracts/index.ts';
import type { CalledAgent, CallersStream, Handle } from '../frame/index.ts';
import type { HostTool, Subagent } from '../tools/index.ts';
import { callOf } from './subagent-calls.ts';
import { SubagentEvents } from './subagent-events.ts';
import { subagentThread } from './subagent-session.ts';
import type { SubagentSessions } from './subagent-sessions.ts';
import type { SubagentWork } from './subagent-work.ts';

/** The sub-agent of one call, as its caller's session uses it. */
export class SubagentOfCall implements CalledAgent {
  readonly agent: Subagent;
  readonly #request: ReportedRequest;
  readonly #sessions: SubagentSessions;
  readonly #work: SubagentWork;

  constructor(agent: Subagent, request: ReportedRequest, sessions: SubagentSessions, work: SubagentWork) {
    this.agent = agent;
    this.#request = request;
    this.#sessions = sessions;
    this.#work = work;
  }

  get callId(): string {
    return callOf(this.#request);
  }

  get threadId(): string {
    return subagentThread(this.#request);
  }

  /** Its session outlives processes. */
  get isKept(): boolean {
    return this.agent.descriptor.capabilities.includes('resume');
  }

  get place(): CalledAgent['place'] {
    const { name: agent } = this.agent.descriptor;
    const sessionId = this.isKept ? this.#sessions.idOf(this.#request) : undefined;
    return sessionId === undefined ? undefined : { agent, sessionId };
  }

  get isResumable(): boolean {
    if (!this.#request.started || this.#sessions.isLost(this.callId)) return false;
    return this.#sessions.opened(this.callId) !== undefined || this.isKept;
  }

  bound(hostTool: HostTool, stream: CallersStream): HostTool {
    const { tool } = hostTool;
    const execute: AnyTool['execute'] = (args, { signal }) =>
      this.#work.start(this.agent, { request: this.#request, args, stream, signal });
    return { ...hostTool, tool: { ...tool, timeoutMs: tool.timeoutMs ?? 0, execute } };
  }

  make(): Promise<unknown> | undefined {
    return this.isKept ? this.#work.make(this.agent, this.#request) : undefined;
  }

  async session(): Promise<Handle | undefined> {
    return this.isResumable ? this.#sessions.openIfThere(this.agent, this.#request) : undefined;
  }

  async open(): Promise<ReportedRequest[] | undefined> {
    const open = await (await this.session())?.pending();
    return open && open.length > 0 ? open : undefined;
  }

  waitsFor(): Promise<ReportedRequest[] | undefined> {
    return this.#work.waitsFor(this.callId);
  }

  async quiet(): Promise<Usage | undefined> {
    await this.#work.ended(this.callId);
    return this.#work.used.get(this.callId)?.usage;
  }

  async look(): Promise<{ readonly session: Handle; readonly isOpen: boolean } | undefined> {
    if (!this.isKept && !this.agent.keepsLogs) return undefined;
    const running = await this.#sessions.running(this.callId);
    const session = running ?? (await this.#sessions.stored(this.agent, this.#request));
    return session && { session, isOpen: running !== undefined };
  }

  async *history(streamId: string): AsyncIterableIterator<AgentEvent> {
    const found = await this.look();
    if (!found) return;
    const { session: child, isOpen } = found;
    const shown = new SubagentEvents();
    try {
      for await (const event of child.history()) {
        const moved = shown.moved(event, this.#request, streamId);
        if (moved) yield moved;
      }
    } finally {
      if (!isOpen) await child[Symbol.asyncDispose]();
    }
  }

  /** Ends it where its call was closed while no process saw to it. */
  async endClosed(): Promise<void> {
    if (this.isKept) await this.#sessions.endStored(this.agent, this.#request);
  }
}
