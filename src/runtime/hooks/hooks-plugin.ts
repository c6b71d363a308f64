import type { Content, HookContext, HookResult, LifecycleInterceptor } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { fireHook } from '../../gate/index.ts';
import { checkHooks } from '../../session/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { ModelResponse } from '../model/index.ts';
import type { CallbackContext, ToolContext } from './callback-context.ts';
import type { InvocationInfo } from './invocation-info.ts';
import type { Plugin } from './plugin.ts';

/**
 * A host's hooks as a plugin of the runtime: each point that they support is fired, what they answer is translated: `block` with `modifications.result` short-circuits, `block` without ends as an error,
 * `modifications.replacement` replaces.
 * @param timeoutMs that they may think about one point. Default 10,000; 0: no limit
 */
export function hooksPlugin(hooks: LifecycleInterceptor, name = 'hooks', timeoutMs?: number): Plugin {
  const supported = new Set(checkHooks(hooks, 'hooksPlugin'));
  const fire = (point: string, payload: object): Promise<HookResult | undefined> =>
    fireHook(hooks, point, payload, { timeoutMs });
  const all: Record<string, Partial<Plugin>> = {
    on_user_message: {
      onUserMessage: async (info, userMessage) => {
        const context = infoContext(info);
        return replaced<Content>('on_user_message', await fire('on_user_message', { userMessage, context }));
      },
    },
    before_run: {
      beforeRun: async (info) =>
        blocked<Content>('before_run', await fire('before_run', { context: infoContext(info) })),
    },
    after_run: {
      afterRun: async (info) => {
        await fire('after_run', { context: infoContext(info) });
      },
    },
    on_event: {
      onEvent: async (info, event) => {
        return replaced<StoredEvent>('on_event', await fire('on_event', { event, context: infoContext(info) }));
      },
    },
    before_agent: {
      beforeAgent: async (context) => {
        const payload = { agent: context.agentName, context: agentContext(context) };
        return blocked<Content>('before_agent', await fire('before_agent', payload));
      },
    },
    after_agent: {
      afterAgent: async (context) => {
        const payload = { agent: context.agentName, context: agentContext(context) };
        return replaced<Content>('after_agent', await fire('after_agent', payload));
      },
    },
    before_model: {
      beforeModel: async (context, llmRequest) => {
        const payload = { context: agentContext(context), llmRequest };
        return blocked<ModelResponse>('before_model', await fire('before_model', payload));
      },
    },
    after_model: {
      afterModel: async (context, llmResponse) => {
        const payload = { context: agentContext(context), llmResponse };
        return replaced<ModelResponse>('after_model', await fire('after_model', payload));
      },
    },
    on_model_error: {
      onModelError: async (context, request, error) => {
        const payload = { request, error, context: agentContext(context) };
        return replaced<ModelResponse>('on_model_error', await fire('on_model_error', payload));
      },
    },
    before_tool: {
      // The gate reads its word.
      beforeTool: (context, tool, args) => fire('before_tool', { tool, args, context: toolContext(context) }),
    },
    after_tool: {
      afterTool: async (context, tool, args, result) => {
        const { wasAsked } = context;
        const payload = { tool, args, context: toolContext(context), result, wasAsked };
        return replaced('after_tool', await fire('after_tool', payload));
      },
    },
    on_tool_error: {
      onToolError: async (context, tool, args, error) => {
        const payload = { tool, args, error, context: toolContext(context) };
        return replaced('on_tool_error', await fire('on_tool_error', payload));
      },
    },
  };
  return Object.assign(
    { name },
    ...Object.keys(all).map((point) => (supported.has(point) ? all[point] : {})),
  ) as Plugin;
}

/** The value that a before_* hook gave instead. */
function blocked<T>(point: string, result: HookResult | undefined): T | undefined {
  if (result?.action !== 'block') return undefined;
  const value = result.modifications?.result;
  if (value === undefined) throw refused(point, result);
  return value as T;
}

/** What an after_* or on_* hook wants in place of what there was. */
function replaced<T>(point: string, result: HookResult | undefined): T | undefined {
  if (result?.action === 'block') throw refused(point, result);
  const value = result?.modifications?.replacement;
  return value === undefined ? undefined : (value as T);
}

function refused(point: string, result: HookResult): CoxswainError {
  return new CoxswainError('PERMISSION_DENIED', 'E_HOOK_BLOCKED', result.reason ?? `a ${point} hook blocked the run`);
}

function infoContext(info: InvocationInfo): HookContext {
  const { sessionId, sessionUid, userId, principal, turnId, tree, signal } = info;
  return { sessionId, sessionUid, userId, principal, turnId, agentPath: [tree.root.name], signal };
}

function agentContext(context: CallbackContext): HookContext {
  const { sessionId, userId, principal, agentPath, signal, invocation } = context;
  const { turnId, sessionUid } = invocation;
  return { sessionId, sessionUid, userId, principal, turnId, agentPath, signal };
}

function toolContext(context: ToolContext): HookContext {
  const { sessionId, userId, principal, agentPath, callId, toolSource, signal, invocation } = context;
  const { turnId, sessionUid } = invocation;
  const source = toolSource === undefined ? {} : { toolSource };
  return { sessionId, sessionUid, userId, principal, turnId, callId, ...source, agentPath, signal };
}
