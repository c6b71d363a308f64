import type { LifecycleInterceptor, ReportedRequest } from '../../contracts/index.ts';
import type { GateCall, GateRules } from '../../gate/index.ts';
import { fireHook, putByPolicy } from '../../gate/index.ts';
import { LazyMap } from '../../session/index.ts';
import { supports } from '../tools/index.ts';
import type { QuestionOptions } from './approval-question.ts';

interface HookOptions extends Pick<QuestionOptions, 'callInfo'> {
  hooks: LifecycleInterceptor | undefined;
  hookTimeoutMs: number | undefined;
  warn(message: string, error?: unknown): void;
}

/** The host's before_tool hooks. They fire once for each call in one process, however often the call is looked at. */
export class FiredHooks {
  readonly #options: HookOptions;
  readonly #fired = new LazyMap<string, Promise<unknown>>();

  constructor(options: HookOptions) {
    this.#options = options;
  }

  /** What they say of a call; `peek`: what they have said of it, so that a look fires none. */
  once(
    call: GateCall,
    request: ReportedRequest,
    signal: AbortSignal | undefined,
    peek: boolean,
  ): GateRules['beforeTool'] {
    if (peek && !this.#fired.has(call.callId)) return this.#asPut(request);
    const fire = this.around(call, request, signal);
    if (!fire) return undefined;
    return (args) => {
      let fired = this.#fired.get(call.callId);
      if (!fired) {
        fired = fire(args);
        this.#fired.set(call.callId, fired);
      }
      return fired;
    };
  }

  /** As they have changed the call when its question was put, in whichever process: that is what would run. */
  #asPut(request: ReportedRequest): GateRules['beforeTool'] {
    const { hooks } = this.#options;
    const args = hooks && supports(hooks, 'before_tool') ? putByPolicy(request)?.args : undefined;
    return args && (async () => ({ action: 'proceed', modifications: { args } }));
  }

  /** The hooks around one call, fired each time. */
  around(call: GateCall, request: ReportedRequest, signal: AbortSignal | undefined): GateRules['beforeTool'] {
    const { hooks, warn, hookTimeoutMs: timeoutMs } = this.#options;
    if (!hooks || !supports(hooks, 'before_tool')) return undefined;
    const { tool, callId } = call;
    const { deps: _, ...about } = this.#options.callInfo(request, callId, signal);
    const context = {
      ...about,
      toolSource: call.source,
      ...(request.turnId === undefined ? {} : { turnId: request.turnId }),
    };
    return async (args) => {
      try {
        return await fireHook(hooks, 'before_tool', { tool, args, context }, { timeoutMs, signal });
      } catch (error) {
        if (!signal?.aborted) warn(`a before_tool hook failed on ${tool.name}: the call is denied`, error);
        throw error;
      }
    };
  }

  /** Forgets all calls but these. */
  retain(callIds: ReadonlySet<string | undefined>): void {
    for (const callId of this.#fired.keys()) if (!callIds.has(callId)) this.#fired.delete(callId);
  }

  forget(callId: string): void {
    this.#fired.delete(callId);
  }
}
