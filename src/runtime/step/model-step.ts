import { newId } from '../../base/index.ts';
import type { ContentPart } from '../../contracts/index.ts';
import { CoxswainError, copyJson, isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { AgentContext, ToolMap } from '../agent/index.ts';
import { keepWrites, modelNameOf, orAbort } from '../agent/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { CallbackContext, Editing, failClosed, hookResponse } from '../hooks/index.ts';
import type { Failure } from '../log/index.ts';
import type { ModelResponse, RequestDraft } from '../model/index.ts';
import { isOverflow, isResponse, modelFailure, thrownFailure, unknownEndOf } from '../model/index.ts';
import { compactNow, compactWhereDue, tooLong } from './compaction.ts';
import type { ModelFault } from './model-call.ts';
import { ModelCall } from './model-call.ts';
import type { ModelUser, RequestProcessor, StepFacts } from './model-user.ts';
import { storeResponse } from './store-response.ts';

/**
 * Asks the model once and stores its answer. Where the history has grown too long it is compacted first; where the provider
 * refuses it as too long, once, and the model is asked again. A failure: the turn cannot go on.
 */
export async function modelStep(
  context: AgentContext,
  agent: ModelUser,
  tools: ToolMap,
  hooks: HookChain,
): Promise<Failure | undefined> {
  const due = compactWhereDue(context, agent, hooks, tools);
  if (due && (await due)) return attempt(context, agent, await agent.resolveTools(context), hooks);
  return attempt(context, agent, tools, hooks);
}

/** The same, without a look at how long the history is. `again`: it was refused as too long, and was compacted. */
async function attempt(
  context: AgentContext,
  agent: ModelUser,
  tools: ToolMap,
  hooks: HookChain,
  again = false,
): Promise<Failure | undefined> {
  const callback = new CallbackContext(context);
  const built = buildRequest(context, agent, tools);
  const draft = built instanceof Promise ? await built : built;
  const step: Step = { context, agent, hooks, callback, draft, tools, offered: draft.tools, messageId: newId() };
  const { model: chosen } = draft;
  const given = hooks.has('beforeModel') ? await beforeModel(callback, draft, hooks) : undefined;
  if (given) return take(step, given, undefined);
  const { modelCalls } = context.invocation;
  const beginning = modelCalls.begin(context, agent);
  const failure = beginning instanceof Promise ? await beginning : beginning;
  if (failure) {
    await keepWrites(context, callback);
    return failure;
  }
  try {
    const answer = await ask(step, chosen, again || agent.compaction === false);
    if (answer && !('response' in answer)) await keepWrites(context, callback);
    if (!answer || 'failure' in answer) return answer?.failure;
    if ('response' in answer) return await take(step, answer.response, draft.model);
  } finally {
    modelCalls.end();
  }
  await compactNow(context, agent, hooks, tools, 'overflow');
  if (context.signal.aborted) return undefined;
  return attempt(context, agent, await agent.resolveTools(context), hooks, true);
}

interface Step {
  context: AgentContext;
  agent: ModelUser;
  hooks: HookChain;
  callback: CallbackContext;
  draft: RequestDraft;
  tools: ToolMap;
  /** As the request was before the hooks. */
  offered: RequestDraft['tools'];
  messageId: string;
}

/** There is none yet: the history has to be shorter. */
interface TooLong {
  tooLong: true;
}

/**
 * The model's answer or a hook's instead of it, or why there is none. Undefined: the run was aborted. `isLast`: what is too
 * long stays so.
 */
async function ask(
  { context, agent, hooks, callback, draft, messageId }: Step,
  chosen: string,
  isLast: boolean,
): Promise<{ response: ModelResponse } | { failure: Failure } | TooLong | undefined> {
  const call = new ModelCall(context, agent, draft, { messageId, chosen });
  let said: ModelResponse | undefined;
  let fault: ModelFault | undefined;
  try {
    said = await call.answer();
    fault = call.faultIn(said);
  } catch (error) {
    fault = { error };
  }
  call.end(said, fault);
  if (said && !fault) return { response: said };
  // What failed has cost its tokens all the same.
  if (said?.usage && !context.signal.aborted) {
    await context.emit({ usage: copyJson(said.usage, 'usage'), model: said.model ?? chosen });
  }
  const isTooLong = call.shown.length === 0 && !context.signal.aborted && isOverflow(fault?.error);
  if (isTooLong && !isLast) return { tooLong: true };
  const error = isTooLong ? tooLong(agent, fault?.error) : fault?.error;
  return unanswered(context, call, error, draft, callback, hooks);
}

/** Stores a response, once the hooks have seen it. `asked`: the model that it is of; undefined: none was asked. */
function take(step: Step, given: ModelResponse, asked: string | undefined): Promise<Failure | undefined> {
  const { context, hooks, callback, messageId } = step;
  if (!hooks.has('afterModel')) return keep(step, given, undefined, asked);
  return afterModel(context, hooks, callback, given, messageId).then((replaced) => keep(step, given, replaced, asked));
}

/** The same; `replaced`: a hook's response instead of it. */
function keep(
  { context, agent, hooks, callback, draft, tools, offered, messageId }: Step,
  given: ModelResponse,
  replaced: ModelResponse | undefined,
  asked: string | undefined,
): Promise<Failure | undefined> {
  const response = replaced ?? given;
  const failed = response.errorCode === undefined ? unknownEndOf(response) : response;
  if (failed) return keepWrites(context, callback).then(() => modelFailure(failed));
  return storeResponse(context, agent, offeredOf(tools, offered, draft), hooks, {
    response,
    messageId: replaced ? newId() : messageId,
    replaces: replaced && messageId,
    model: asked === undefined ? undefined : (response.model ?? asked),
    stateDelta: callback.delta,
  });
}

/** A hook's response instead of asking the model; else the draft is what the hooks have made of it. */
async function beforeModel(
  callback: CallbackContext,
  draft: RequestDraft,
  hooks: HookChain,
): Promise<ModelResponse | undefined> {
  const editing = new Editing(draft);
  const ask = () => hooks.first('beforeModel', callback, editing.request);
  const given = await failClosed('before_model', callback.runSignal, ask);
  if (given) return hookResponse(given, 'before_model');
  editing.take();
  return undefined;
}

/** What a hook has taken out of the request cannot be called. */
function offeredOf(tools: ToolMap, before: RequestDraft['tools'], { tools: after }: RequestDraft): ToolMap {
  if (after === before || after.size === before.size) return tools;
  return new Map([...tools].filter(([name]) => after.has(name) || !before.has(name)));
}

/** A promise where one of the processors waits for something. */
function buildRequest(context: AgentContext, agent: ModelUser, tools: ToolMap): RequestDraft | Promise<RequestDraft> {
  const draft: RequestDraft = {
    model: modelNameOf(context, agent),
    systemInstruction: '',
    contents: [],
    config: {},
    tools: new Map(),
    agent: agent.name,
  };
  const facts = { context, agent, tools };
  let next = 0;
  for (const processor of agent.processors) {
    next++;
    const pending = process(processor, facts, draft);
    if (pending) return processOn(processor, pending, agent.processors.slice(next), facts, draft);
  }
  return draft;
}

/** Waits for the first of them, which was asked already, then asks those behind it. */
async function processOn(
  first: RequestProcessor,
  pending: Promise<void>,
  others: readonly RequestProcessor[],
  facts: StepFacts,
  draft: RequestDraft,
): Promise<RequestDraft> {
  await processed(first, pending, facts);
  for (const processor of others) {
    const more = process(processor, facts, draft);
    if (more) await processed(processor, more, facts);
  }
  return draft;
}

function process(processor: RequestProcessor, facts: StepFacts, draft: RequestDraft): void | Promise<void> {
  try {
    return processor.process(facts, draft);
  } catch (error) {
    throw processorFailed(processor, error);
  }
}

async function processed(processor: RequestProcessor, pending: Promise<void>, { context }: StepFacts): Promise<void> {
  try {
    await orAbort(context.signal, pending);
  } catch (error) {
    throw processorFailed(processor, error);
  }
}

function processorFailed({ name }: RequestProcessor, error: unknown): unknown {
  if (isCoxswainError(error)) return error;
  const message = `request processor ${name} failed: ${messageOf(error)}`;
  return new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message, { cause: error });
}

/** The model has not answered: a hook's answer, or why there is none. Undefined: the run was aborted. */
async function unanswered(
  context: AgentContext,
  call: ModelCall,
  error: unknown,
  draft: RequestDraft,
  callback: CallbackContext,
  hooks: HookChain,
): Promise<{ response: ModelResponse } | { failure: Failure } | undefined> {
  const { shown, messageId, name } = call;
  const recovered = context.signal.aborted ? undefined : await recover(context, hooks, callback, draft, error);
  if (recovered) return { response: recovered };
  if (shown.length > 0) await keepPartial(context, messageId, shown);
  if (context.signal.aborted) return undefined;
  return { failure: isResponse(error) ? modelFailure(error) : thrownFailure(name, error) };
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
    const given = await hooks.first('onModelError', callback, new Editing(draft).request, error);
    return given && hookResponse(given, 'on_model_error');
  } catch (thrown) {
    if (context.signal.aborted) return undefined;
    context.invocation.engine.warn('an on_model_error hook failed', thrown);
    return undefined;
  }
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
  messageId: string,
): Promise<ModelResponse | undefined> {
  try {
    const given = await hooks.first('afterModel', callback, response);
    return given && hookResponse(given, 'after_model');
  } catch (error) {
    if (context.signal.aborted) {
      const said = (response.content?.parts ?? []).filter(({ type }) => type === 'text' || type === 'thought');
      if (said.length > 0) await keepPartial(context, messageId, copyJson(said, 'model part'));
      throw error;
    }
    context.invocation.engine.warn('an after_model hook failed', error);
    return undefined;
  }
}
