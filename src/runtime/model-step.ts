import type { Content, ContentPart, FunctionResponsePart } from '../contracts/index.ts';
import { CoxswainError, copyJson, isCoxswainError, messageOf } from '../contracts/index.ts';
import { childController, orAbort } from './abort.ts';
import { failClosed, keepWrites, withOutput } from './agent-hooks.ts';
import { CallbackContext } from './callback-context.ts';
import type { AgentContext } from './context.ts';
import { Editing } from './editable-request.ts';
import type { Event, EventActions } from './event.ts';
import { newId } from './identity.ts';
import type { LlmAgent } from './llm-agent.ts';
import type { ModelResponse } from './model.ts';
import { modelNameOf, modelOf } from './model-choice.ts';
import { isResponse, modelFailure, thrownFailure } from './model-failure.ts';
import type { Failure } from './outcome.ts';
import type { HookChain } from './plugin.ts';
import { prepareCall } from './prepare-call.ts';
import type { RequestDraft } from './processors.ts';
import type { Attributes } from './telemetry.ts';
import { Operation, runAttributes } from './telemetry.ts';
import type { ToolMap } from './tools.ts';
/** Asks the model once and stores its answer. A failure: the turn cannot go on. */
export async function modelStep(
  context: AgentContext,
  agent: LlmAgent,
  tools: ToolMap,
  hooks: HookChain,
): Promise<Failure | undefined> {
  const callback = new CallbackContext(context);
  const messageId = newId();
  const draft = await buildRequest(context, agent, tools);
  const { model: chosen, tools: offered } = draft;
  let response = await beforeModel(callback, draft, hooks);
  const skipped = response !== undefined;
  if (!response) {
    const asked = await askModel(context, agent, draft, { messageId, callback, hooks, chosen });
    if (asked.kind === 'aborted') return undefined;
    if (asked.kind === 'failed') {
      await keepWrites(context, callback);
      return asked.failure;
    }
    response = asked.response;
  }
  let replaces: string | undefined;
  if (hooks.has('afterModel')) {
    const replaced = await afterModel(context, hooks, callback, response);
    if (replaced) {
      replaces = messageId;
      response = replaced;
    }
  }
  if (response.errorCode !== undefined) {
    await keepWrites(context, callback);
    return modelFailure(response);
  }
  return storeResponse(context, agent, offeredOf(tools, offered, draft), hooks, {
    response,
    messageId: replaces === undefined ? messageId : newId(),
    replaces,
    model: skipped ? undefined : (response.model ?? draft.model),
    stateDelta: callback.delta,
  });
}

/** A hook's response instead of asking the model; else the draft is what the hooks have made of it. */
async function beforeModel(
  callback: CallbackContext,
  draft: RequestDraft,
  hooks: HookChain,
): Promise<ModelResponse | undefined> {
  if (!hooks.has('beforeModel')) return undefined;
  const editing = new Editing(draft);
  const response = await failClosed('before_model', () => hooks.first('beforeModel', callback, editing.request));
  if (!response) editing.take();
  return response;
}

/** What a hook has taken out of the request cannot be called. */
function offeredOf(tools: ToolMap, before: RequestDraft['tools'], { tools: after }: RequestDraft): ToolMap {
  if (after === before || after.size === before.size) return tools;
  return new Map([...tools].filter(([name]) => after.has(name) || !before.has(name)));
}

async function buildRequest(context: AgentContext, agent: LlmAgent, tools: ToolMap): Promise<RequestDraft> {
  const draft: RequestDraft = {
    model: modelNameOf(context, agent),
    systemInstruction: '',
    contents: [],
    config: {},
    tools: new Map(),
    agent: agent.name,
  };
  for (const processor of agent.processors) {
    try {
      const pending = processor.process({ context, agent, tools }, draft);
      if (pending) await pending;
    } catch (error) {
      if (isCoxswainError(error)) throw error;
      const message = `request processor ${processor.name} failed: ${messageOf(error)}`;
      throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message, { cause: error });
    }
  }
  return draft;
}

interface Asking {
  messageId: string;
  callback: CallbackContext;
  hooks: HookChain;
  /** Name of the model that was to be asked before the hooks were. */
  chosen: string;
}

type Asked = { kind: 'answered'; response: ModelResponse } | { kind: 'aborted' } | { kind: 'failed'; failure: Failure };

async function askModel(
  context: AgentContext,
  agent: LlmAgent,
  draft: RequestDraft,
  { messageId, callback, hooks, chosen }: Asking,
): Promise<Asked> {
  const { model, name } = modelOf(context, agent, draft.model === chosen ? undefined : draft.model);
  draft.model = name;
  const { invocation } = context;
  const { controller, detach } = childController(context.signal);
  const shown: ContentPart[] = [];
  invocation.modelCalls++;
  const operation = Operation.start('llm', 'call_llm', invocation.engine.telemetry, context.place.span, () => ({
    'gen_ai.system': model.system ?? 'unknown',
    'gen_ai.request.model': name,
    'gen_ai.operation.name': 'chat',
    ...runAttributes(invocation),
  }));
  let error: unknown;
  try {
    const streaming = invocation.options.streaming ?? true;
    const frames = model.generate(draft, { stream: streaming, signal: controller.signal });
    const response = await orAbort(context.signal, pump(context, frames, messageId, shown, streaming));
    if (response?.errorCode === undefined && response !== undefined) {
      operation?.end(undefined, responseAttributes(response));
      return { kind: 'answered', response };
    }
    error =
      response === undefined
        ? new CoxswainError('UNAVAILABLE', 'E_MODEL_EMPTY', `model ${name} ended without an answer`, {
            retryable: true,
          })
        : response;
  } catch (thrown) {
    error = thrown;
  } finally {
    detach();
    invocation.modelCalls--;
  }
  operation?.end(context.signal.aborted ? context.signal.reason : error);
  if (context.signal.aborted) {
    controller.abort(context.signal.reason);
    if (shown.length > 0) await keepPartial(context, messageId, shown);
    return { kind: 'aborted' };
  }
  const recovered = await recover(context, hooks, callback, draft, error);
  if (recovered) return { kind: 'answered', response: recovered };
  if (shown.length > 0) await keepPartial(context, messageId, shown);
  return { kind: 'failed', failure: isResponse(error) ? modelFailure(error) : thrownFailure(name, error) };
}

function responseAttributes({ finishReason, usage }: ModelResponse): Attributes {
  return {
    ...(finishReason === undefined ? {} : { 'gen_ai.response.finish_reasons': finishReason }),
    ...(usage?.inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': usage.inputTokens }),
    ...(usage?.outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': usage.outputTokens }),
  };
}

/** A hook's answer instead of the error, if one has any. */
async function recover(
  context: AgentContext,
  hooks: HookChain,
  callback: CallbackContext,
  draft: RequestDraft,
  error: unknown,
): Promise<ModelResponse | undefined> {
  try {
    return await hooks.first('onModelError', callback, new Editing(draft).request, error);
  } catch (thrown) {
    context.invocation.engine.warn('an on_model_error hook failed', thrown);
    return undefined;
  }
}

/** Reads a model's frames to the last one, showing deltas on the way. */
async function pump(
  context: AgentContext,
  frames: AsyncIterable<ModelResponse>,
  messageId: string,
  shown: ContentPart[],
  streaming: boolean,
): Promise<ModelResponse | undefined> {
  for await (const frame of frames) {
    if (context.signal.aborted) return undefined;
    if (!frame.partial) return frame;
    const room = show(context, frame, messageId, shown, streaming);
    if (room) await room;
  }
  return undefined;
}

/** Shows one frame's deltas. Apart from the loop, which carries its variables over every wait. */
function show(
  context: AgentContext,
  frame: ModelResponse,
  messageId: string,
  shown: ContentPart[],
  streaming: boolean,
): Promise<void> | undefined {
  let room: Promise<void> | undefined;
  for (const part of frame.content?.parts ?? []) {
    const index = grow(shown, part);
    if (index >= 0 && streaming) room = context.delta(messageId, index, part);
  }
  return room;
}

/** Adds a delta to what has been shown; its place among the parts, or -1 for what is not shown in pieces. */
function grow(shown: ContentPart[], delta: ContentPart): number {
  const last = shown.at(-1);
  if (delta.type === 'text') {
    if (last?.type === 'text') last.text += delta.text;
    else shown.push({ type: 'text', text: delta.text });
  } else if (delta.type === 'thought') {
    if (last?.type === 'thought') last.thought += delta.thought;
    else shown.push({ type: 'thought', thought: delta.thought });
  } else return -1;
  return shown.length - 1;
}

/** What had been said when it was cut off stays in the log. */
function keepPartial(context: AgentContext, messageId: string, shown: ContentPart[]): Promise<void> {
  return context.emit({
    id: messageId,
    interrupted: true,
    turnComplete: false,
    content: { role: 'model', parts: shown },
  });
}

async function afterModel(
  context: AgentContext,
  hooks: HookChain,
  callback: CallbackContext,
  response: ModelResponse,
): Promise<ModelResponse | undefined> {
  try {
    return await hooks.first('afterModel', callback, response);
  } catch (error) {
    context.invocation.engine.warn('an after_model hook failed', error);
    return undefined;
  }
}

interface Answer {
  response: ModelResponse;
  messageId: string;
  replaces: string | undefined;
  /** Absent where no model was asked. */
  model: string | undefined;
  stateDelta: Record<string, unknown>;
}

/**
 * Stores the answer. Its calls get ids of their own and are checked here, once: log, announcement, policy and tool
 * see one value; calls that cannot run are answered in the same append.
 */
async function storeResponse(
  context: AgentContext,
  agent: LlmAgent,
  tools: ToolMap,
  hooks: HookChain,
  answer: Answer,
): Promise<Failure | undefined> {
  const { response } = answer;
  const truncated = response.finishReason === 'length';
  const refusals: FunctionResponsePart[] = [];
  const parts: ContentPart[] = [];
  const longRunning: string[] = [];
  for (const part of response.content?.parts ?? []) {
    if (part.type !== 'function_call') {
      parts.push(copyJson(part, 'model part'));
      continue;
    }
    const prepared = await prepareCall(context, part, tools, hooks, truncated);
    parts.push(prepared.call);
    if (prepared.refusal) refusals.push(prepared.refusal);
    else if (tools.get(part.name)?.descriptor.annotations?.longRunning) longRunning.push(prepared.call.id);
  }
  const content: Content = { role: 'model', parts };
  const actions: Partial<EventActions> = {
    stateDelta: withOutput(agent.outputKey, answer.stateDelta, parts, agent.outputSchema),
  };
  const event = context.event({
    id: answer.messageId,
    content,
    longRunningToolIds: longRunning,
    ...optional(response, answer),
    actions,
  });
  const events = [event];
  if (refusals.length > 0) {
    for (const part of refusals) {
      events.push(context.event({ id: `res:${part.id}`, content: { role: 'user', parts: [part] } }));
    }
  }
  await context.invocation.emit(...events);
  if (response.finishReason === 'refusal' || response.finishReason === 'safety') {
    return {
      reason: 'refusal',
      status: 'FAILED_PRECONDITION',
      code: '',
      message: 'the model refused',
      fatal: false,
      retryable: false,
    };
  }
  return undefined;
}

function optional(response: ModelResponse, answer: Answer): Partial<Event> {
  const { finishReason, usage, citationMetadata, groundingMetadata, customMetadata } = response;
  const metadata = answer.replaces === undefined ? customMetadata : { ...customMetadata, replaces: answer.replaces };
  return {
    ...(answer.model === undefined ? {} : { model: answer.model }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(usage ? { usage: copyJson(usage, 'usage') } : {}),
    ...(citationMetadata ? { citationMetadata: copyJson(citationMetadata, 'citationMetadata') } : {}),
    ...(groundingMetadata ? { groundingMetadata: copyJson(groundingMetadata, 'groundingMetadata') } : {}),
    ...(metadata ? { customMetadata: copyJson(metadata, 'customMetadata') } : {}),
  };
}
