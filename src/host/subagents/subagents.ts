import type { AbortTarget, ReportedRequest, SessionInput, StreamEndEvent, Usage } from '../../contracts/index.ts';
import type { JoiningOptions } from '../../session/index.ts';
import { addUsage, joined } from '../../session/index.ts';
import type { CalledAgents, CalledStream, Handle, Hosted } from '../frame/index.ts';
import { usageOfSubagent } from '../terms/index.ts';
import { subagentOf } from '../tools/index.ts';
import { SubagentOfCall } from './called-agent.ts';
import { callOf } from './subagent-calls.ts';
import { ClosedCalls, SubagentEvents } from './subagent-events.ts';
import { SubagentSessions } from './subagent-sessions.ts';
import { holderAmong } from './subagent-tree.ts';
import { SubagentWork } from './subagent-work.ts';

/** The sub-agents that one hosted session has called: their sessions, their questions, their turns. */
export class Subagents implements CalledAgents {
  readonly #caller: Hosted;
  readonly #sessions: SubagentSessions;
  readonly #work: SubagentWork;
  readonly #events = new SubagentEvents();
  #healing: Promise<void> | undefined;

  constructor(caller: Hosted) {
    this.#caller = caller;
    this.#sessions = new SubagentSessions(caller);
    this.#work = new SubagentWork(caller, this.#sessions, this.#events);
  }

  of(request: ReportedRequest): SubagentOfCall | undefined {
    if (request.kind !== 'tool') return undefined;
    const agent = subagentOf(this.#caller.frame.toolOf(request)?.tool);
    return agent && new SubagentOfCall(agent, request, this.#sessions, this.#work);
  }

  find(target: Pick<AbortTarget, 'requestId' | 'threadId'>): Promise<Handle | undefined> {
    return holderAmong(this.#open(), target);
  }

  async *sessions(): AsyncGenerator<Handle, void> {
    for await (const child of this.#open()) {
      yield child;
      if (child.subagents) yield* child.subagents.sessions();
    }
  }

  get holdsInMemory(): boolean {
    return this.#sessions.holdsInMemory;
  }

  async begin(
    inputs: readonly SessionInput[],
    { whilePending = 'cancel', [joined]: kept = [] }: JoiningOptions,
  ): Promise<CalledStream> {
    this.#work.begin();
    this.#events.begin();
    await this.#heal();
    // The message will close their calls.
    if (whilePending === 'cancel' && inputs.some(({ kind }) => kind === 'message')) {
      await this.#abortOpen('a new message came', kept);
    }
    const before = (await this.#caller.inner.pending()).filter((request) => request.started && this.of(request));
    return {
      release: (stream) => this.#events.release(stream),
      hasAsked: (requestId) => this.#events.hasAsked(requestId),
      settled: () => this.#work.allEnded(),
      finish: (end) => this.#finish(end, before),
    };
  }

  async end(reason: string, before?: readonly ReportedRequest[]): Promise<void> {
    if (before) return this.#reap(before, reason);
    await this.#heal();
    await this.#abortOpen(reason);
  }

  dispose(): Promise<void> {
    return this.#sessions.dispose();
  }

  /** Ends all whose calls are open, but those of `kept`. */
  async #abortOpen(reason: string, kept: readonly string[] = []): Promise<void> {
    for (const request of await this.#caller.inner.pending()) {
      const callId = callOf(request);
      if (kept.includes(callId)) continue;
      const child = await this.of(request)?.session();
      await this.#work.ended(callId);
      await child?.abort({ reason });
    }
  }

  async #finish(end: StreamEndEvent, before: readonly ReportedRequest[]): Promise<StreamEndEvent> {
    await this.#work.allEnded();
    await this.#reap(before, end.reason);
    let sum: Usage = end.data.usage ?? {};
    for (const { turnId, usage } of this.#work.used.values()) if (turnId === end.turnId) sum = addUsage(sum, usage);
    return { ...end, data: { ...end.data, usage: sum } };
  }

  /** Ends those whose calls are closed, of those that were open before. */
  async #reap(before: readonly ReportedRequest[], reason: string): Promise<void> {
    const open = new Set((await this.#caller.inner.pending()).map(callOf));
    for (const request of [...before, ...this.#sessions.requests]) {
      const callId = callOf(request);
      if (open.has(callId)) continue;
      this.#sessions.forget(callId);
      const child = await this.of(request)?.session();
      if (!child) continue;
      this.#sessions.release(callId);
      await this.#work.ended(callId);
      await child.abort({ reason });
      await child[Symbol.asyncDispose]();
    }
  }

  /** Once for each handle: ends what a process that died has left behind; reads what sub-agents have used before. */
  #heal(): Promise<void> {
    this.#healing ??= this.#healNow();
    return this.#healing;
  }

  async #healNow(): Promise<void> {
    const closed = new ClosedCalls((request) => this.of(request) !== undefined);
    for await (const event of this.#caller.inner.events()) {
      closed.see(event);
      const known = usageOfSubagent(event);
      if (known) this.#work.used.set(known.callId, { turnId: event.turnId, usage: known.usage });
    }
    for (const request of closed.calls) await this.of(request)?.endClosed();
  }

  /** The sessions of all sub-agents whose calls are open. */
  async *#open(): AsyncGenerator<Handle, void> {
    for (const request of await this.#caller.inner.pending()) {
      const child = await this.of(request)?.session();
      if (child) yield child;
    }
  }
}
