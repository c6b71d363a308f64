import { randomUUID } from 'node:crypto';
import type { AgentCallContext } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import {
  decide,
  ensureValidator,
  floorFor,
  isRepeatable,
  misfit,
  nextStep,
  runWithin,
  unfitReturn,
  validateArgs,
} from '../../gate/index.ts';
import { unreachable } from '../../session/index.ts';
import { assertSameCall, CallsById } from '../records/index.ts';
import type { Tool, ToolRunOptions } from '../tools/index.ts';
import { caused } from './errors.ts';
import type { TurnContext } from './turn-context.ts';

/** Runs tools for one turn that has no host: validated, through the gate, watched. */
export class StandaloneTools {
  readonly #byId = new CallsById();
  readonly #deps: unknown;

  constructor(deps: unknown) {
    this.#deps = deps;
  }

  async run(
    tool: Tool,
    args: unknown,
    options: ToolRunOptions & { checksum: string },
    turn: TurnContext,
  ): Promise<unknown> {
    const { callId, checksum } = options;
    return this.#byId.once(callId, tool.name, checksum, async () => {
      if (callId !== undefined) {
        for (const stored of turn.turnToolCalls) {
          if (stored.id !== callId) continue;
          assertSameCall(callId, tool.name, checksum, stored);
          if (stored.isComplete) return stored.results;
          const { annotations } = tool.describe();
          const facts = { mover: 'here', begun: 'lost', isJudgedElsewhere: false } as const;
          const next = nextStep({ ...facts, isRepeatable: isRepeatable(annotations) });
          if (next.kind !== 'judge') throw outcomeUnknown(callId, tool.name);
        }
      }
      options.signal?.throwIfAborted();
      return this.#run(tool, args, callId ?? randomUUID(), checksum, turn);
    });
  }

  async #run(tool: Tool, args: unknown, callId: string, checksum: string, turn: TurnContext): Promise<unknown> {
    turn.abortSignal.throwIfAborted();
    const loading = ensureValidator();
    if (loading) await loading;
    const { contract } = tool;
    const descriptor = tool.describe();
    const source = contract.inputSchema ?? contract.parametersSchema;
    const validate = (value: unknown) =>
      validateArgs({ inputSchema: descriptor.inputSchema, ...(source ? { source } : {}) }, value);
    const checked = await validate(args);
    if (!checked.ok) {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_INVALID_TOOL_ARGS', `${tool.name}: ${checked.message}`);
    }
    const call = {
      callId,
      args: checked.args,
      tool: descriptor,
      source: 'agent:turn-runner',
      agentPath: [],
      sessionId: turn.turnId,
    };
    const own = new AbortController();
    const context = new StandaloneCall(callId, own.signal, this.#deps, turn);
    const needsApproval = floorFor(contract.needsApproval, () => context);
    const verdict = await decide(call, { needsApproval, validate, signal: turn.abortSignal });
    if (verdict.kind !== 'run') {
      const message = `${tool.name} needs somebody's approval and there is nobody to ask here; run it in dispatchAgent`;
      throw new CoxswainError('PERMISSION_DENIED', 'E_TOOL', message);
    }
    const startedAt = Date.now();
    const about = { turnId: turn.turnId, callId: checksum, toolName: tool.name, startedAt };
    turn.buses.tell('toolExecutionStart', { ...about, args: checked.args });
    const ended = (isError: boolean) => {
      const endedAt = Date.now();
      turn.buses.tell('toolExecutionEnd', { ...about, endedAt, durationMs: endedAt - startedAt, isError });
    };
    const end = await runWithin(verdict.decision, contract, context, {
      timeoutMs: contract.timeoutMs,
      signals: [turn.abortSignal],
      end: (reason) => own.abort(reason),
    });
    const unfit = end.kind === 'value' ? await unfitReturn(contract, end.value) : undefined;
    ended(end.kind !== 'value' || unfit !== undefined);
    switch (end.kind) {
      case 'value':
        if (unfit) throw new CoxswainError('INTERNAL', 'E_TOOL_DOWNSTREAM_ERROR', misfit(tool.name, unfit.fault));
        return end.value;
      case 'begun':
        return undefined;
      case 'aborted':
        throw turn.abortSignal.reason;
      case 'late':
      case 'threw':
        throw caused('INTERNAL', 'E_TOOL_DOWNSTREAM_ERROR', `tool ${tool.name} failed`, end.error);
      default:
        return unreachable(end, 'the end of a handler');
    }
  }
}

function outcomeUnknown(callId: string, name: string): CoxswainError {
  const message = `call ${callId} of ${name} was begun and has no result: it is not run again unasked`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_TOOL_OUTCOME_UNKNOWN', message);
}

/** What a handler is given where there is neither session nor host. State is the turn's stash. */
class StandaloneCall implements AgentCallContext<never> {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly sessionId: string;
  /** Of users it knows nothing: the default of a host. */
  readonly userId = 'local';
  readonly principal = Object.freeze({ id: 'local' });
  readonly agentPath: readonly string[] = [];
  readonly deps: never;
  readonly state: AgentCallContext['state'];

  constructor(callId: string, signal: AbortSignal, deps: unknown, turn: TurnContext) {
    const { stash } = turn;
    this.callId = callId;
    this.signal = signal;
    this.deps = deps as never;
    this.sessionId = turn.turnId;
    this.state = {
      get: (key) => stash.get(key),
      set: (key, value) => void stash.set(key, value),
      has: (key) => stash.has(key),
      delete: (key) => void stash.delete(key),
      toObject: () => stash.all(),
    };
  }

  get artifacts(): never {
    throw unsupported('artifacts');
  }

  progress(): void {}

  requestConfirmation(): void {
    throw unsupported('requestConfirmation');
  }

  requestCredential(): void {
    throw unsupported('requestCredential');
  }

  async getAuthResponse(): Promise<undefined> {}

  escalate(): void {
    throw unsupported('escalate');
  }

  skipSummarization(): void {
    throw unsupported('skipSummarization');
  }

  transferTo(): void {
    throw unsupported('transferTo');
  }

  async searchMemory(): Promise<never> {
    throw unsupported('searchMemory');
  }
}

function unsupported(what: string): CoxswainError {
  return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', `${what} needs a session: use dispatchAgent`);
}
