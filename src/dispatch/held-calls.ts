import type { FunctionCallPart } from '../contracts/index.ts';
import type { AgentContext, CallState, Event, HookChain, ToolMap } from '../runtime/index.ts';
import { abandoned, prepareCall, resolveTool, responseEvent, settleCalls } from '../runtime/index.ts';
import { responseTo, valueOfResponse } from './call-value.ts';
import { agentContract, mediaOfResponse } from './media-results.ts';
import type { Tool } from './tool.ts';
import type { TurnContext } from './turn-context.ts';

export interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** A call that an executor has asked for. */
export interface AskedCall extends Waiting {
  tool: Tool;
  args: unknown;
  checksum: string;
}

interface OpenCall extends Waiting {
  call: CallState;
  tool: Tool;
  checksum: string;
  startedAt: number;
  state: 'fresh' | 'settling' | 'waiting';
}

/** The inline tool calls of a held executor: announced in the log, run by the runtime's scheduler. */
export class HeldCalls {
  readonly #turn: TurnContext;
  readonly #open = new Map<string, OpenCall>();
  readonly #onSettled: (error?: unknown) => void;

  constructor(turn: TurnContext, onSettled: (error?: unknown) => void) {
    this.#turn = turn;
    this.#onSettled = onSettled;
  }

  /** Some run now. */
  get settling(): boolean {
    return this.#some('settling');
  }

  /** Some wait for somebody else. */
  get waiting(): boolean {
    return this.#some('waiting');
  }

  /** Whatever was waited for may have come. */
  refresh(): void {
    for (const open of this.#open.values()) open.state = 'fresh';
  }

  reject(reason: unknown): void {
    for (const open of this.#open.values()) open.reject(reason);
    this.#open.clear();
  }

  async announce(context: AgentContext, tools: ToolMap, hooks: HookChain, ops: readonly AskedCall[]): Promise<void> {
    const prepared = await Promise.all(
      ops.map(({ tool, args }) => {
        const part = { type: 'function_call', id: '', name: tool.name, args } as FunctionCallPart;
        return prepareCall(context, part, withTool(context, tools, tool), hooks, false);
      }),
    );
    const longRunningToolIds = prepared.flatMap(({ call, refusal }, index) => {
      const isLong = ops[index]?.tool.describe().annotations?.longRunning && !refusal;
      return isLong ? [call.id] : [];
    });
    const parts = prepared.map(({ call }) => call);
    const events: Event[] = [context.event({ content: { role: 'model', parts }, longRunningToolIds })];
    for (const { refusal } of prepared) {
      if (refusal) events.push(context.event({ id: `res:${refusal.id}`, content: { role: 'user', parts: [refusal] } }));
    }
    await context.invocation.emit(...events);
    for (const [index, { call, refusal }] of prepared.entries()) {
      const op = ops[index];
      const state = context.invocation.fold.calls.get(call.id);
      if (!op || !state) continue;
      if (refusal) {
        op.resolve(valueOfResponse(refusal));
        continue;
      }
      const startedAt = Date.now();
      this.#open.set(call.id, { ...op, call: state, startedAt, state: 'fresh' });
      this.#turn.buses.tell('toolExecutionStart', {
        ...this.#about(op, startedAt),
        toolName: op.tool.name,
        args: call.args,
      });
    }
  }

  /** Starts what may start, in the order in which it was asked for; the executor decides when that was. */
  settleFresh(context: AgentContext, tools: ToolMap, hooks: HookChain): void {
    const { toolConcurrency } = context.invocation.engine;
    const running = [...this.#open.values()].filter(({ state }) => state === 'settling');
    for (const open of this.#open.values()) {
      if (open.state !== 'fresh') continue;
      const isFree = running.length < toolConcurrency && !running.some(isExclusive);
      if (!isFree || (isExclusive(open) && running.length > 0)) return;
      running.push(open);
      this.#settle(open, context, tools, hooks);
    }
  }

  #settle(open: OpenCall, context: AgentContext, tools: ToolMap, hooks: HookChain): void {
    open.state = 'settling';
    settleCalls(context, [open.call], withTool(context, tools, open.tool), hooks).then(
      () => {
        open.state = 'waiting';
        this.#onSettled();
      },
      (error: unknown) => this.#onSettled(error),
    );
  }

  /** Hands results to the executor; false if there was none. */
  resolveSettled(context: AgentContext): boolean {
    const settled = [...this.#open].filter(([, { call }]) => call.settled || call.interim);
    for (const [id, open] of settled) {
      this.#open.delete(id);
      const part = responseTo(context.invocation.session.log, id);
      const isError = part?.isError === true;
      const endedAt = Date.now();
      const about = { ...this.#about(open, open.startedAt), toolName: open.call.name };
      this.#turn.buses.tell('toolExecutionEnd', { ...about, endedAt, durationMs: endedAt - open.startedAt, isError });
      open.resolve(part ? (mediaOfResponse(open.tool, part) ?? valueOfResponse(part)) : open.call.interim);
    }
    return settled.length > 0;
  }

  /** Calls that the executor has not waited for: nobody will. */
  async abandon({ invocation }: AgentContext): Promise<void> {
    const left = [...this.#open.values()].map(({ call }) => call);
    const events = left.map((call) => responseEvent(call, abandoned(call, 'the executor ended'), invocation.origin()));
    if (events.length > 0) await invocation.emit(...events);
    for (const open of this.#open.values()) open.resolve(undefined);
    this.#open.clear();
  }

  #about({ checksum }: { checksum: string }, startedAt: number) {
    return { turnId: this.#turn.turnId, callId: checksum, startedAt };
  }

  #some(wanted: OpenCall['state']): boolean {
    for (const { state } of this.#open.values()) if (state === wanted) return true;
    return false;
  }
}

function isExclusive({ tool }: OpenCall): boolean {
  return tool.describe().annotations?.exclusive === true;
}

/** A tool that a pipeline brought along is as good as the agent's own; what the host has excluded stays out. */
function withTool({ agent, invocation }: AgentContext, tools: ToolMap, tool: Tool): ToolMap {
  if (tools.has(tool.name) || invocation.options.excludeTools?.includes(tool.name)) return tools;
  return new Map([...tools, [tool.name, resolveTool(agentContract(tool), `agent:${agent.name}`)]]);
}
