import { describe, expect, test } from 'vitest';
import type { HookContext, HookResult } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import { hooksPlugin } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, responses, said, text, tool } from './kit.ts';

type Points = Parameters<typeof hooks>[0];

/** A run under an interceptor: its model calls a tool, then says `done`. */
async function under(points: Points, options: { fails?: boolean; away?: boolean } = {}) {
  const pay = tool('pay', () => {
    if (options.fails) throw new Error('no');
    return 'paid';
  });
  const script = options.away ? [{ error: new Error('down') }] : [{ calls: [['pay', { n: 1 }] as const] }, 'done'];
  const model = new ScriptedModel(script);
  const plugin = hooksPlugin(hooks(points));
  const { say, warnings } = bench(llm('bot', model, { tools: [pay] }), { plugins: [plugin] });
  const events = await say('hi');
  return { events, warnings, model, plugin };
}

/** Words of any kind, at any point: what programs without types may say. */
const untyped = (said: HookResult) => said as never;
const gives = (result: unknown) => () => untyped({ action: 'block', modifications: { result } });
const replaces = (replacement: unknown) => () => untyped({ action: 'proceed', modifications: { replacement } });
const blocks = (reason?: string) => () => untyped({ action: 'block', ...(reason === undefined ? {} : { reason }) });
const proceeds = () => ({ action: 'proceed' }) as const;

test('an interceptor has the hooks of the points that it supports, and no others', () => {
  const plugin = hooksPlugin(hooks({ beforeTool: proceeds, afterRun: () => undefined }), 'mine');
  expect(Object.keys(plugin).toSorted()).toEqual(['afterRun', 'beforeTool', 'name']);
  expect(plugin.name).toBe('mine');
  expect(hooksPlugin(hooks({}))).toEqual({ name: 'hooks' });
});

describe('what an interceptor has instead', () => {
  test('is said in place of a run, an agent or a model', async () => {
    for (const point of ['beforeRun', 'beforeAgent'] as const) {
      const { events, model } = await under({ [point]: gives(text('instead')) });
      expect([said(events), endOf(events), model.requests.length]).toEqual([
        ['user: hi', 'bot: instead'],
        'completed',
        0,
      ]);
    }
    const { events, model } = await under({ beforeModel: gives({ content: text('instead') }) });
    expect([said(events), model.requests.length]).toEqual([['user: hi', 'bot: instead'], 0]);
  });

  test('is put in the place of what was said', async () => {
    const message = await under({
      onUserMessage: replaces({ role: 'user', parts: [{ type: 'text', text: 'hello' }] }),
    });
    expect(said(message.events)[0]).toBe('user: hello');
    const agent = await under({ afterAgent: replaces(text('instead')) });
    expect(said(agent.events).at(-1)).toBe('bot: instead');
    const model = await under({ afterModel: replaces({ content: text('instead') }) });
    expect(said(model.events)).toEqual(['user: hi', 'bot: instead']);
    const result = await under({ afterTool: replaces({ paid: 'elsewhere' }) });
    expect(responses(result.events).pay).toEqual({ paid: 'elsewhere' });
    const failed = await under({ onToolError: replaces({ paid: 'later' }) }, { fails: true });
    expect(responses(failed.events).pay).toEqual({ paid: 'later' });
    const away = await under({ onModelError: replaces({ content: text('recovered') }) }, { away: true });
    expect(said(away.events).at(-1)).toBe('bot: recovered');
    const event = await under({
      onEvent: ({ event }: { event: { errorMessage?: string } }) =>
        replaces({ ...event, customMetadata: { seen: 1 } })(),
    } as never);
    const own = event.events.filter(({ author }) => author === 'bot');
    expect(own.every(({ customMetadata }) => customMetadata?.seen === 1)).toBe(true);
  });

  test('is nothing where it says proceed: all goes on as it was', async () => {
    const all = [
      'onUserMessage',
      'beforeRun',
      'afterRun',
      'onEvent',
      'beforeAgent',
      'afterAgent',
      'beforeModel',
      'afterModel',
      'beforeTool',
      'afterTool',
      'onToolError',
      'onModelError',
    ];
    const points = Object.fromEntries(all.map((point) => [point, proceeds])) as Points;
    const { events, warnings } = await under(points);
    expect([said(events).at(-1), responses(events).pay, warnings]).toEqual(['bot: done', { content: 'paid' }, []]);
    const failed = await under(points, { fails: true });
    expect(responses(failed.events).pay).toEqual({ error: 'no' });
    expect(errorOf((await under(points, { away: true })).events)?.message).toContain('down');
  });
});

describe('a word that blocks', () => {
  test.each<[keyof Points]>([['beforeRun'], ['beforeAgent'], ['beforeModel']])(
    'at %s ends the turn, with its reason',
    async (point) => {
      const { events, model } = await under({ [point]: blocks('closed') });
      expect([errorOf(events), endOf(events), model.requests.length]).toEqual([
        { code: 'E_HOOK_BLOCKED', message: 'closed' },
        'failed',
        0,
      ]);
    },
  );

  test('at an event ends the turn, and the event is not stored', async () => {
    const { events } = await under({ onEvent: blocks('closed') });
    expect([errorOf(events)?.code, endOf(events), said(events)]).toEqual(['E_HOOK_BLOCKED', 'failed', ['user: hi']]);
  });

  test('without a reason says where', async () => {
    expect(errorOf((await under({ beforeAgent: blocks() })).events)?.message).toBe(
      'a before_agent hook blocked the run',
    );
  });

  test('at a message refuses it', async () => {
    await expect(under({ onUserMessage: blocks('no such words') })).rejects.toMatchObject({
      code: 'E_HOOK_BLOCKED',
      message: 'no such words',
    });
  });

  test('behind something is told of, and changes nothing', async () => {
    for (const point of ['afterAgent', 'afterModel', 'afterTool'] as const) {
      const { events, warnings } = await under({ [point]: blocks('late') });
      expect([said(events).at(-1), warnings.length > 0]).toEqual(['bot: done', true]);
    }
    const failed = await under({ onToolError: blocks('late') }, { fails: true });
    expect([responses(failed.events).pay, failed.warnings.length]).toEqual([{ error: 'no' }, 1]);
    const away = await under({ onModelError: blocks('late') }, { away: true });
    expect([errorOf(away.events)?.message.includes('down'), away.warnings.length]).toEqual([true, 1]);
  });

  test('at a tool denies the call alone', async () => {
    const { events } = await under({ beforeTool: blocks('not this') });
    expect([String(responses(events).pay?.error).includes('not this'), endOf(events)]).toEqual([true, 'completed']);
  });
});

test('an interceptor is told where it is: the session, the turn, the agent and the call', async () => {
  const seen: Record<string, HookContext> = {};
  const note = (point: string) => (payload: { context: HookContext }) => {
    seen[point] = { ...payload.context };
    return undefined;
  };
  const points = Object.fromEntries(
    ['beforeRun', 'beforeAgent', 'beforeModel', 'afterModel', 'beforeTool', 'afterTool', 'onEvent', 'afterRun'].map(
      (point) => [point, note(point)],
    ),
  ) as never;
  const { events } = await under(points);
  const turnId = events[0]?.turnId;
  const who = { userId: 'ann', principal: { id: 'ann' } };
  const common = {
    sessionId: 's1',
    sessionUid: expect.any(String),
    ...who,
    turnId,
    agentPath: ['bot'],
    signal: expect.any(AbortSignal),
  };
  for (const point of ['beforeRun', 'beforeAgent', 'beforeModel', 'afterModel', 'onEvent', 'afterRun'])
    expect(seen[point], point).toEqual(common);
  for (const point of ['beforeTool', 'afterTool'])
    expect(seen[point], point).toEqual({ ...common, callId: expect.any(String), toolSource: 'agent:bot' });
});
