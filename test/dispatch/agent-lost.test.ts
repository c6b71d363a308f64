import { describe, expect, test } from 'vitest';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { dispatchAgent } from '../../src/dispatch/index.ts';
import { InMemorySessionService, ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { collect, llm, mortal } from '../runtime/kit.ts';
import { asks, byo, endOf, open, remover, responsesOf, say } from './agent-kit.ts';
import { message } from './kit.ts';

describe('the process is lost', () => {
  test('F50 E_SUSPENSION_LOST: nothing is run again, what was started is told as interrupted', async () => {
    const sessions = new InMemorySessionService();
    const { removed, rm } = remover();
    const executor: DispatchAgentOptions['executor'] = async (ctx) => {
      await ctx.tools.get('rm')?.executor(ctx)({ file: 'x' });
      ctx.ack();
    };
    // The tool has run; the process dies before its result is stored.
    const dying = mortal(sessions, (events) => events.some(({ id }) => id.startsWith('res:')));
    const first = await open(byo(executor, { tools: [rm] }), { sessions: dying });
    const lost = await collect(first.stream('go'));
    expect(endOf(lost)).toMatchObject({ reason: 'failed' });

    const second = await open(byo(executor, { tools: [rm] }), { sessions });
    const events = await say(second, { kind: 'continue' });
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_SUSPENSION_LOST' });
    expect(responsesOf(events)).toMatchObject([{ errorType: 'interrupted' }]);
    expect(removed).toEqual(['x']);
  });

  test('an approval that comes after the loss is stored, and the run fails all the same', async () => {
    const sessions = new InMemorySessionService();
    const { removed, rm } = remover();
    const executor: DispatchAgentOptions['executor'] = async (ctx) => {
      await ctx.tools.get('rm')?.executor(ctx)({ file: 'x' });
      ctx.ack();
    };
    const agent = () => byo(executor, { tools: [rm] });
    // Two views of one store are two processes.
    const first = await open(agent(), { sessions: mortal(sessions, () => false), policy: asks });
    await say(first, 'go');
    const second = await open(agent(), { sessions: mortal(sessions, () => false), policy: asks });
    const [request] = await second.pending();
    await second.respond(request?.requestId ?? '', { kind: 'approve' });
    const events = await say(second, { kind: 'continue' });
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_SUSPENSION_LOST' });
    expect(removed).toEqual([]);
  });

  test('an agent that is done is not run again when a later one resumes', async () => {
    const sessions = new InMemorySessionService();
    let runs = 0;
    const { removed, rm } = remover();
    const tree = () =>
      new SequentialAgent({
        name: 'seq',
        subAgents: [
          byo(async (ctx) => {
            runs++;
            await ctx.storeMessage(message('m', 'first'));
            ctx.ack();
          }),
          llm(
            'after',
            new ScriptedModel({ responses: removed.length || runs ? ['done'] : [{ calls: [['rm', { file: 'x' }]] }] }),
            {
              tools: [rm],
            },
          ),
        ],
      });
    const first = await open(tree(), { sessions: mortal(sessions, () => false), policy: asks });
    await say(first, 'go');
    const second = await open(tree(), { sessions: mortal(sessions, () => false), policy: asks });
    const [request] = await second.pending();
    await second.respond(request?.requestId ?? '', { kind: 'approve' });
    expect(endOf(await say(second, { kind: 'continue' }))).toMatchObject({ reason: 'completed' });
    expect([runs, removed]).toEqual([1, ['x']]);
  });

  test('two of them side by side: each has its own place', async () => {
    const { removed, rm } = remover();
    const one = (name: string) =>
      dispatchAgent({
        name,
        tools: [rm],
        executor: async (ctx) => {
          await ctx.tools.get('rm')?.executor(ctx)({ file: name });
          ctx.ack();
        },
      });
    const session = await open(new ParallelAgent({ name: 'both', subAgents: [one('a'), one('b')] }), { policy: asks });
    await say(session, 'go');
    for (const request of await session.pending()) await session.respond(request.requestId, { kind: 'approve' });
    expect(endOf(await say(session, { kind: 'continue' }))).toMatchObject({ reason: 'completed' });
    expect([...removed].sort()).toEqual(['a', 'b']);
  });
});
