import { afterEach, describe, expect, test, vi } from 'vitest';
import { hooks } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import type { Agent, LlmAgentOptions, Plugin } from '../../src/runtime/index.ts';
import { CustomAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { collect, gate, host, llm, tool } from './kit.ts';

type Hang = () => Promise<never>;

const readOnly = { annotations: { readOnly: true } };
const look = tool('look', () => 'seen', readOnly);
const broken = tool('broken', () => Promise.reject(new Error('no')), readOnly);

function bot(options: Omit<LlmAgentOptions, 'name'> = {}, fails = false): Agent {
  const model = new ScriptedModel([{ calls: [['look'], ['broken']] }, fails ? { error: new Error('down') } : 'done']);
  return llm('bot', model, { tools: [look, broken], ...options });
}

const plugin = (point: keyof Plugin) => (hang: Hang) => ({
  agent: bot({}, point === 'onModelError'),
  plugins: [{ name: 'slow', [point]: hang }],
});

/** Code of users that is waited for, each in a way that never answers and watches no signal. */
const waits: [string, (hang: Hang) => { agent: Agent; plugins?: Plugin[] }][] = [
  ['a before_run hook', plugin('beforeRun')],
  ['a before_agent hook', plugin('beforeAgent')],
  ['a before_model hook', plugin('beforeModel')],
  ['an after_model hook', plugin('afterModel')],
  ['a before_tool hook', plugin('beforeTool')],
  ['an after_tool hook', plugin('afterTool')],
  ['an on_model_error hook', plugin('onModelError')],
  ['an on_tool_error hook', plugin('onToolError')],
  ['an after_agent hook', plugin('afterAgent')],
  ['a toolset', (hang) => ({ agent: bot({ toolsets: [{ name: 'slow', tools: hang }] }) })],
  ['an instruction', (hang) => ({ agent: bot({ instruction: hang }) })],
  ['a request processor', (hang) => ({ agent: bot({ processors: [{ name: 'slow', process: hang }] }) })],
  ['a floor', (hang) => ({ agent: bot({ tools: [{ ...look, needsApproval: hang }, broken] }) })],
  ['a custom agent', (hang) => ({ agent: new CustomAgent({ name: 'bot', run: hang }) })],
  ['a step', (hang) => ({ agent: new CustomAgent({ name: 'bot', run: (context) => context.step('slow', hang) }) })],
];

function opened(made: { agent: Agent; plugins?: Plugin[] }, hosted: boolean) {
  const source = fromAgent(made.agent, { plugins: made.plugins ?? [], warn: () => {} });
  return hosted
    ? createHost({ app: 'shop', agents: [source], policy: allowAll(), warn: () => {} }).open('bot')
    : source.open({}, host);
}

describe.each([
  ['without a host', false],
  ['under a host', true],
])('F35 an abort %s', (_, hosted) => {
  test.each(waits)('does not wait for %s that never answers', async (__, make) => {
    const reached = gate();
    const session = await opened(
      make(() => {
        reached.open();
        return new Promise<never>(() => {});
      }),
      hosted,
    );
    const ended = run(session, 'hi');
    await reached.opened;
    await session.abort();
    expect((await ended).reason).toBe('aborted');
    expect(await session.pending()).toEqual([]);
  });

  test('refuses a message that an on_user_message hook still thinks about: nothing is stored', async () => {
    const reached = gate();
    const session = await opened(
      plugin('onUserMessage')(() => {
        reached.open();
        return new Promise<never>(() => {});
      }),
      hosted,
    );
    const refused = expect(run(session, 'hi')).rejects.toMatchObject({ code: 'E_ABORTED' });
    await reached.opened;
    await session.abort();
    await refused;
    expect((await collect(session.events())).length).toBe(0);
  });
});

describe('hooks around the end', () => {
  afterEach(() => void vi.useRealTimers());

  test.each(['onEvent', 'afterRun'] as const)('%s: an abort leaves them some time, and no more', async (point) => {
    const reached = gate();
    const session = await opened(
      plugin(point)(() => {
        reached.open();
        return new Promise<never>(() => {});
      }),
      false,
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ended = run(session, 'hi');
    await reached.opened;
    const aborted = session.abort();
    let timers = 0;
    // One wait for the events of the end, one for after_run.
    while (timers < 2 && (await Promise.race([aborted.then(() => false), vi.advanceTimersToNextTimerAsync()])))
      timers++;
    await aborted;
    expect((await ended).reason).toBe(point === 'onEvent' ? 'aborted' : 'completed');
  });
});

test('F35 a host’s own on_user_message hook that never answers does not hold up an abort', async () => {
  const reached = gate();
  const session = await createHost({
    app: 'shop',
    agents: [fromAgent(bot())],
    policy: allowAll(),
    hooks: hooks({
      onUserMessage: () => {
        reached.open();
        return new Promise<never>(() => {});
      },
    }),
  }).open('bot');
  const refused = expect(run(session, 'hi')).rejects.toMatchObject({ code: 'E_ABORTED' });
  await reached.opened;
  await session.abort();
  await refused;
});

test('F35 what a custom agent still does after an abort goes nowhere', async () => {
  const reached = gate();
  const late = gate();
  const over = gate();
  const agent = new CustomAgent({
    name: 'bot',
    async run(context) {
      reached.open();
      await late.opened;
      await context.emit('too late').catch(() => {});
      over.open();
    },
  });
  const session = await fromAgent(agent).open({}, host);
  const ended = run(session, 'hi');
  await reached.opened;
  await session.abort();
  expect((await ended).reason).toBe('aborted');
  late.open();
  await over.opened;
  expect(JSON.stringify(await collect(session.events()))).not.toContain('too late');
});

test('F35 one call is ended while an after_tool hook never answers: it has run, and says what it came to', async () => {
  const reached = gate();
  const session = await fromAgent(bot(), {
    plugins: [
      {
        name: 'slow',
        afterTool: (_, { name }) => {
          if (name !== 'look') return undefined;
          reached.open();
          return new Promise<never>(() => {});
        },
      },
    ],
  }).open({}, host);
  const results: string[] = [];
  const ended = run(session, 'hi', {
    onEvent: (event) => {
      if (event.type === 'tool_response')
        results.push(`${event.name} ${event.errorType ?? JSON.stringify(event.content)}`);
    },
  });
  await reached.opened;
  const call = (await collect(session.events())).find((event) => event.type === 'tool_request');
  await session.abort({ requestId: call?.type === 'tool_request' ? call.requestId : '' });
  expect((await ended).reason).toBe('completed');
  expect(results.sort()).toEqual(['broken failed', 'look [{"type":"text","text":"seen"}]']);
});
