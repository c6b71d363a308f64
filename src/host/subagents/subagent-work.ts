import type { ReportedRequest, ToolResult, Usage } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { LazyMap, LazySet } from '../../session/index.ts';
import type { Handle, Hosted } from '../frame/index.ts';
import type { Subagent } from '../tools/index.ts';
import { Suspended } from '../tools/index.ts';
import { callOf, namesOf } from './subagent-calls.ts';
import type { SubagentEvents } from './subagent-events.ts';
import type { SubagentSession } from './subagent-session.ts';
import type { SubagentSessions } from './subagent-sessions.ts';
import type { SubagentCall } from './subagent-stream.ts';
import { streamSubagent } from './subagent-stream.ts';
import { SubagentTurn } from './subagent-turn.ts';

interface UsedByCall {
  readonly turnId: string | undefined;
  readonly usage: Usage;
}

/** The turns of the sub-agents that one session has called: which run, which wait, and what each has used. */
export class SubagentWork {
  readonly #caller: Hosted;
  readonly #sessions: SubagentSessions;
  readonly #events: SubagentEvents;
  /** What sub-agents have used, by call. */
  readonly used = new LazyMap<string, UsedByCall>();
  readonly #working = new LazyMap<string, Promise<unknown>>();
  /** What was open when a call was left waiting, in the stream that runs now. */
  readonly #waiting = new LazyMap<string, string>();
  readonly #entered = new LazySet<string>();

  constructor(caller: Hosted, sessions: SubagentSessions, events: SubagentEvents) {
    this.#caller = caller;
    this.#sessions = sessions;
    this.#events = events;
  }

  /** A new stream of the caller: whoever waited is looked at again. */
  begin(): void {
    this.#waiting.clear();
    this.#entered.clear();
  }

  /** Resolves when the sub-agent of this call does nothing any more. */
  async ended(callId: string): Promise<void> {
    await this.#working.get(callId);
  }

  async allEnded(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  /** What a waiting sub-agent waits for, as long as nothing has changed. */
  async waitsFor(callId: string): Promise<ReportedRequest[] | undefined> {
    const before = this.#waiting.get(callId);
    const child = await this.#sessions.running(callId);
    if (before === undefined || !child) return undefined;
    const open = await child.pending();
    if (namesOf(open) === before) return open;
    this.#waiting.delete(callId);
    return undefined;
  }

  /** Makes the session of a call that begins; undefined where it is too deep to begin. */
  make(agent: Subagent, request: ReportedRequest): Promise<unknown> | undefined {
    if (this.#sessions.isTooDeep(agent)) return undefined;
    // What cannot be made now is tried again where the call runs, whose result says why it could not.
    return this.#sessions.open(agent, request, true).catch(() => undefined);
  }

  start(agent: Subagent, call: SubagentCall): Promise<ToolResult> {
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
    const { request } = call;
    const { frame } = this.#caller;
    const { name, outputSchema } = agent.descriptor;
    if (this.#sessions.isTooDeep(agent)) {
      const message = `agent ${name} would be the ${frame.depth + 1}th below one another; ${agent.maxDepth} are allowed`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TOO_DEEP', message);
    }
    const callId = callOf(request);
    const begins = !request.started || this.#sessions.isLost(callId);
    const child = await this.#sessions.open(agent, request, begins).catch((error: unknown) => {
      // What it did is not known any more: somebody is asked whether it begins anew.
      throw this.#sessions.isLost(callId) ? new Suspended() : error;
    });
    const turn = await this.#enter(child, call, callId);
    if (begins && (turn.isOpen || turn.ended !== undefined)) {
      const message = `session ${child.id} was there before agent ${name} was called: nothing of it is taken`;
      throw new CoxswainError('ALREADY_EXISTS', 'E_SESSION_EXISTS', message);
    }
    this.#sessions.begun(callId);
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

  /** Its turn as its log has it. */
  async #enter(child: Handle, { request, stream }: SubagentCall, callId: string): Promise<SubagentTurn> {
    const turn = new SubagentTurn((child.inner as SubagentSession).threadId, this.#caller.frame.options.prices);
    const isNews = !this.#entered.has(callId) && request.started;
    for await (const event of child.events()) {
      turn.see(event);
      if (isNews) stream.see(event);
    }
    this.#entered.add(callId);
    this.used.set(callId, {
      turnId: request.turnId,
      get usage() {
        return turn.usage;
      },
    });
    return turn;
  }
}
