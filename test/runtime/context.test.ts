import { describe, expect, test } from 'vitest';
import type { CallbackContext, ToolContext } from '../../src/runtime/index.ts';
import { InMemoryArtifactService, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, llm, ownTool, responses, tool } from './kit.ts';

describe('S0-48 contexts', () => {
  test('a callback has the invocation, its agent and a delta of its own', async () => {
    const contexts: CallbackContext[] = [];
    const child = llm('child', new ScriptedModel(['ok']), {
      beforeAgent: (context) => {
        contexts.push(context);
        context.state.set('a', 1);
        return undefined;
      },
      afterAgent: (context) => {
        contexts.push(context);
        return undefined;
      },
    });
    const { say } = bench(new SequentialAgent({ name: 'root', subAgents: [child] }));
    const events = await say('hi');
    const [before, after] = contexts as [CallbackContext, CallbackContext];
    expect(before).toMatchObject({
      agentName: 'child',
      agentPath: ['root', 'child'],
      sessionId: 's1',
      delta: { a: 1 },
    });
    expect(before.invocation).toMatchObject({
      invocationId: events[0]?.invocationId,
      turnId: events[0]?.turnId,
      signal: { aborted: false },
    });
    expect(before.invocation.tree.root.name).toBe('root');
    expect(before.signal.aborted).toBe(false);
    // Its own delta is what it wrote; what it reads is everything.
    expect([after.delta, after.state.get('a')]).toEqual([{}, 1]);
  });

  test('a tool has that and its call’s id, its own delta and signals', async () => {
    const contexts: ToolContext[] = [];
    const note = ownTool('note', (_, context) => {
      contexts.push(context as unknown as ToolContext);
      context.state.set(`by ${contexts.length}`, context.callId);
      if (contexts.length === 2) context.escalate();
      return 'ok';
    });
    const { say, state } = bench(
      llm('bot', new ScriptedModel([{ calls: [['note'], ['note']] }, 'ok']), { tools: [note] }),
    );
    const events = await say('hi');
    const calls = events.flatMap(({ content }) =>
      (content?.parts ?? []).flatMap((part) => (part.type === 'function_call' ? [part.id] : [])),
    );
    expect(new Set(calls).size).toBe(2);
    expect(contexts.map(({ callId }) => callId)).toEqual(calls);
    expect(contexts.map(({ effects }) => effects)).toEqual([{}, { escalate: true }]);
    expect(await state()).toEqual({ 'by 1': calls[0], 'by 2': calls[1] });
    const answered = events.filter(({ content }) => content?.parts[0]?.type === 'function_response');
    expect(answered.map(({ actions }) => [Object.keys(actions.stateDelta), actions.escalate])).toEqual([
      [['by 1'], false],
      [['by 2'], true],
    ]);
    expect(contexts[0]).toMatchObject({ agentName: 'bot', agentPath: ['bot'], sessionId: 's1' });
    expect(contexts[0]?.invocation.invocationId).toBe(events[0]?.invocationId);
  });

  test('hooks around a tool share its call id; memory and artifacts are reached from both', async () => {
    const ids = new Set<string>();
    const found: unknown[] = [];
    const save = ownTool('save', async (_, context) => {
      ids.add(context.callId);
      const version = await context.artifacts.save('a.txt', { mimeType: 'text/plain', data: 'eA==' });
      return { version };
    });
    const agent = llm('bot', new ScriptedModel([{ calls: [['save']] }, 'ok']), {
      tools: [save],
      beforeTool: (context) => void ids.add(context.callId),
      afterTool: (context) => void ids.add(context.callId),
      beforeAgent: async (context) => void found.push(await context.searchMemory('tea')),
    });
    const artifacts = new InMemoryArtifactService();
    const { say } = bench(agent, { services: { artifacts } });
    const events = await say('hi');
    expect([ids.size, found, responses(events).save]).toEqual([1, [[]], { version: 1 }]);
    expect(events.find(({ actions }) => actions.artifactDelta['a.txt'])?.actions.artifactDelta).toEqual({ 'a.txt': 1 });
  });

  test('the signal of a call follows the run and can be asked for late', async () => {
    const signals: AbortSignal[] = [];
    const wait = tool('wait', (_, context) => {
      signals.push(context.signal);
      return new Promise((resolve) => context.signal.addEventListener('abort', () => resolve('late')));
    });
    const { runner, log } = bench(llm('bot', new ScriptedModel([{ calls: [['wait']] }]), { tools: [wait] }));
    const stop = new AbortController();
    const stream = runner.run({ userId: 'ann', sessionId: 's1', input: 'hi', signal: stop.signal });
    for await (const event of stream) if (event.actions.started) setImmediate(() => stop.abort('enough'));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    const stored = await log();
    expect(stored.at(-1)?.actions.end).toEqual({ reason: 'aborted' });
    expect(String(responses([...stored]).wait?.error)).toContain('interrupted');
  });
});
