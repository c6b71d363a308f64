import type { ToolDescriptor } from '../../contracts/index.ts';
import { describeTool, toJsonSchema } from '../../gate/index.ts';
import type { Model, ModelResponse } from '../../runtime/index.ts';
import type { ChatWithOptions } from './conversation.ts';

/** The frames of one model call, untouched. */
export function rawFrames(
  model: Model,
  { chat, options }: ChatWithOptions,
  stream: boolean,
): AsyncIterable<ModelResponse> {
  const {
    systemInstruction = '',
    config = {},
    outputSchema,
    answerLimits,
    signal = new AbortController().signal,
  } = options;
  const tools = new Map<string, ToolDescriptor>();
  for (const tool of options.tools ?? []) tools.set(tool.name, describeTool(tool));
  return model.generate(
    {
      model: model.name,
      systemInstruction,
      contents: chat.history,
      config: { ...config },
      tools,
      agent: 'assistant',
      ...(outputSchema ? { outputSchema: toJsonSchema(outputSchema) } : {}),
    },
    { stream, signal, ...(answerLimits ? { answerLimits } : {}) },
  );
}
