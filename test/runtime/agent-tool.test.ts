import { describe, expect, test } from 'vitest';
import { textOfParts } from '../../src/contracts/index.ts';
import type { ModelRequest } from '../../src/runtime/index.ts';
import { agentTool, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, llm, ownTool, responses, said, text, tool } from './kit.ts';

const ask = (request: string) => ({ calls: [['expert', { request }] as const] });

describe('an agent as a tool', () => {
  test('S3-54 has its own history; its last words are the result', async () => {
    const model = new ScriptedModel({
      byAgent: { bot: ['hello', ask('what is 2 + 2?'), 'it is 4'], expert: [{ text: 'hm', calls: [['look']] }, '4'] },
      strict: true,
    });
    const expert = llm('expert', undefined, { description: 'counts', tools: [tool('look', () => 1)] });
    const { say } = bench(llm('bot', model, { tools: [agentTool(expert)] }));
    await say('hi');
    const events = await say('2 + 2?');
    expect(brief(model.requests[2]?.contents)).toEqual(['user: what is 2 + 2?']);
    expect(brief(model.requests[3]?.contents)).toEqual([
      'user: what is 2 + 2?',
      'model: hm | call look({})',
      'user: look = {"content":1}',
    ]);
    expect(responses(events).expert).toEqual({ result: '4' });
    // The caller sees call and result, nothing of what was said inside.
    expect(brief(model.requests[4]?.contents).slice(-2)).toEqual([
      'model: call expert({"request":"what is 2 + 2?"})',
      'user: expert = {"result":"4"}',
    ]);
    expect(endOf(events)).toBe('completed');
  });

  test('IOP-M1 an answer that was cut is told to be cut', async () => {
    const model = new ScriptedModel({
      byAgent: { bot: [ask('a'), 'ok', ask('b'), 'ok'], expert: [{ text: 'half of', finishReason: 'length' }, 'all'] },
    });
    const { say } = bench(llm('bot', model, { tools: [agentTool(llm('expert', undefined))] }));
    const note = "the answer was cut at the model's output limit";
    expect(responses(await say('hi')).expert).toEqual({ result: 'half of', note });
    expect(responses(await say('again')).expert).toEqual({ result: 'all' });
  });

  test('S3-55 its state is merged when it is done, temp: left out; until then it is its own', async () => {
    const model = new ScriptedModel({
      byAgent: {
        bot: [{ calls: [['expert', { request: 'a' }], ['look']] }, 'ok'],
        expert: [{ calls: [['set']] }, 'done'],
      },
    });
    const set = ownTool('set', (_, { state }) => {
      state.set('k', 1);
      state.set('app:k', 2);
      state.set('temp:k', 3);
      state.delete('old');
    });
    const expert = llm('expert', undefined, { tools: [set], outputKey: 'said' });
    const agent = llm('bot', model, {
      tools: [agentTool(expert), tool('look', () => 1)],
      beforeAgent: ({ state }) => state.set('old', true) as undefined,
    });
    const { say, state, log } = bench(agent);
    await say('hi');
    expect(await state()).toEqual({ k: 1, 'app:k': 2, said: 'done' });
    const writers = (await log()).filter(({ actions, iso }) => iso === undefined && 'k' in actions.stateDelta);
    expect(said(writers)).toEqual(['bot: expert = {"result":"done"}']);
  });

  test('hooks around it are hooks around any tool; its error is its call’s alone', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel({
      byAgent: { bot: [ask('a'), ask('b'), 'ok'], expert: ['fine', { error: new Error('down') }] },
    });
    const { say } = bench(llm('bot', model, { tools: [agentTool(llm('expert', undefined))] }), {
      plugins: [
        {
          name: 'log',
          beforeTool: (context, { name }) => void trace.push(`before_tool ${context.agentName} ${name}`),
          afterTool: (_, { name }, args, result) => {
            trace.push(`after_tool ${name} ${args.request}`);
            return result.isError ? undefined : { masked: result.structuredContent };
          },
          onToolError: (_, { name }, __, error) => void trace.push(`on_tool_error ${name} ${(error as Error).message}`),
          beforeAgent: ({ agentPath }) => void trace.push(`before_agent ${agentPath.join('/')}`),
        },
      ],
    });
    const events = await say('hi');
    expect(trace).toEqual([
      'before_agent bot',
      'before_tool bot expert',
      'before_agent bot/expert',
      'after_tool expert a',
      'before_tool bot expert',
      'before_agent bot/expert',
      'on_tool_error expert agent expert failed: model scripted failed: down',
      'after_tool expert b',
    ]);
    expect(brief(model.requests.at(-1)?.contents).filter((line) => line.startsWith('user: expert'))).toEqual([
      'user: expert = {"masked":{"result":"fine"}}',
      'user: expert = {"error":"agent expert failed: model scripted failed: down"}',
    ]);
    expect(endOf(events)).toBe('completed');
  });

  test('one that cannot even start (a missing instruction key) fails its call, not the turn', async () => {
    const model = new ScriptedModel({ byAgent: { bot: [ask('a'), 'sorry'] } });
    const events = await bench(
      llm('bot', model, { tools: [agentTool(llm('expert', undefined, { instruction: '{gone}' }))] }),
    ).say('hi');
    expect(String(responses(events).expert?.error)).toContain('agent expert needs {gone}');
    expect([said(events).at(-1), endOf(events)]).toEqual(['bot: sorry', 'completed']);
  });

  test('escalate and transfer do not cross it', async () => {
    const leave = ownTool('leave', (_, context) => context.escalate());
    const handOver = ownTool('handOver', (_, context) => context.transferTo('next'));
    const model = new ScriptedModel({
      byAgent: {
        bot: [ask('a'), ask('b'), 'ok'],
        expert: [{ calls: [['leave']] }, { calls: [['handOver']] }, 'stay'],
        next: ['next'],
      },
      strict: true,
    });
    const expert = llm('expert', undefined, { tools: [leave, handOver] });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [llm('bot', model, { tools: [agentTool(expert)] }), llm('next', model)],
    });
    const events = await bench(agent).say('hi');
    expect(said(events).slice(-2)).toEqual(['bot: ok', 'next: next']);
    expect(said(events)).toContain('expert: handOver = {"error":"there is no agent \\"next\\" here"}');
  });

  test('an approval inside it suspends the turn and goes on where it stood; two calls at once keep apart', async () => {
    const paid: string[] = [];
    const asked = ({ contents }: ModelRequest) => ({
      calls: [['pay', { to: contents.map(({ parts }) => textOfParts(parts)).join() }] as const],
    });
    const pay = tool('pay', ({ to }) => paid.push(String(to)), { needsApproval: true });
    const model = new ScriptedModel({
      byAgent: {
        bot: [
          {
            calls: [
              ['expert', { request: 'x' }],
              ['expert', { request: 'y' }],
            ],
          },
          'done',
        ],
        expert: [asked, asked, 'paid', 'paid'],
      },
    });
    const { say } = bench(llm('bot', model, { tools: [agentTool(llm('expert', undefined, { tools: [pay] }))] }));
    let events = await say('hi');
    expect(endOf(events)).toBeUndefined();
    const asks = events.flatMap(({ actions }) => actions.asks ?? []);
    expect(asks).toHaveLength(2);
    for (const { requestId } of asks.reverse()) {
      events = await say({ kind: 'elicitation_response', requestId, response: { action: 'accept' } });
    }
    expect([[...paid].sort(), endOf(events)]).toEqual([['x', 'y'], 'completed']);
    expect(brief(model.requests.at(-1)?.contents).at(-1)).toBe(
      'user: expert = {"result":"paid"} | expert = {"result":"paid"}',
    );
  });

  test('its replaced output is what the caller gets', async () => {
    const model = new ScriptedModel({ byAgent: { bot: [ask('a'), 'ok'], expert: ['raw'] } });
    const expert = llm('expert', undefined, { afterAgent: () => text('polished') });
    const events = await bench(llm('bot', model, { tools: [agentTool(expert)] })).say('hi');
    expect(responses(events).expert).toEqual({ result: 'polished' });
  });

  test('without a model of its own it has its caller’s, tools of tools too', async () => {
    const run = async (ofExpert: ScriptedModel | undefined) => {
      const model = new ScriptedModel({
        byAgent: { bot: [ask('a'), 'ok'], expert: [{ calls: [['helper', { request: 'b' }]] }, 'e'], helper: ['h'] },
      });
      const expert = llm('expert', ofExpert, { tools: [agentTool(llm('helper', undefined))] });
      const bot = llm('bot', model, { tools: [agentTool(expert)] });
      expect(endOf(await bench(new SequentialAgent({ name: 'all', subAgents: [bot] })).say('hi'))).toBe('completed');
      return model.requests.map(({ agent }) => agent);
    };
    expect(await run(undefined)).toEqual(['bot', 'expert', 'helper', 'expert', 'bot']);
    const own = new ScriptedModel({ byAgent: { expert: [{ calls: [['helper', { request: 'b' }]] }] } });
    expect(await run(own)).toEqual(['bot', 'bot']);
    expect(own.requests.map(({ agent }) => agent)).toEqual(['expert', 'helper', 'expert']);
  });

  test('S3-54 other arguments than a request reach it as JSON; name, description and schema may be chosen', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const expert = llm('expert', undefined, { description: 'counts', inputSchema: schema });
    expect(agentTool(expert)).toMatchObject({ name: 'expert', description: 'counts', inputSchema: schema });
    const model = new ScriptedModel({ byAgent: { bot: [{ calls: [['count', { n: 3 }]] }, 'ok'], expert: ['3'] } });
    const { say } = bench(
      llm('bot', model, { tools: [agentTool(expert, { name: 'count', description: 'one more' })] }),
    );
    await say('hi');
    expect(brief(model.requests[1]?.contents)).toEqual(['user: {"n":3}']);
  });
});

test('an agent run as a tool that sees its own turn only sees its call whole, also where the next turn has begun', async () => {
  const expert = llm('expert', undefined, {
    includeContents: 'none',
    tools: [tool('pay', () => 'paid', { needsApproval: true })],
  });
  const model = new ScriptedModel({
    byAgent: {
      bot: [{ calls: [['expert', { request: 'buy it' }]] }, 'well', 'bought'],
      expert: [{ calls: [['pay']] }, 'done'],
    },
  });
  const { say } = bench(llm('bot', model, { tools: [agentTool(expert)] }));
  const [ask] = (await say('first')).flatMap(({ actions }) => actions.asks ?? []);
  await say('second', { whilePending: 'proceed' });
  await say({ kind: 'elicitation_response', requestId: ask?.requestId ?? '', response: { action: 'accept' } });
  expect(model.requests.map(({ contents }) => brief(contents))).toContainEqual([
    'user: buy it',
    'model: call pay({})',
    'user: pay = {"content":"paid"}',
  ]);
});
