import { expect, test } from 'vitest';
import type { AgentSession, AgentSource, AnyTool } from '../../src/contracts/index.ts';
import { subagentSessionId } from '../../src/gate/index.ts';
import { subagentTool } from '../../src/host/index.ts';
import { allowAll, createHost, fromAgent, InMemorySessionService, LlmAgent, ParallelAgent } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { door, endOf, follow, notingTool, policyOf, results, say, tool } from './kit.ts';

/**
 * An executor that names its calls by itself: the runtime, with these ids in the order of its calls. They are replaced
 * wherever they stand, so that none may be found in a UUID.
 */
function naming(source: AgentSource, names: readonly string[]): AgentSource {
  const ids = new Map<string, string>();
  const swap = <T>(value: T, pairs: Iterable<[string, string]>): T => {
    if (value === undefined) return value;
    let text = JSON.stringify(value);
    for (const [from, to] of pairs) text = text.replaceAll(from, to);
    return JSON.parse(text) as T;
  };
  const out = <T>(value: T): T => {
    const calls = JSON.stringify(value)?.matchAll(
      /"type":"tool_request"[^{}]*?"requestId":"([^"#]+)"|"callId":"([^"#]+)"/g,
    );
    for (const [, one, other] of calls ?? []) {
      const id = one ?? other ?? '';
      if (!ids.has(id)) ids.set(id, names[ids.size] ?? id);
    }
    return swap(value, ids);
  };
  const back = <T>(value: T): T => swap(value, [...ids].map(([from, to]) => [to, from] as [string, string]).reverse());
  const named = (inner: AgentSession): AgentSession => ({
    id: inner.id,
    descriptor: inner.descriptor,
    stream(input, options) {
      const { signal, ...rest } = options ?? {};
      const stream = inner.stream(back(input), { ...back(rest), ...(signal ? { signal } : {}) });
      return {
        streamId: stream.streamId,
        abort: (reason) => stream.abort(reason),
        next: async () => {
          const step = await stream.next();
          return step.done ? step : { done: false, value: out(step.value) };
        },
        return: async () => ({ done: true, value: (await stream.return?.())?.value }),
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
    async *events(options) {
      for await (const event of inner.events(options)) yield out(event);
    },
    pending: async () => out(await inner.pending()),
    respond: (requestId, answer) => inner.respond(back(requestId), back(answer)),
    steer: (data) => inner.steer(data),
    update: (config) => inner.update(config),
    abort: (target) => inner.abort(back(target)),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
  return { ...source, open: async (ref, context) => named(await source.open(ref, context)) };
}

function hostOf(names: readonly string[], script: readonly Script[], tools: readonly AnyTool[], policy = allowAll()) {
  const boss = new LlmAgent({ name: 'boss', model: new ScriptedModel([...script]) });
  return createHost({
    app: 'shop',
    agents: [naming(fromAgent(boss), names)],
    tools,
    store: new InMemorySessionService(),
    policy,
  });
}

test('S3-56 an abort of one thread ends that of the call it is below, not of one whose id begins alike', async () => {
  const both = door();
  const waiting = new Map<string, AbortSignal>();
  const slow = tool('slow', (_, { sessionId, signal }) => {
    waiting.set(sessionId.split('.').at(-1) ?? '', signal);
    if (waiting.size === 2) both.open();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const left = new LlmAgent({ name: 'left', model: new ScriptedModel([{ calls: [['slow']] }, { calls: [['slow']] }]) });
  const expert = fromAgent(new ParallelAgent({ name: 'expert', description: 'knows', subAgents: [left] }));
  const script = [
    { calls: [['expert', { request: 'one' }] as const, ['expert', { request: 'two' }] as const] },
    'done',
  ];
  const session = await hostOf(['call-1', 'call-10'], script, [slow, subagentTool(expert)]).open('boss');
  const stream = follow(session, 'go');
  await both.opened;
  const { threadId } = await stream.seen('tool_request', (event) => event.threadId?.startsWith('/call-10.') ?? false);
  await session.abort({ threadId: String(threadId) });
  await stream.seen('tool_response', (event) => event.threadId === threadId);
  // The agent names its calls itself: it is in the names of their sessions.
  const signalOf = (call: string) =>
    waiting.get(subagentSessionId(session.id, session.id, call, 'boss').split('.').at(-1) ?? '');
  expect([signalOf('call-1')?.aborted, signalOf('call-10')?.aborted]).toEqual([false, true]);
  await session.abort();
  expect(endOf(await stream.ended).reason).toBe('aborted');
});

test('S3-63 a question about a call whose id holds what marks a question is answered where it is asked', async () => {
  const pay = notingTool('pay');
  const script = [{ calls: [['pay']] }, 'done'] satisfies Script[];
  const session = await hostOf(['a#b'], script, [pay.tool], policyOf({ pay: 'ask' })).open('boss');
  await say(session, 'go');
  const [question] = await session.pending();
  expect(question?.requestId).toBe('a#b#policy');
  await session.respond('a#b#policy', { kind: 'approve' });
  expect(results(await say(session, { kind: 'continue' }))).toEqual({ pay: 'pay done' });
});

test('F20 what a handler asks in one session is no question about the call of another that has the same id', async () => {
  const runs: unknown[] = [];
  const pay = tool('pay', (args, context) => {
    if (context.confirmation) runs.push([context.sessionId, args]);
    else context.requestConfirmation({ hint: 'sure?' });
    return 'paid';
  });
  const model = new ScriptedModel([{ calls: [['pay', { to: 'ann' }]] }, { calls: [['pay', { to: 'bob' }]] }, 'done']);
  const source = fromAgent(new LlmAgent({ name: 'boss', model }));
  const host = createHost({
    app: 'shop',
    // Each session numbers its calls by itself.
    agents: [{ ...source, open: (ref, context) => naming(source, ['call-1']).open(ref, context) }],
    tools: [pay],
    store: new InMemorySessionService(),
    policy: allowAll(),
  });
  const asking = async (userId: string) => {
    const session = await host.open('boss', { userId });
    await say(session, 'go');
    return session;
  };
  const [ann, bob] = [await asking('ann'), await asking('bob')];
  const asked = [ann, bob].map(async (session) =>
    (await session.pending()).map(({ requestId, args }) => [requestId, args]),
  );
  expect(await Promise.all(asked)).toEqual([[['call-1#policy', { to: 'ann' }]], [['call-1#policy', { to: 'bob' }]]]);
  await bob.respond('call-1#policy', { kind: 'approve' });
  await say(bob, { kind: 'continue' });
  expect(runs).toEqual([[bob.id, { to: 'bob' }]]);
  expect(await ann.pending()).toHaveLength(1);
});
