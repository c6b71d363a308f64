import { AsyncLocalStorage } from 'node:async_hooks';
import type { FunctionCallPart, ToolResult } from '../../contracts/index.ts';
import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, mayBegin } from '../../gate/index.ts';
import type { AgentContext, CallState, HookChain, ToolMap } from '../../runtime/index.ts';
import {
  abandoned,
  hasRunOf,
  prepareCall,
  refusalEvents,
  resolveTool,
  responseEvent,
  settleCalls,
} from '../../runtime/index.ts';
import type { Tool } from '../tools/index.ts';
import { agentContract, mediaOfResponse, responseTo, valueOfResponse } from '../tools/index.ts';
import type { TurnContext } from '../turn/index.ts';

export interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** The call whose handler runs. */
const running = new AsyncLocalStorage<InlineCall>();

/** What a call is made within: to be taken where it is made. */
export function madeWithin(): InlineCall | undefined {
  return running.getStore();
}

/** A call that an executor has asked for. */
export interface InlineCallRequest extends Waiting {
  within: InlineCall | undefined;
  tool: Tool;
  args: unknown;
  checksum: string;
  signal: AbortSignal | undefined;
  elsewhere: boolean;
}

export interface InlineCall extends Omit<InlineCallRequest, 'args'> {
  call: CallState;
  startedAt: number;
  /** The call's, when it was looked at last. */
  version: number;
  state: 'fresh' | 'settling' | 'waiting';
}

/** The inline tool calls of a held executor: announced in the log, run by the runtime's scheduler. */
export class HeldCalls {
  readonly #turn: TurnContext;
  readonly #open = new Map<string, InlineCall>();
  /** Signals that are listened to. */
  readonly #heard = new WeakSet<AbortSignal>();
  /** Grows with each call that begins to wait for somebody. */
  waits = 0;
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

  /** Some have not begun, and nobody wants them any more. */
  get unwanted(): boolean {
    for (const open of this.#open.values()) if (isUnwanted(open)) return true;
    return false;
  }

  /** Whatever was waited for may have come. */
  refresh(): void {
    for (const open of this.#open.values()) if (open.state !== 'settling') open.state = 'fresh';
  }

  /** Those that something was said of are looked at again, while others run. */
  refreshChanged(): void {
    for (const open of this.#open.values()) {
      if (open.state === 'waiting' && open.version !== open.call.version) open.state = 'fresh';
    }
  }

  /** Closes those that nobody wants any more. False: there are none. */
  async withdraw({ invocation }: AgentContext): Promise<boolean> {
    const left = [...this.#open.values()].filter(isUnwanted);
    for (const { call, signal } of left) {
      try {
        // A host may run a tool that may run again, without a start in the log.
        const result =
          hasRunOf(call) === 'never' ? unwanted(signal?.reason) : abandoned(call, messageOf(signal?.reason));
        await invocation.emit(responseEvent(call, result, invocation.origin()));
      } catch (error) {
        // Somebody else has closed it in the same moment.
        if (!isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') throw error;
        await invocation.session.catchUp();
      }
    }
    return left.length > 0;
  }

  reject(reason: unknown): void {
    for (const open of this.#open.values()) open.reject(reason);
    this.#open.clear();
  }

  async announce(
    context: AgentContext,
    tools: ToolMap,
    hooks: HookChain,
    ops: readonly InlineCallRequest[],
  ): Promise<void> {
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
    const announced = context.event({ content: { role: 'model', parts }, longRunningToolIds });
    await context.invocation.emit(announced, ...refusalEvents(context, prepared));
    for (const [index, { call, refusal }] of prepared.entries()) {
      const op = ops[index];
      const state = context.invocation.fold.calls.get(call.id);
      if (!op || !state) continue;
      if (refusal) {
        op.resolve(valueOfResponse(refusal));
        continue;
      }
      const startedAt = Date.now();
      this.#open.set(call.id, { ...op, call: state, startedAt, version: state.version, state: 'fresh' });
      this.#hear(op.signal);
      this.#turn.buses.tell('toolExecutionStart', {
        ...this.#about(op, startedAt),
        toolName: op.tool.name,
        args: call.args,
      });
    }
  }

  /**
   * Starts what may start, in the order in which it was asked for; the executor decides when that was. A call that a
   * handler makes takes no place from that handler's own call, which waits for it, nor is it alone for it.
   */
  settleFresh(context: AgentContext, tools: ToolMap, hooks: HookChain): void {
    const { toolConcurrency } = context.invocation.engine;
    const busy = [...this.#open.values()].filter(({ state, elsewhere }) => state === 'settling' && !elsewhere);
    const fresh = [...this.#open.values()].filter(({ state }) => state === 'fresh');
    for (const open of fresh) if (open.elsewhere) this.#settle(open, context, tools, hooks);
    let isFull = false;
    for (const open of fresh) {
      if (open.elsewhere || (isFull && !open.within)) continue;
      const others = open.within ? busy.filter((other) => !isWithin(open, other)) : busy;
      const beside = { running: others.length, alone: others.some(isExclusive) };
      if (!mayBegin(isExclusive(open), beside, toolConcurrency)) {
        isFull = true;
        continue;
      }
      busy.push(open);
      this.#settle(open, context, tools, hooks);
    }
  }

  #hear(signal: AbortSignal | undefined): void {
    if (!signal || this.#heard.has(signal)) return;
    this.#heard.add(signal);
    signal.addEventListener('abort', () => this.#onSettled(), { once: true });
  }

  #settle(open: InlineCall, context: AgentContext, tools: ToolMap, hooks: HookChain): void {
    open.state = 'settling';
    open.version = open.call.version;
    const settled = running.run(open, () =>
      settleCalls(context, [open.call], withTool(context, tools, open.tool), hooks),
    );
    settled.then(
      () => {
        open.state = 'waiting';
        this.waits++;
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

  #some(wanted: InlineCall['state']): boolean {
    for (const { state } of this.#open.values()) if (state === wanted) return true;
    return false;
  }
}

function isWithin({ within }: InlineCall, other: InlineCall): boolean {
  return within !== undefined && (within === other || isWithin(within, other));
}

/** What becomes of a call that nobody wants any more. */
export function unwanted(reason: unknown): ToolResult {
  return errorResult('cancelled', `${messageOf(reason)}; it never ran`);
}

function isUnwanted({ signal, call, state }: InlineCall): boolean {
  const hasBegun = state === 'settling' || call.started || call.settled !== undefined || call.interim !== undefined;
  return signal?.aborted === true && !hasBegun;
}

function isExclusive({ tool }: InlineCall): boolean {
  return tool.describe().annotations?.exclusive === true;
}

/** A tool that a pipeline brought along is as good as the agent's own; what the host has excluded stays out. */
function withTool({ agent, invocation }: AgentContext, tools: ToolMap, tool: Tool): ToolMap {
  if (tools.has(tool.name) || invocation.options.excludeTools?.includes(tool.name)) return tools;
  return new Map([...tools, [tool.name, resolveTool(agentContract(tool), `agent:${agent.name}`)]]);
}
