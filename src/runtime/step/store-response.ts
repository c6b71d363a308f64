import { breath, MANY, Pace } from '../../base/index.ts';
import type { Content, ContentPart } from '../../contracts/index.ts';
import { copyJson, textOfParts } from '../../contracts/index.ts';
import type { AgentContext, ToolMap } from '../agent/index.ts';
import { promisedValue, withOutput } from '../agent/index.ts';
import type { Prepared } from '../calls/index.ts';
import { prepareCall, refusalEvents } from '../calls/index.ts';
import type { HookChain } from '../hooks/index.ts';
import type { EventActions, Failure, StoredEvent } from '../log/index.ts';
import type { FinishReason, ModelResponse } from '../model/index.ts';
import { finishReasonOf } from '../model/index.ts';
import { endBehind } from './end-behind.ts';
import type { ModelUser } from './model-user.ts';

/** An answer of a model, or a hook's instead of it. */
export interface Answer {
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
export async function storeResponse(
  context: AgentContext,
  agent: ModelUser,
  tools: ToolMap,
  hooks: HookChain,
  answer: Answer,
): Promise<Failure | undefined> {
  const { response } = answer;
  const reached = endOf(response);
  const truncated = reached === 'length';
  const isRefused = reached === 'refusal' || reached === 'safety';
  const refused: Prepared[] = [];
  const parts: ContentPart[] = [];
  const longRunning: string[] = [];
  const said = response.content?.parts ?? [];
  const pace = said.length > 1 ? new Pace() : undefined;
  for (const part of said) {
    const rest = pace?.rest();
    if (rest) await rest;
    if (part.type !== 'function_call') {
      parts.push(copyJson(part, 'model part'));
      continue;
    }
    const prepared = await prepareCall(context, part, tools, hooks, truncated);
    parts.push(prepared.call);
    if (prepared.refusal) refused.push(prepared);
    else if (tools.get(part.name)?.descriptor.annotations?.longRunning) longRunning.push(prepared.call.id);
  }
  // A copy: an array that was pushed to keeps room for sixteen more, as long as the log does.
  const content: Content = { role: 'model', parts: parts.slice() };
  const output =
    agent.outputKey === undefined ? undefined : await promisedValue(agent, textOfParts(parts), context.activation);
  const actions: Partial<EventActions> = {
    stateDelta: isRefused ? answer.stateDelta : withOutput(agent.outputKey, answer.stateDelta, parts, () => output),
  };
  const event = context.event({
    id: answer.messageId,
    content,
    longRunningToolIds: longRunning,
    ...optional(response, answer),
    actions,
  });
  const events = [event, ...refusalEvents(context, refused)];
  if (parts.length > MANY) await breath();
  const end = events.length === 1 && !isRefused ? endBehind(context, agent, hooks, event) : undefined;
  if (end) events.push(end);
  await context.invocation.emit(...events);
  if (isRefused) {
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

function optional(response: ModelResponse, answer: Answer): Partial<StoredEvent> {
  const { finishReason, usage, citationMetadata, groundingMetadata, customMetadata } = response;
  const metadata = {
    ...customMetadata,
    ...(response.tried ? { tried: response.tried } : {}),
    ...(response.compacted ? { compacted: response.compacted } : {}),
    ...(answer.replaces === undefined ? {} : { replaces: answer.replaces }),
  };
  const init: Partial<StoredEvent> = {};
  if (answer.model !== undefined) init.model = answer.model;
  if (finishReason !== undefined) init.finishReason = finishReason;
  if (usage) init.usage = copyJson(usage, 'usage');
  if (citationMetadata) init.citationMetadata = copyJson(citationMetadata, 'citationMetadata');
  if (groundingMetadata) init.groundingMetadata = copyJson(groundingMetadata, 'groundingMetadata');
  if (Object.keys(metadata).length > 0) init.customMetadata = copyJson(metadata, 'customMetadata');
  return init;
}

function endOf({ finishReason }: ModelResponse): FinishReason | undefined {
  return finishReason === undefined ? undefined : finishReasonOf(finishReason);
}
