import type { ContentPart, FunctionCallPart, ToolDescriptor } from '../../contracts/index.ts';
import { messageOf, textOfParts } from '../../contracts/index.ts';
import type { DispatchContext, DispatchExecutorHelpers, Tool } from '../../dispatch/index.ts';
import {
  isErrorResult,
  Message,
  SpooledArtifact,
  statsOfUsage,
  Thought,
  ToolCall,
  toolCallChecksum,
} from '../../dispatch/index.ts';
import type { ModelResponse } from '../../runtime/index.ts';
import { underSignal } from '../../runtime/index.ts';
import { AnswerCounter } from '../../session/index.ts';
import type { ChatChunk } from '../models/openai/index.ts';
import { ChatDecoder } from '../models/openai/index.ts';
import { partsIn } from '../models/wire/index.ts';
import { declareTools } from '../schema/index.ts';
import { chatHistory, nextTime } from './chat-history.ts';
import type { ChatOptions, Resolved } from './options.ts';

/** What one answer of a server came as. */
export interface ChatAnswer {
  chunks: AsyncIterable<ChatChunk>;
  /** The server has said that it is done. */
  ended(): boolean;
}

/** The signal ends the question, whether the turn is over or its answer too large. */
export type AskServer = (body: Record<string, unknown>, signal: AbortSignal) => Promise<ChatAnswer>;

/**
 * One run of a battery: one question, one answer, its tools. An answer without calls is left to a pipeline, or
 * acknowledged under `autoAck`; with calls the run returns and the dispatch runs it again. Every failure is a nack.
 */
export async function chatRun(
  context: DispatchContext,
  helpers: DispatchExecutorHelpers,
  provider: string,
  resolve: () => Resolved<ChatOptions>,
  ask: AskServer,
): Promise<void> {
  try {
    const settings = resolve();
    const answer = await speak(context, helpers, provider, settings, ask);
    if (context.aborted) return;
    const calls = answer.content?.parts.filter((part): part is FunctionCallPart => part.type === 'function_call') ?? [];
    if (calls.length > 0) await runCalls(context, helpers, settings, calls, answer.finishReason === 'length');
    else if (settings.autoAck) context.ack();
    else if (!context.isSignalled) {
      const message = 'the answer is left unsignalled: unless a pipeline signals, the model is asked again';
      helpers.log.warn({ kind: 'unsignalled-answer', message });
    }
  } catch (error) {
    if (context.aborted || context.isSignalled) return;
    helpers.log.error({ kind: 'generation-failed', message: messageOf(error) });
    context.nack(error);
  }
}

async function speak(
  context: DispatchContext,
  helpers: DispatchExecutorHelpers,
  provider: string,
  settings: Resolved<ChatOptions>,
  ask: AskServer,
): Promise<ModelResponse> {
  const descriptors = new Map<string, ToolDescriptor>(context.tools.all().map((tool) => [tool.name, tool.describe()]));
  const declared = declareTools(descriptors, 'openai');
  const messages = await chatHistory(context, {
    policy: settings.unsupportedMediaPolicy,
    nonce: settings.helpers?.nonce,
    warn: (message) => helpers.log.warn({ kind: 'media-described', message }),
    aliasOf: (name) => declared.aliasOf(name),
  });
  const tools = declared.tools.map(({ alias, description, schema }) => ({
    type: 'function',
    function: { name: alias, description, parameters: schema },
  }));
  const { model, stream, params } = settings;
  const body = { ...params, model, stream, messages, ...(tools.length > 0 ? { tools } : {}) };
  const id = crypto.randomUUID();
  const response = await counted(context, async (counter, signal) => {
    const decoder = new ChatDecoder(provider, declared, counter);
    const answer = await ask(body, signal);
    for await (const chunk of answer.chunks) {
      if (context.aborted) return undefined;
      const shown = partsIn(decoder.push(chunk));
      counter.add(shown);
      for (const part of shown) show(helpers, id, part);
    }
    return context.aborted ? undefined : decoder.finish({ stream, sentinel: answer.ended() });
  });
  if (!response) return {};
  await remember(context, helpers, id, response.content?.parts ?? []);
  const { usage, finishReason, model: spoke } = response;
  helpers.reportGenerationStats({
    provider,
    ...(usage ? statsOfUsage(usage) : {}),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(spoke === undefined ? {} : { model: spoke }),
  });
  return response;
}

/** Under the bounds of one answer, that of its time included. */
async function counted<T>(
  { bounds, abortSignal }: DispatchContext,
  work: (counter: AnswerCounter, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const counter = new AnswerCounter(bounds.answerLimits);
  let over: (() => void) | undefined;
  try {
    return await underSignal(abortSignal, async (signal, end) => {
      over = counter.watch(end);
      try {
        return await work(counter, signal);
      } catch (error) {
        // What the server still sends is given up.
        end(error);
        throw error;
      }
    });
  } finally {
    over?.();
  }
}

function show({ reportMessage, reportThought }: DispatchExecutorHelpers, id: string, part: ContentPart): void {
  if (part.type === 'text') reportMessage(id, part.text);
  else if (part.type === 'thought') reportThought(id, part.thought);
}

async function remember(
  context: DispatchContext,
  helpers: DispatchExecutorHelpers,
  id: string,
  parts: readonly ContentPart[],
): Promise<void> {
  const time = nextTime(context);
  const times = { createdAt: time, updatedAt: time };
  const thought = parts.flatMap((part) => (part.type === 'thought' ? [part.thought] : [])).join('');
  if (thought !== '') {
    helpers.reportThought(id, '', { isComplete: true });
    await context.storeThought(new Thought({ id, content: thought, ...times }));
  }
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('');
  // A refusal is never shown in pieces.
  if (refusal !== '') helpers.reportMessage(id, refusal);
  const content = textOfParts(parts) + refusal;
  if (content === '') return;
  helpers.reportMessage(id, '', { isComplete: true });
  await context.storeMessage(new Message({ id, role: 'assistant', content, ...times }));
}

async function runCalls(
  context: DispatchContext,
  helpers: DispatchExecutorHelpers,
  settings: Resolved<ChatOptions>,
  calls: readonly FunctionCallPart[],
  truncated: boolean,
): Promise<void> {
  const time = nextTime(context);
  const ids = new Set([...context.turnToolCalls].map(({ id }) => id));
  for (const call of calls) {
    const { name } = call;
    const args: unknown = call.args;
    const id = freshId(call, ids);
    ids.add(id);
    helpers.reportToolCall(id, { tool: name, args });
    const { value, isError } = truncated
      ? failed('the answer was cut at the output limit; nothing of it ran. Ask for less at once.')
      : await runOne(context, name, args);
    const results = spooled(context.tools.get(name), value, id, settings);
    helpers.reportToolCall(id, { results, isError, isComplete: true });
    const times = { createdAt: time, updatedAt: Date.now(), completedAt: Date.now() };
    const checksum = toolCallChecksum(name, args);
    await context.storeToolCall(
      new ToolCall({ id, checksum, tool: name, args, results, isError, isComplete: true, ...times }),
    );
  }
}

interface Came {
  value: unknown;
  isError: boolean;
}

/** Whatever goes wrong is the model's to read; only an abort ends the run. */
async function runOne(context: DispatchContext, name: string, args: unknown): Promise<Came> {
  const tool = context.tools.get(name);
  if (!tool) {
    const names = context.tools.all().map((known) => known.name);
    return failed(`Tool not found: ${name}. Valid tools: ${names.join(', ') || 'none'}`);
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return failed(typeof args === 'string' ? 'the arguments are not JSON' : 'the arguments are not an object');
  }
  try {
    const value = await tool.executor(context)(args);
    if (isErrorResult(value)) return failed(textOfParts(value.content));
    return { value, isError: false };
  } catch (error) {
    if (context.aborted) throw error;
    return failed(messageOf(error));
  }
}

function failed(message: string): Came {
  return { value: { error: message }, isError: true };
}

function spooled(tool: Tool | undefined, value: unknown, id: string, { spoolStore }: Resolved<ChatOptions>): unknown {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    const Artifact = tool?.artifactConstructor?.() ?? SpooledArtifact;
    return new Artifact(spoolStore.write(id, value));
  }
  return value ?? null;
}

/** The model's own id, unless it has been used: servers number anew with every answer. */
function freshId(call: FunctionCallPart, taken: ReadonlySet<string>): string {
  const given = (call._meta?.provider as { id?: string } | undefined)?.id ?? '';
  return given === '' || taken.has(given) ? crypto.randomUUID() : given;
}
