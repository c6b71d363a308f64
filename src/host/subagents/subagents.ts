import type {
  AbortTarget,
  AgentEvent,
  AnyTool,
  PendingRequest,
  SessionInput,
  SteerData,
  StreamEndEvent,
  ToolResult,
  Usage,
} from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import { addUsage, joined, LazyMap, LazySet } from '../../session/index.ts';
import type { CalledAgents, CallersStream, Handle, Hosted } from '../frame/index.ts';
import { usageOfSubagent } from '../terms/index.ts';
import type { HostTool, Subagent } from '../tools/index.ts';
import { Suspended, subagentOf } from '../tools/index.ts';
import { callOf, namesOf } from './subagent-calls.ts';
import { ClosedCalls, closedRequest, SubagentEvents } from './subagent-events.ts';
import type { SubagentSession } from './subagent-session.ts';
import { subagentThread } from './subagent-session.ts';
import type { SubagentCall } from './subagent-stream.ts';
import { streamSubagent } from './subagent-stream.ts';
import { holderAmong, idsOf, ownerAmong, steeredAmong } from './subagent-tree.ts';
import { SubagentTurn } from './subagent-turn.ts';

/** The sub-agents that one hosted session has called: their sessions, their questions, their turns. */
export class Subagents implements CalledAgents {
  readonly #session: Hosted;
  readonly #children = new LazyMap<string, Promise<Handle>>();
  readonly #requests = new LazyMap<string, PendingRequest>();
  /** What sub-agents have used, by call. */
  readonly #used = new LazyMap<string, { turnId: string | undefined; readonly usage: Usage }>();
  readonly #working = new LazyMap<string, Promise<unknown>>();
  /** What was open when a call was left waiting, in the stream that runs now. */
  readonly #waiting = new LazyMap<string, string>();
  readonly #entered = new LazySet<string>();
  readonly #events = new SubagentEvents();
  #healing: Promise<void> | undefined;

  constructor(session: Hosted) {
    this.#session = session;
  }

  of(request: PendingRequest): Subagent | undefined {
    return request.kind === 'tool' ? subagentOf(this.#session.frame.toolOf(request)?.tool) : undefined;
  }

  /** A call of a sub-agent that was started and can be gone on with. */
  isResumable(request: PendingRequest): boolean {
    const agent = this.of(request);
    if (!agent || !request.started) return false;
    return this.#children.has(callOf(request)) || agent.descriptor.capabilities.includes('resume');
  }

  /** A new stream begins: whoever waited is looked at again. The calls of sub-agents that are open now. */
  async begin(
    inputs: readonly SessionInput[],
    { whilePending = 'cancel', [joined]: kept = [] }: JoiningOptions,
  ): Promise<PendingRequest[]> {
    this.#waiting.clear();
    this.#entered.clear();
    this.#events.begin();
    await this.heal();
    // The message will close their calls.
    if (whilePending === 'cancel' && inputs.some(({ kind }) => kind === 'message')) {
      await this.abortAll('a new message came', kept);
    }
    return (await this.#session.inner.pending()).filter((request) => this.of(request) && request.started);
  }

  /**
   * Once for each handle: ends what a process that died has left behind; reads what sub-agents have used before.
   */
  heal(): Promise<void> {
    this.#healing ??= this.#heal();
    return this.#healing;
  }

  /** Ends all sub-agents whose calls are open, but those of `kept`, so that their calls can be closed. */
  async abortAll(reason: string, kept: readonly string[] = []): Promise<void> {
    for (const request of await this.#session.inner.pending()) {
      if (kept.includes(callOf(request))) continue;
      const child = await this.within(request);
      await this.#working.get(callOf(request));
      await child?.abort({ reason });
    }
  }

  /** The caller's stream has begun: what happened before is shown now. */
  release(stream: CallersStream): void {
    this.#events.release(stream);
  }

  /** A stream is about to end: nothing is shown or written any more; those whose calls are closed end with it. */
  async finish(end: StreamEndEvent, before: readonly PendingRequest[]): Promise<StreamEndEvent> {
    await this.settled();
    await this.reap(before, end.reason);
    let sum: Usage = end.data.usage ?? {};
    for (const { turnId, usage } of this.#used.values()) if (turnId === end.turnId) sum = addUsage(sum, usage);
    return { ...end, data: { ...end.data, usage: sum } };
  }

  /** Those that run are on their way to an end: they write and show nothing any more, and what they closed is closed. */
  async settled(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  /** The tool with a handler that runs the sub-agent of one call; any other tool as it is. */
  bound(request: PendingRequest, hostTool: HostTool, stream: CallersStream): HostTool {
    const { tool } = hostTool;
    const agent = subagentOf(tool);
    if (!agent) return hostTool;
    const execute: AnyTool['execute'] = (args, { signal }) => this.#start(agent, { request, args, stream, signal });
    return { ...hostTool, tool: { ...tool, timeoutMs: tool.timeoutMs ?? 0, execute } };
  }

  /** What a waiting sub-agent waits for, as long as nothing has changed. */
  async waitsFor(request: PendingRequest): Promise<PendingRequest[] | undefined> {
    const before = this.#waiting.get(callOf(request));
    const child = await this.#children.get(callOf(request));
    if (before === undefined || !child) return undefined;
    const open = await child.pending();
    if (namesOf(open) === before) return open;
    this.#waiting.delete(callOf(request));
    return undefined;
  }

  /** What is open inside of a sub-agent that was called: it stands in the place of the call. */
  async openBelow(request: PendingRequest): Promise<PendingRequest[] | undefined> {
    const open = await (await this.within(request))?.pending();
    return open && open.length > 0 ? open : undefined;
  }

  /** The sub-agent's session in which, or below which, a request is open or was answered. */
  owner(requestId: string): Promise<Handle | undefined> {
    return ownerAmong(this.#open(), requestId);
  }

  /** Ids of the sessions of sub-agents that are open below this one. */
  sessionIds(): Promise<string[]> {
    return idsOf(this.#open());
  }

  /** The stream that runs now has shown this question of a sub-agent. */
  hasAsked(requestId: string): boolean {
    return this.#events.hasAsked(requestId);
  }

  /** The sub-agent of this call writes and shows nothing any more. */
  async quiet(callId: string): Promise<void> {
    await this.#working.get(callId);
  }

  /** What the sub-agent of a call has used; undefined for any other call. */
  usageOf(callId: string): Usage | undefined {
    return this.#used.get(callId)?.usage;
  }

  /** True: the target is a sub-agent's, and was aborted there. */
  async abort(target: AbortTarget): Promise<boolean> {
    const child = await holderAmong(this.#open(), target);
    await child?.abort(target);
    return child !== undefined;
  }

  /** The open call whose sub-agent has this thread for its own words. */
  async callOfThread(threadId: string): Promise<string | undefined> {
    for (const request of await this.#session.inner.pending()) {
      if (this.of(request) && subagentThread(request) === threadId) return callOf(request);
    }
    return undefined;
  }

  /** Undefined: the words are for no thread of a sub-agent. */
  async steer(data: SteerData): Promise<Awaited<ReturnType<Hosted['steer']>> | undefined> {
    if (data.threadId === undefined) return undefined;
    const child = await steeredAmong(this.#open(), data.threadId);
    return child?.steer(data);
  }

  /** Ends the sub-agents whose calls are closed, of those that were open before. */
  async reap(before: readonly PendingRequest[], reason: string): Promise<void> {
    const open = new Set((await this.#session.inner.pending()).map(callOf));
    for (const request of [...before, ...this.#requests.values()]) {
      const callId = callOf(request);
      if (open.has(callId)) continue;
      this.#requests.delete(callId);
      const child = await this.within(request);
      if (!child) continue;
      this.#children.delete(callId);
      await this.#working.get(callId);
      await child.abort({ reason });
      await child[Symbol.asyncDispose]();
    }
  }

  async #heal(): Promise<void> {
    const closed = new ClosedCalls((request) => this.of(request) !== undefined);
    for await (const event of this.#session.inner.events()) {
      closed.see(event);
      const known = usageOfSubagent(event);
      if (known) this.#used.set(known.callId, { turnId: event.turnId, usage: known.usage });
    }
    for (const request of closed.calls) await this.#end(request);
  }

  /** Ends the sub-agent of a call that is closed, if it is there. */
  async #end(request: PendingRequest): Promise<void> {
    const { frame, id } = this.#session;
    const agent = this.of(request);
    if (!agent?.descriptor.capabilities.includes('resume')) return;
    try {
      await using child = await frame.openSubagent(agent, request, id, false);
      await child.abort({ reason: 'its call was closed' });
    } catch (error) {
      // It was never made, or another process sees to it.
      if (isCoxswainError(error) && ['E_SESSION_NOT_FOUND', 'E_SESSION_BUSY'].includes(error.code)) return;
      frame.warn(`sub-agent ${agent.descriptor.name} could not be ended`, error);
    }
  }

  /** What the sub-agent of a call did, as a stream shows it; nothing for any other call. */
  async *history(call: Extract<AgentEvent, { type: 'tool_request' }>): AsyncIterableIterator<AgentEvent> {
    const request = closedRequest(call);
    const agent = this.of(request);
    if (!agent?.descriptor.capabilities.includes('resume')) return;
    const running = await this.#children.get(callOf(request));
    const child = running ?? (await this.#found(agent, request));
    if (!child) return;
    const shown = new SubagentEvents();
    try {
      for await (const event of child.history()) {
        const moved = shown.moved(event, request, call.streamId);
        if (moved) yield moved;
      }
    } finally {
      if (!running) await child[Symbol.asyncDispose]();
    }
  }

  async #found(agent: Subagent, request: PendingRequest): Promise<Handle | undefined> {
    try {
      return await this.#session.frame.openSubagent(agent, request, this.#session.id, false);
    } catch (error) {
      // It was never made: its call was denied, or waits.
      if (isCoxswainError(error) && error.code === 'E_SESSION_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async dispose(): Promise<void> {
    const children = [...this.#children.values()];
    this.#children.clear();
    for (const child of await Promise.allSettled(children)) {
      if (child.status === 'fulfilled') await child.value[Symbol.asyncDispose]();
    }
  }

  #start(agent: Subagent, call: SubagentCall): Promise<ToolResult> {
    const callId = callOf(call.request);
    const work = this.#run(agent, call);
    const ended = Promise.allSettled([work]);
    this.#working.set(callId, ended);
    void ended.then(() => this.#working.delete(callId));
    return work;
  }

  /**
   * Runs a sub-agent, or goes on with it, until it has a result.
   * @throws Suspended while somebody must answer first
   */
  async #run(agent: Subagent, call: SubagentCall): Promise<ToolResult> {
    const { request, stream } = call;
    const { frame } = this.#session;
    const { name, outputSchema } = agent.descriptor;
    if (frame.depth >= agent.maxDepth) {
      const message = `agent ${name} would be the ${frame.depth + 1}th below one another; ${agent.maxDepth} are allowed`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TOO_DEEP', message);
    }
    const callId = callOf(request);
    const child = await this.#child(agent, request);
    const turn = new SubagentTurn((child.inner as SubagentSession).threadId, frame.options.prices);
    const isNews = !this.#entered.has(callId) && request.started;
    for await (const event of child.events()) {
      turn.see(event);
      if (isNews) stream.see(event);
    }
    this.#entered.add(callId);
    this.#used.set(callId, {
      turnId: request.turnId,
      get usage() {
        return turn.usage;
      },
    });
    while (turn.ended === undefined) {
      turn.asked = [];
      await streamSubagent(child, turn, call, frame.requesterOf(request), this.#events);
      if (turn.ended !== undefined) break;
      const open = await child.pending();
      const ids = new Set(open.map(({ requestId }) => requestId));
      // Answered since its stream has looked last: nobody else goes on with it.
      if (!turn.asked.every(({ requestId }) => ids.has(requestId))) continue;
      this.#waiting.set(callId, namesOf(open));
      throw new Suspended();
    }
    return turn.result(name, outputSchema);
  }

  /** The sessions of all sub-agents whose calls are open. */
  async *#open(): AsyncGenerator<Handle, void> {
    for (const request of await this.#session.inner.pending()) {
      const child = await this.within(request);
      if (child) yield child;
    }
  }

  /** The session of the sub-agent of a call that was started. */
  async within(request: PendingRequest): Promise<Handle | undefined> {
    const agent = this.of(request);
    if (!agent || !this.isResumable(request)) return undefined;
    try {
      return await this.#child(agent, request);
    } catch (error) {
      this.#session.frame.warn(`the session of sub-agent ${agent.descriptor.name} cannot be opened`, error);
      return undefined;
    }
  }

  #child(agent: Subagent, request: PendingRequest): Promise<Handle> {
    const callId = callOf(request);
    let child = this.#children.get(callId);
    if (!child) {
      child = this.#session.frame.openSubagent(agent, request, this.#session.id, true);
      child.catch(() => this.#children.delete(callId));
      this.#requests.set(callId, { ...request, started: true });
      this.#children.set(callId, child);
    }
    return child;
  }
}
