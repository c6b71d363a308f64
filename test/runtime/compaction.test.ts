import { describe, expect, test } from 'vitest';
import { summaryContent } from '../../src/runtime/history/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { History, InMemoryArtifactService, tokensOfContent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, errorOf, llm, ownTool, responses, said, text, user } from './kit.ts';

const compactions = (events: readonly StoredEvent[]) =>
  events.flatMap(({ actions }) => (actions.compacted ? [actions.compacted] : []));
const long = (n: number, of = 'x') => `${of} `.repeat(n / 2);

describe('due by what the provider has counted', () => {
  test('CMP-1 old results become references first, and nobody is asked for a summary', async () => {
    const calls = [1, 2, 3].map((n) => ({
      calls: [['look', { n }] as const],
      usage: { inputTokens: n * 1000, outputTokens: 10 },
    }));
    const model = new ScriptedModel([...calls, 'done']);
    const agent = llm('bot', model, {
      tools: [ownTool('look', ({ n }) => `${n}: ${long(4000)}`)],
      compaction: { window: 5000, keep: 2 },
    });
    const { say } = bench(agent);
    const events = await say('hi');
    expect(compactions(events)).toMatchObject([{ by: 'clear' }]);
    expect(endOf(events)).toBe('completed');
    const last = brief(model.requests.at(-1)?.contents);
    expect(last).toHaveLength(7);
    expect(last[2]).toContain('left out to save room: a result of 4003 characters; read_result with call');
    expect(last[6]).toContain('3: x x');
    expect(model.requests.at(-1)?.tools).toEqual(['look', 'read_result']);
    expect(model.requests.at(-2)?.tools).toEqual(['look']);
  });

  test('CMP-2 what is left then is summed up: one message for the range, the newest user’s words stay', async () => {
    const model = new ScriptedModel([
      { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
      { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
      { text: 'They greeted each other.', usage: { inputTokens: 800, outputTokens: 9 } },
      'three',
    ]);
    const { say, log } = bench(llm('bot', model, { compaction: { window: 2000, keep: 1 } }));
    await say('one');
    await say('two');
    const events = await say('and now');
    expect(compactions(events)).toMatchObject([
      { by: 'model', model: 'scripted', summary: 'They greeted each other.', tokensBefore: expect.any(Number) },
    ]);
    expect(model.requests.map(({ purpose }) => purpose)).toEqual([undefined, undefined, 'compaction', undefined]);
    expect(brief(model.requests.at(-1)?.contents)).toEqual([
      expect.stringContaining('They greeted each other.'),
      'user: and now',
    ]);
    const event = events.find(({ actions }) => actions.compacted);
    expect(event).toMatchObject({ model: 'scripted', usage: { inputTokens: 800, outputTokens: 9 } });
    const summing = model.requests[2];
    expect(summing?.tools).toEqual([]);
    expect(brief(summing?.contents)[0]).toContain('User: one');
    // The log keeps everything.
    expect(said(await log()).length).toBe(6);
  });
});

test('CMP-18 a summary that never comes is given up after its time, and the turn takes place without it', async () => {
  const model = new ScriptedModel([
    { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
    { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
    'three',
  ]);
  const given: AbortSignal[] = [];
  const summarise = ({ signal }: { signal: AbortSignal }) => {
    given.push(signal);
    return new Promise<string>(() => {});
  };
  const compaction = { window: 2000, keep: 1, summarise, summariseTimeoutMs: 5 };
  const { say, warnings } = bench(llm('bot', model, { compaction }));
  await say('one');
  await say('two');
  expect(endOf(await say('and now'))).toBe('completed');
  expect(given[0]?.aborted).toBe(true);
  expect(warnings).toEqual([expect.stringContaining('has given no summary within 5 ms')]);
  expect(model.requests.at(-1)?.contents).toHaveLength(5);
});

test('MUT-R31 the event of a summary names a model only where it has what that has cost', async () => {
  const steps = [
    { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
    { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
  ];
  const eventOf = async (script: ConstructorParameters<typeof ScriptedModel>[0], more: object) => {
    const { say } = bench(llm('bot', new ScriptedModel(script), { compaction: { window: 2000, keep: 1, ...more } }));
    await say('one');
    await say('two');
    return (await say('and now')).find(({ actions }) => actions.compacted);
  };
  const uncounted = await eventOf([...steps, 'A summary.', 'three'], {});
  expect(uncounted?.actions.compacted).toMatchObject({ by: 'model', model: 'scripted' });
  expect([uncounted?.usage, uncounted?.model]).toEqual([undefined, undefined]);
  const own = await eventOf([...steps, 'three'], { summarise: async () => 'A summary.' });
  expect(own?.actions.compacted).toMatchObject({ by: expect.not.stringMatching('model'), summary: 'A summary.' });
  expect([own?.usage, own?.model]).toEqual([undefined, undefined]);
});

test('MUT-R31 a summary that is exactly as long as what it stands for is none', async () => {
  const spoken = [user('one'), text(long(2000)), user('two'), text(long(2000))];
  const tokens = spoken.reduce((sum, content) => sum + tokensOfContent(content), 0);
  const lengthOf = (of: string) => tokensOfContent(summaryContent(of));
  const summaryOf = async (most: number) => {
    let summary = 's';
    while (lengthOf(`${summary}s`) <= most) summary += 's';
    const script = [
      { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
      { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
      summary,
      'three',
    ];
    const { say } = bench(llm('bot', new ScriptedModel(script), { compaction: { window: 2000, keep: 1 } }));
    await say('one');
    await say('two');
    return [lengthOf(summary), compactions(await say('and now')).length];
  };
  expect(await summaryOf(tokens)).toEqual([tokens, 0]);
  expect(await summaryOf(tokens - 1)).toEqual([tokens - 1, 1]);
});

test('CMP-16 what those have cost who were asked before and did not answer is no length of a request', async () => {
  let asked = 0;
  const agent = llm(
    'bot',
    {
      name: 'second',
      async *generate({ purpose }) {
        if (purpose === 'compaction') {
          yield { content: { role: 'model', parts: [{ type: 'text', text: 'short' }] }, finishReason: 'stop' };
          return;
        }
        asked++;
        const usage = { inputTokens: 3000, outputTokens: 10 };
        const tried = asked === 1 ? [{ model: 'first', errorCode: 'http_529' }] : undefined;
        const parts = [{ type: 'text' as const, text: long(1200) }];
        yield { content: { role: 'model', parts }, finishReason: 'stop', usage, ...(tried ? { tried } : {}) };
      },
    },
    { compaction: { window: 3500, keep: 1 } },
  );
  const { say } = bench(agent);
  await say('one');
  expect(compactions(await say('two'))).toEqual([]);
  expect(compactions(await say('three'))).toHaveLength(1);
});

describe('what is left out', () => {
  test('CMP-3 a result that is larger than the window is cut to its beginning and end, and read again in pieces', async () => {
    const big = `begin ${long(100_000)}end`;
    const model = new ScriptedModel([
      { calls: [['fetch', {}]], usage: { inputTokens: 100, outputTokens: 10 } },
      ({ contents }) => {
        const [, , result] = brief(contents);
        const id = /with call \\?\\?"([^"\\]+)/.exec(String(result))?.[1];
        return { calls: [['read_result', { call: id, offset: 50_000, length: 10 }]] };
      },
      'done',
    ]);
    const { say, warnings } = bench(
      llm('bot', model, { tools: [ownTool('fetch', () => big)], compaction: { window: 8000 } }),
    );
    const events = await say('hi');
    const shown = brief(model.requests[1]?.contents)[2] ?? '';
    expect(shown.length).toBeLessThan(2000);
    expect(shown).toContain('begin x');
    expect(shown).toContain('end');
    expect(responses(events).read_result).toEqual({
      content: `${big.slice(50_000, 50_010)}\n[characters 50000 to 50010 of ${big.length}; the next piece begins at 50010]`,
    });
    expect(endOf(events)).toBe('completed');
    expect(warnings).toEqual([]);
  });

  test('CMP-14 a result above its bound has its beginning and end, and is read again by range from what was kept', async () => {
    const big = `begin ${long(20_000)}end`;
    const asked: unknown[] = [];
    const model = new ScriptedModel([
      { calls: [['fetch', {}]] },
      ({ contents, tools }) => {
        asked.push([...tools.keys()]);
        const [, name] = /kept as artifact \\?"([^"\\]+)/.exec(String(brief(contents).at(-1))) ?? [];
        return { calls: [['read_result', { call: name, offset: 10_000, length: 10 }]] };
      },
      'done',
    ]);
    const { say } = bench(llm('bot', model, { tools: [ownTool('fetch', () => big)] }), {
      services: { artifacts: new InMemoryArtifactService() },
      maxResultBytes: 1000,
    });
    const events = await say('hi');
    const shown = brief(model.requests[1]?.contents).at(-1) ?? '';
    expect(shown).toContain('begin x');
    expect(shown).toContain('x end');
    expect(asked).toEqual([['fetch', 'read_result']]);
    expect(model.requests[0]?.tools).toEqual(['fetch']);
    expect(responses(events).read_result?.content).toBe(
      `${big.slice(10_000, 10_010)}\n[characters 10000 to 10010 of ${big.length}; the next piece begins at 10010]`,
    );
  });

  test('CMP-13 a new result that takes half of what there is is cut before it is sent; what was sent stays as it is', async () => {
    const model = new ScriptedModel([
      { calls: [['look', { size: 4000 }]], usage: { inputTokens: 100, outputTokens: 10 } },
      { calls: [['look', { size: 20_000 }]], usage: { inputTokens: 1100, outputTokens: 10 } },
      'done',
    ]);
    const { say } = bench(
      llm('bot', model, {
        tools: [ownTool('look', ({ size }) => long(Number(size)))],
        compaction: { window: 6000, keep: 1 },
      }),
    );
    const events = await say('hi');
    expect(compactions(events)).toMatchObject([{ by: 'clear' }]);
    const [before, last] = [brief(model.requests.at(-2)?.contents), brief(model.requests.at(-1)?.contents)];
    expect(last.slice(0, before.length)).toEqual(before);
    expect(last.at(-1)).toContain('a result of 20000 characters');
  });

  test('CMP-13 of the newest results as many stay whole as there is room for', async () => {
    const model = new ScriptedModel([
      { calls: [1, 2, 3].map((n) => ['look', { n }] as const), usage: { inputTokens: 100, outputTokens: 10 } },
      'done',
    ]);
    const { say } = bench(
      llm('bot', model, {
        tools: [ownTool('look', ({ n }) => `${n}: ${long(6000)}`)],
        compaction: { window: 5000, keep: 8 },
      }),
    );
    await say('hi');
    const results = model.requests
      .at(-1)
      ?.contents.at(-1)
      ?.parts.map((part) => JSON.stringify(part).length > 6000);
    expect(results).toEqual([false, false, true]);
  });

  test('CMP-4 a rewind before a compaction undoes it; a fresh reader of the log has what the first has', async () => {
    const model = new ScriptedModel([
      { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
      { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
      'A summary.',
      'three',
    ]);
    const { say, log } = bench(llm('bot', model, { compaction: { window: 2000, keep: 1 } }));
    await say('one');
    await say('two');
    await say('and now');
    const viewer = { agent: 'bot', branch: undefined, iso: '' };
    const events = await log();
    const at = events.findIndex(({ actions }) => actions.compacted);
    const read = (some: readonly StoredEvent[]) => brief(new History(viewer).extend(some, () => undefined));
    expect(read(events)).toEqual([...brief(model.requests.at(-1)?.contents), 'model: three']);
    expect(read(events.slice(0, at))).toHaveLength(5);
  });
});

describe('what cannot be helped', () => {
  const refused = { errorCode: 'context_length_exceeded', errorMessage: 'openai: too long' };

  test('CMP-5 refused as too long: compacted once, then asked again', async () => {
    const model = new ScriptedModel([long(4000), long(4000), refused, 'A summary.', 'three']);
    const { say } = bench(llm('bot', model));
    await say('one');
    await say('two');
    const events = await say('three?');
    expect(compactions(events)).toMatchObject([{ by: 'model' }]);
    expect(endOf(events)).toBe('completed');
  });

  test('CMP-5 refused again: the turn ends with E_CONTEXT, and says so', async () => {
    const model = new ScriptedModel([long(4000), long(4000), refused, 'A summary.', refused]);
    const { say } = bench(llm('bot', model));
    await say('one');
    await say('two');
    const events = await say('three?');
    expect(errorOf(events)).toEqual({
      code: 'E_CONTEXT',
      message: expect.stringContaining('nothing more can be left out of it'),
    });
    expect(endOf(events)).toBe('failed');
  });

  test('CMP-5 off: E_CONTEXT at once, and nothing is compacted', async () => {
    const model = new ScriptedModel([long(4000), refused]);
    const { say } = bench(llm('bot', model, { compaction: false }));
    await say('one');
    const events = await say('two');
    expect([errorOf(events)?.code, compactions(events)]).toEqual(['E_CONTEXT', []]);
  });

  test.each([
    ['empty', ''],
    ['refused', { text: 'no', finishReason: 'refusal' }],
    ['failed', { errorCode: 'http_500', errorMessage: 'down' }],
    ['longer than what it stands for', long(9000)],
  ])('CMP-6 a summary that is %s is none: the request goes out as it is', async (_, summary) => {
    const model = new ScriptedModel([
      { text: long(2000), usage: { inputTokens: 500, outputTokens: 500 } },
      { text: long(2000), usage: { inputTokens: 1500, outputTokens: 500 } },
      summary,
      'three',
    ]);
    const { say, warnings } = bench(llm('bot', model, { compaction: { window: 2000, keep: 1 } }));
    await say('one');
    await say('two');
    const events = await say('and now');
    expect(compactions(events)).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('the history of agent bot was not summed up')]);
    expect(brief(model.requests.at(-1)?.contents)).toHaveLength(5);
    expect(endOf(events)).toBe('completed');
  });
});

test('ATK9-07 what a user wants in the turn that runs is in no summary, however long the turn has become', async () => {
  const step = (n: number) => ({
    text: long(2000),
    calls: [['look', { n }] as const],
    usage: { inputTokens: n * 500, outputTokens: 500 },
  });
  const model = new ScriptedModel([
    step(1),
    step(2),
    step(3),
    { text: 'It has looked.', usage: { inputTokens: 800, outputTokens: 9 } },
    'done',
  ]);
  const look = ownTool('look', () => 'seen');
  const { say } = bench(llm('bot', model, { tools: [look], compaction: { window: 2000, keep: 1 } }));
  const events = await say('pay nobody');
  expect(compactions(events)).toMatchObject([{ by: 'model', summary: 'It has looked.' }]);
  const [first, second] = brief(model.requests.at(-1)?.contents);
  expect([first, second]).toEqual(['user: pay nobody', expect.stringContaining('It has looked.')]);
});
