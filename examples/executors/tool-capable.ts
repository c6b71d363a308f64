import type { DispatchContext, DispatchExecutorFn, DispatchExecutorHelpers } from 'coxswain/dispatch';
import {
  InMemorySpoolStore,
  isErrorResult,
  Message,
  SpooledArtifact,
  ToolCall,
  toolCallChecksum,
} from 'coxswain/dispatch';
import { streamChat } from './chat-stream.ts';

const spool = new InMemorySpoolStore();

type Asked = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** Asks, runs the tools that the model wants, and asks again until there is an answer. */
export const toolCapableExecutor: DispatchExecutorFn = async (ctx, helpers) => {
  const messages: unknown[] = [...ctx.turnMessages].map(({ role, content }) => ({ role, content: content ?? '' }));
  const tools = ctx.tools.all().map((tool) => {
    const { name, description, inputSchema } = tool.describe();
    return { type: 'function', function: { name, description, parameters: inputSchema } };
  });
  try {
    for (;;) {
      const id = crypto.randomUUID();
      const { text, calls } = await ask(ctx, helpers, id, { messages, ...(tools.length > 0 ? { tools } : {}) });
      if (text !== '') await store(ctx, id, text);
      if (calls.length === 0) return ctx.ack();
      messages.push({ role: 'assistant', content: text || null, tool_calls: calls });
      for (const call of calls) {
        messages.push({ role: 'tool', tool_call_id: call.id, content: await run(ctx, helpers, call) });
      }
    }
  } catch (error) {
    ctx.nack(error);
  }
};

/** One answer of the model; its calls are put together from their pieces, by index. */
async function ask(
  ctx: DispatchContext,
  { reportMessage }: DispatchExecutorHelpers,
  id: string,
  body: Record<string, unknown>,
): Promise<{ text: string; calls: Asked[] }> {
  const calls = new Map<number, Asked>();
  let text = '';
  for await (const { content, tool_calls } of streamChat(body, ctx.abortSignal)) {
    if (content) {
      text += content;
      reportMessage(id, content);
    }
    for (const piece of tool_calls ?? []) {
      const index = piece.index ?? 0;
      const call = calls.get(index) ?? {
        id: crypto.randomUUID(),
        type: 'function',
        function: { name: '', arguments: '' },
      };
      call.id = piece.id ?? call.id;
      call.function.name ||= piece.function?.name ?? '';
      call.function.arguments += piece.function?.arguments ?? '';
      calls.set(index, call);
    }
  }
  if (text !== '') reportMessage(id, '', { isComplete: true });
  return { text, calls: [...calls].sort(([a], [b]) => a - b).map(([, call]) => call) };
}

/** Runs one call and remembers it; what comes back is for the model. */
async function run(ctx: DispatchContext, { reportToolCall }: DispatchExecutorHelpers, call: Asked): Promise<string> {
  const { id } = call;
  const { name } = call.function;
  const args: unknown = call.function.arguments ? JSON.parse(call.function.arguments) : {};
  const createdAt = new Date();
  reportToolCall(id, { tool: name, args });
  const tool = ctx.tools.get(name);
  if (!tool) throw new Error(`the model asked for ${name}, which is no tool here`);
  const value = await tool.executor(ctx)(args);
  const isError = isErrorResult(value);
  const Artifact = tool.artifactConstructor?.() ?? SpooledArtifact;
  const isBulk = typeof value === 'string' || value instanceof Uint8Array;
  const results = isBulk ? new Artifact(spool.write(id, value)) : value;
  reportToolCall(id, { results, isError, isComplete: true });
  const now = new Date();
  const checksum = toolCallChecksum(name, args);
  const times = { createdAt, updatedAt: now, completedAt: now };
  await ctx.storeToolCall(
    new ToolCall({ id, checksum, tool: name, args, results, isError, isComplete: true, ...times }),
  );
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function store(ctx: DispatchContext, id: string, content: string): Promise<void> {
  const now = new Date();
  await ctx.storeMessage(new Message({ id, role: 'assistant', content, createdAt: now, updatedAt: now }));
}
