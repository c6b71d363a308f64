import { describe, expect, test } from 'vitest';
import type { AgentEvent, ExecutorSession, ReportedRequest } from '../../../src/contracts/index.ts';
import { SubagentSession, subagentThread } from '../../../src/host/subagents/subagent-session.ts';
import { answeredNow, heed, hold, putQuestions, resultArtifacts } from '../../../src/session/index.ts';

const caller = { requestId: 'c', callId: 'c', sessionId: 's', agentPath: ['boss'], threadId: 'w' } as ReportedRequest;

/** A sub-agent's session as its caller's host sees it; `told`: what reaches the session itself. */
function view(inner: object = {}, request = caller) {
  const told: unknown[][] = [];
  const notes =
    (name: string) =>
    (...args: unknown[]) => {
      told.push([name, ...args]);
      return Promise.resolve(name);
    };
  const own = { steer: notes('steer'), abort: notes('abort'), [Symbol.asyncDispose]: notes('dispose'), ...inner };
  return { made: new SubagentSession(own as unknown as ExecutorSession, request), told, notes };
}

const events = (...all: object[]) => all as AgentEvent[];
const message = { type: 'message', role: 'agent', content: [] };
const streamOf = (all: readonly AgentEvent[], ended: unknown[]) => {
  const items = all[Symbol.iterator]();
  return {
    streamId: 'x',
    abort: async (reason?: string) => void ended.push(reason),
    next: async () => items.next(),
    return: async () => {
      ended.push('left');
      return { value: undefined, done: true as const };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
const collected = async (items: AsyncIterable<AgentEvent>) => {
  const found: AgentEvent[] = [];
  for await (const event of items) found.push(event);
  return found;
};

describe('MUT-H20 a sub-agent’s session, as its caller’s host sees it', () => {
  test('has its threads below the call, by its id or else by that of its request', () => {
    expect(subagentThread(caller)).toBe('w/c');
    expect(subagentThread({ requestId: 'r' } as ReportedRequest)).toBe('/r');
    const { made } = view();
    const threads = ['w/c', 'w/c.x', 'w/c/d', 'w/cd', 'w', 'w/d.x'];
    expect(threads.filter((thread) => made.holds(thread))).toEqual(['w/c.x', 'w/c/d']);
  });

  test('shows its events on these, and what is open at an end as requests of the caller’s session', async () => {
    const open = { requestId: 'q', sessionId: 'sub', agentPath: ['expert'], threadId: 'y' };
    const all = events(
      message,
      { ...message, threadId: 'y' },
      { ...message, threadId: '/d' },
      { type: 'stream_end', reason: 'input_required', data: { pending: [open], steps: 1 } },
      { type: 'stream_end', reason: 'completed', data: {} },
    );
    const ended: unknown[] = [];
    const asked: unknown[] = [];
    const { made } = view({
      stream: (...given: unknown[]) => {
        asked.push(given);
        return streamOf(all, ended);
      },
      events: (options: unknown) => {
        asked.push(options);
        return streamOf(all, ended);
      },
      pending: async () => [open, { ...open, threadId: undefined }],
    });
    const shown = { ...open, sessionId: 's', agentPath: ['boss', 'expert'], threadId: 'w/c.y' };
    const moved = [
      { ...message, threadId: 'w/c' },
      { ...message, threadId: 'w/c.y' },
      { ...message, threadId: 'w/c/d' },
      { type: 'stream_end', reason: 'input_required', threadId: 'w/c', data: { pending: [shown], steps: 1 } },
      { type: 'stream_end', reason: 'completed', threadId: 'w/c', data: {} },
    ];
    const stream = made.stream('go', { streaming: true } as never);
    expect([stream.streamId, await collected(stream as AsyncIterable<AgentEvent>)]).toEqual(['x', moved]);
    expect(await collected(made.events({ after: '1' }))).toEqual(moved);
    expect(asked).toEqual([['go', { streaming: true }], { after: '1' }]);
    expect(await made.pending()).toEqual([shown, { ...shown, threadId: 'w/c' }]);
    // What is open is the session's own still.
    expect(open).toMatchObject({ sessionId: 'sub', threadId: 'y' });
    ended.length = 0;
    await stream.abort('enough');
    expect(await stream.return?.()).toEqual({ value: undefined, done: true });
    expect(ended).toEqual(['enough', 'left']);
  });

  test.each([
    ['w/c', undefined],
    ['w/c.y', 'y'],
    ['w/c/d', '/d'],
  ])('is steered and aborted on its thread %s as on its own %s', async (thread, own) => {
    const { made, told } = view();
    await made.steer({ text: 'hi', threadId: thread } as never);
    await made.abort({ threadId: thread, reason: 'enough' });
    const where = own === undefined ? {} : { threadId: own };
    expect(told).toStrictEqual([
      ['steer', { text: 'hi', ...where }],
      ['abort', { reason: 'enough', ...where }],
    ]);
  });

  test('is steered and aborted as a whole where no thread is named, and closed', async () => {
    const { made, told } = view();
    await made.steer({ text: 'hi' } as never);
    await made.abort({ requestId: 'q' });
    await made.abort();
    await made[Symbol.asyncDispose]();
    expect(told).toStrictEqual([['steer', { text: 'hi' }], ['abort', { requestId: 'q' }], ['abort', {}], ['dispose']]);
  });

  test('does what the session itself can do beside, and nothing that it cannot', async () => {
    const bare = view().made;
    await bare[putQuestions]([]);
    expect([bare[resultArtifacts]('c'), await bare[hold](), bare[answeredNow](), bare[heed](() => {})]).toEqual([
      ...[undefined, undefined, [], undefined],
    ]);
    expect(await bare.standing()).toEqual({ isOver: false });
    const heard: unknown[] = [];
    const tell: ((heard: object) => void)[] = [];
    const saver = { save: async () => 1 };
    const release = async () => {};
    const leave = () => {};
    const put: unknown[] = [];
    const { made } = view({
      [putQuestions]: async (questions: unknown) => void put.push(questions),
      [resultArtifacts]: (callId: string) => callId === 'c' && saver,
      [hold]: async (options: object) => 'mayEnd' in options && release,
      [answeredNow]: () => ['c'],
      [heed]: (on: (heard: object) => void) => {
        tell.push(on);
        return leave;
      },
      standing: async () => ({ isOver: true }),
    });
    await made[putQuestions]([{ requestId: 'q' }] as never);
    expect([put, made[resultArtifacts]('c'), await made[hold]({ mayEnd: () => true })]).toEqual([
      ...[[[{ requestId: 'q' }]], saver, release],
    ]);
    expect([made[answeredNow](), made[heed]((said) => void heard.push(said))]).toEqual([['c'], leave]);
    expect(await made.standing()).toEqual({ isOver: true });
    for (const said of [{}, { abort: { reason: 'r' } }, { abort: { threadId: 'y' } }, { abort: { threadId: '/d' } }]) {
      for (const on of tell) on(said);
    }
    expect(heard).toStrictEqual([
      {},
      { abort: { reason: 'r' } },
      { abort: { threadId: 'w/c.y' } },
      { abort: { threadId: 'w/c/d' } },
    ]);
  });
});
