import { USAGE_COUNTS, usageCounts } from '../../contracts/index.ts';
import type { AgentContext, Attributes } from '../agent/index.ts';
import { runAttributes } from '../agent/index.ts';
import type { Model, ModelResponse } from '../model/index.ts';

/** Settings of a request, by the names that providers have for them. */
const SETTINGS: Readonly<Record<string, string>> = {
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  top_p: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  top_k: 'gen_ai.request.top_k',
  maxOutputTokens: 'gen_ai.request.max_tokens',
  max_output_tokens: 'gen_ai.request.max_tokens',
  maxTokens: 'gen_ai.request.max_tokens',
  max_tokens: 'gen_ai.request.max_tokens',
  max_completion_tokens: 'gen_ai.request.max_tokens',
  seed: 'gen_ai.request.seed',
  presencePenalty: 'gen_ai.request.presence_penalty',
  presence_penalty: 'gen_ai.request.presence_penalty',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  frequency_penalty: 'gen_ai.request.frequency_penalty',
};

/** What is known of a call of a model when it starts. */
export function requestAttributes(
  { invocation }: AgentContext,
  { system = 'unknown', server }: Model,
  { name, config, stream }: { name: string; config: Readonly<Record<string, unknown>>; stream: boolean },
): Attributes {
  const attributes: Attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': system,
    'gen_ai.request.model': name,
    ...(stream ? { 'gen_ai.request.stream': true } : {}),
    ...(server ? { 'server.address': server.address, 'server.port': server.port } : {}),
    ...runAttributes(invocation),
  };
  for (const [setting, value] of Object.entries(config)) {
    const attribute = Object.hasOwn(SETTINGS, setting) ? SETTINGS[setting] : undefined;
    if (attribute !== undefined && typeof value === 'number') attributes[attribute] = value;
  }
  return attributes;
}

/** Characters of what a provider calls itself and its answer: longer ones are no names, and a backend would keep each. */
const MAX_NAME = 256;

function isShort(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME;
}

/** What its answer adds. `firstAfterMs`: until something of a stream came. */
export function responseAttributes(
  { finishReason, usage = {}, model, responseId, tried }: ModelResponse,
  firstAfterMs: number | undefined,
): Attributes {
  const counts = usageCounts.flatMap((name) => (usage[name] === undefined ? [] : [[USAGE_COUNTS[name], usage[name]]]));
  return {
    ...(finishReason === undefined ? {} : { 'gen_ai.response.finish_reasons': [finishReason] }),
    ...(!isShort(model) ? {} : { 'gen_ai.response.model': model }),
    ...(!isShort(responseId) ? {} : { 'gen_ai.response.id': responseId }),
    ...(tried ? { 'coxswain.models.tried': tried.map((each) => `${each.model}: ${each.errorCode}`) } : {}),
    ...(firstAfterMs === undefined ? {} : { 'gen_ai.response.time_to_first_chunk': firstAfterMs / 1000 }),
    ...Object.fromEntries(counts),
  };
}
