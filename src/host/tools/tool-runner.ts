import type {
  ArtifactAccess,
  ConfirmationRequest,
  DisplayContent,
  HookContext,
  LifecycleInterceptor,
  Principal,
  RunQuestion,
  RunReply,
  StateAccess,
  ToolCallContext,
  ToolResult,
  ToolUpdate,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson, messageOf } from '../../contracts/index.ts';
import type { CallEnd, Decision, HooksBehind } from '../../gate/index.ts';
import {
  checkConfirmation,
  cleanUpdate,
  errorResult,
  fireHook,
  isByPolicy,
  isForeign,
  isTooLate,
  misfit,
  refusalResult,
  resultAfter,
  runCall,
  untilAborted,
} from '../../gate/index.ts';
import type { ApprovedContext } from '../../session/index.ts';
import { approvedPreview, unreachable } from '../../session/index.ts';
import { Suspended } from './subagent-tool.ts';
import type { HostTool } from './tool-registry.ts';

export interface HostCall {
  callId: string;
  sessionId: string;
  sessionUid?: string | undefined;
  userId: string;
  /** On whose behalf; frozen. */
  principal: Principal;
  agentPath: readonly string[];
  hostTool: HostTool;
  decision: Decision;
  confirmation?: { confirmed: boolean; payload?: unknown };
  /** What those who have approved it were shown. */
  preview?: readonly DisplayContent[] | undefined;
}

export interface RunToolOptions {
  deps: unknown;
  hooks: LifecycleInterceptor | undefined;
  hookTimeoutMs: number | undefined;
  timeoutMs: number;
  /** A result as large as a model is given it. */
  bounded(
    callId: string,
    result: ToolResult,
    beside: { signal: AbortSignal; note?: string | undefined },
  ): ToolResult | Promise<ToolResult>;
  /** Told when a handler has ended by itself: an abort ends nothing of it any more. */
  ended?(callId: string): void;
  progress(update: ToolUpdate): void;
  elicit(question: RunQuestion, signal: AbortSignal): Promise<RunReply>;
  warn(message: string, error?: unknown): void;
}

export type ToolOutcome =
  | { kind: 'result'; result: ToolResult; interim: boolean }
  /** The handler ended with a question. */
  | { kind: 'confirm'; request: ConfirmationRequest }
  /** A sub-agent waits for somebody: its call stays open. */
  | { kind: 'suspended' };

/** Runs one host tool to a result: timeout, abort, errors and odd values become results, never throws. */
export async function runHostTool(call: HostCall, options: RunToolOptions, signal: AbortSignal): Promise<ToolOutcome> {
  const { hostTool, decision } = call;
  const { descriptor, tool } = hostTool;
  // It waited for its turn and is not wanted any more.
  if (signal.aborted) return { kind: 'result', result: refusalResult('cancelled'), interim: false };
  const longRunning = descriptor.annotations?.longRunning === true;
  const controller = new AbortController();
  const handler = new HandlerRun();
  const context = new HostToolContext(call, options, controller.signal, handler);
  const hooks = hooksBehind(call, options, signal, () => context.wasAsked);
  let end: CallEnd;
  try {
    end = await runCall({
      decision,
      tool,
      context,
      hooks,
      firstOnly: longRunning,
      timeoutMs: tool.timeoutMs ?? options.timeoutMs,
      signals: [signal],
      end: (reason) => controller.abort(reason),
      hasAsked: () => context.asked !== undefined,
      suspends: (error) => error instanceof Suspended,
      ended: () => options.ended?.(call.callId),
      ...(isForeign(hostTool.source) ? {} : { unfit: (fault) => options.warn(misfit(descriptor.name, fault)) }),
    });
  } finally {
    handler.end();
  }
  let result: ToolResult;
  switch (end.kind) {
    case 'asked':
      return { kind: 'confirm', request: context.asked as ConfirmationRequest };
    case 'suspended':
      return end;
    case 'begun':
      return { kind: 'result', result: { content: [] }, interim: true };
    case 'aborted':
      result = await resultAfter(errorResult('interrupted', `interrupted: ${messageOf(signal.reason)}`), hooks);
      break;
    case 'result':
      result = end.result;
      break;
    default:
      return unreachable(end, 'the end of a call');
  }
  // Counted within the bound of the result: who says nothing of such calls makes none.
  const { tailCalls = [], ...rest } = result;
  const note = tailCalls.length > 0 && tool.makesTailCalls !== true ? undeclaredCalls(descriptor.name) : undefined;
  const bounding = options.bounded(call.callId, note === undefined ? result : rest, { signal, note });
  const bounded = bounding instanceof Promise ? await bounding : bounding;
  return { kind: 'result', result: bounded, interim: longRunning && !bounded.isError };
}

/** Everybody whom it concerns is shown it, over connections, too. @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
function checkedQuestion(given: RunQuestion): RunQuestion {
  const question = copyJson(given, 'elicit');
  const { message, requestedSchema } = question ?? {};
  const isForm = requestedSchema === undefined || (typeof requestedSchema === 'object' && requestedSchema !== null);
  if (typeof message === 'string' && isForm) return question;
  const what = isForm ? 'message is no text' : 'requestedSchema is no JSON Schema object';
  throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `elicit: ${what}`);
}

/** What a result says whose tool has passed on calls without a word of its author on that. */
export const undeclaredCalls = (tool: string): string =>
  `[the calls in this result did not run: ${tool} is not declared with makesTailCalls]`;

/** The host's hooks behind a handler. One that was too slow is no error that they are asked about. */
function hooksBehind(
  call: HostCall,
  options: RunToolOptions,
  signal: AbortSignal,
  wasAsked: () => boolean,
): HooksBehind {
  const { descriptor: tool, source: toolSource } = call.hostTool;
  const { callId, sessionId, sessionUid, userId, principal, agentPath } = call;
  const context: HookContext = { sessionId, sessionUid, userId, principal, callId, toolSource, agentPath, signal };
  const { args } = call.decision;
  return {
    instead: async (error) =>
      supports(options.hooks, 'on_tool_error') && !isTooLate(error)
        ? replacementOf('on_tool_error', { tool, args, error, context }, options, signal)
        : undefined,
    after: (result) =>
      supports(options.hooks, 'after_tool')
        ? replacementOf('after_tool', { tool, args, context, result, wasAsked: wasAsked() }, options, signal)
        : undefined,
    failed: (point, error) => options.warn(`an ${point} hook failed on ${tool.name}`, error),
    async whileWanted(work, asIs) {
      try {
        return await untilAborted(work, signal);
      } catch (error) {
        if (signal.aborted) return asIs;
        throw error;
      }
    },
  };
}

/** @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for a word that is none; it is too late for a no */
async function replacementOf(
  point: string,
  payload: object,
  { hooks, hookTimeoutMs }: RunToolOptions,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const said = hooks && (await fireHook(hooks, point, payload, { signal, timeoutMs: hookTimeoutMs }));
  if (said?.action !== 'block') return said?.modifications?.replacement;
  throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook said block: the tool has run`);
}

export function supports(hooks: LifecycleInterceptor | undefined, point: string): boolean {
  return hooks?.supportedHookPoints().includes(point) ?? false;
}

const ended = new CoxswainError('ABORTED', 'E_ABORTED', 'the handler has ended');

/** The run of one handler, which may end before what it has asked, and before code of its own that nobody waits for. */
class HandlerRun {
  isOver = false;
  #asking: AbortController | undefined;

  /** Fires when the handler has ended, however: nobody waits for an answer then. */
  get asking(): AbortSignal {
    this.#asking ??= new AbortController();
    return this.#asking.signal;
  }

  end(): void {
    this.isOver = true;
    this.#asking?.abort(ended);
  }
}

/**
 * A host tool lives outside the agent's session: what needs the session is not in its type, and refused with a reason to
 * whoever asks all the same.
 */
class HostToolContext implements ToolCallContext<never>, ApprovedContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly sessionUid: string | undefined;
  readonly userId: string;
  readonly principal: Principal;
  readonly agentPath: readonly string[];
  readonly signal: AbortSignal;
  readonly confirmation?: { confirmed: boolean; payload?: unknown };
  readonly [approvedPreview]: readonly DisplayContent[] | undefined;
  asked: ConfirmationRequest | undefined;
  /** A person has let it run, or its handler has turned to one. */
  wasAsked: boolean;
  readonly #options: RunToolOptions;
  readonly #handler: HandlerRun;
  readonly #name: string;
  readonly #isLongRunning: boolean;

  constructor(call: HostCall, options: RunToolOptions, signal: AbortSignal, handler: HandlerRun) {
    this.callId = call.callId;
    this.sessionId = call.sessionId;
    this.sessionUid = call.sessionUid;
    this.userId = call.userId;
    this.principal = call.principal;
    this.agentPath = call.agentPath;
    this.signal = signal;
    this[approvedPreview] = call.preview;
    this.#options = options;
    this.#handler = handler;
    this.#name = call.hostTool.descriptor.name;
    this.#isLongRunning = call.hostTool.descriptor.annotations?.longRunning === true;
    this.wasAsked = call.confirmation !== undefined || !isByPolicy(call.decision);
    if (call.confirmation) this.confirmation = call.confirmation;
  }

  get deps(): never {
    return this.#options.deps as never;
  }

  get state(): StateAccess {
    throw this.#unsupported('state', 'return what the agent should know, or give the tool to the agent');
  }

  get artifacts(): ArtifactAccess {
    throw this.#unsupported('artifacts', 'return media, or keep the artifact on the host');
  }

  progress(update: ToolUpdate): void {
    // A call with a result would be shown as one that runs. What is long-running goes on behind its handler.
    if (this.signal.aborted || (this.#handler.isOver && !this.#isLongRunning)) return;
    this.#options.progress(cleanUpdate(update));
  }

  async elicit(question: RunQuestion, signal?: AbortSignal): Promise<RunReply> {
    if (this.#handler.isOver) return { action: 'cancel' };
    this.wasAsked = true;
    const signals = [this.signal, this.#handler.asking];
    return this.#options.elicit(checkedQuestion(question), AbortSignal.any(signal ? [...signals, signal] : signals));
  }

  requestConfirmation(request: ConfirmationRequest): void {
    checkConfirmation(request);
    // What its handler does with it later is not the question.
    this.asked = copyJson(request, 'requestConfirmation');
  }

  requestCredential(): void {
    throw this.#unsupported('requestCredential', 'the host has its own credentials: hand them over in deps');
  }

  async getAuthResponse(): Promise<undefined> {
    return undefined;
  }

  escalate(): void {
    throw this.#unsupported('escalate', 'only tools of the agent can end its loop');
  }

  skipSummarization(): void {
    throw this.#unsupported('skipSummarization', 'only tools of the agent can');
  }

  transferTo(): void {
    throw this.#unsupported('transferTo', 'only tools of the agent can hand over');
  }

  async searchMemory(): Promise<never> {
    throw this.#unsupported('searchMemory', 'give the tool to the agent, and its memory service');
  }

  /** The program's mistake: its log has it, not the model alone. */
  #unsupported(what: string, instead: string): CoxswainError {
    const message = `a host tool has no ${what}: ${instead}`;
    this.#options.warn(`tool ${this.#name}: ${message}`);
    return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
  }
}
