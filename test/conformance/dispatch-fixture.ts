import type { FixtureStep } from '../../src/conformance/index.ts';
import { parseFixture } from '../../src/conformance/index.ts';
import type { AnyAgentTool } from '../../src/contracts/index.ts';
import type { DispatchContext, DispatchExecutorFn } from '../../src/dispatch/index.ts';
import { dispatchAgent, Message } from '../../src/dispatch/index.ts';
import { after } from './fixture-model.ts';

/** An executor of one's own that does what fixture messages say; its tools run inline. */
const executor: DispatchExecutorFn = async (ctx, { reportMessage, reportThought }) => {
  const heard = wordsOfUser(ctx);
  const opening = heard.findLast((text) => parseFixture(text)) ?? '';
  const steps = parseFixture(opening) ?? [{ text: `You said: ${heard.at(-1)}` }];
  let results: string[] = [];
  for (const step of [...steps, {} as FixtureStep]) {
    const { fail, wait, waitMs, thought, recall } = step;
    if (fail !== undefined) return ctx.nack(new Error(fail));
    if (wait) await untilAborted(ctx.abortSignal);
    if (waitMs !== undefined) await after(waitMs, ctx.abortSignal);
    const calls = step.ask ? [{ name: 'ask_person', args: step.ask }] : step.calls;
    if (calls) {
      results = await Promise.all(calls.map(({ name, args }) => resultOf(ctx, name, args)));
      continue;
    }
    const text = recall ? JSON.stringify(wordsOfUser(ctx)) : (step.text ?? results.join('\n'));
    const id = crypto.randomUUID();
    if (thought) reportThought(`${id}-t`, thought);
    for (const word of text.match(/\S+\s*/g) ?? []) reportMessage(id, word);
    reportMessage(id, '', { isComplete: true });
    const now = new Date();
    const message = new Message({ id, role: 'assistant', content: text, createdAt: now, updatedAt: now });
    if (text !== '') await ctx.storeMessage(message);
    return ctx.ack();
  }
};

const wordsOfUser = (ctx: DispatchContext) =>
  [...ctx.turnMessages].filter(({ role }) => role === 'user').map(({ content }) => String(content ?? ''));

const untilAborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

async function resultOf(ctx: DispatchContext, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await ctx.tools.get(name)?.executor(ctx)(args);
  return `${name} -> ${result === undefined ? 'no such tool' : JSON.stringify(result)}`;
}

export const dispatching = (tools: readonly AnyAgentTool[]) => dispatchAgent({ name: 'byo', executor, tools });
