import { describe, expect, test } from 'vitest';
import { createHost, run } from '../../../src/index.ts';
import type { LlmAgentOptions, Model, ModelResponse, StoredEvent } from '../../../src/runtime/index.ts';
import { bench, endOf, errorOf, llm, ownTool } from '../../runtime/kit.ts';

/** Steps that a turn of these tests has. */
const STEPS = 40;
/** Ranges that one look at a history may sum up; a refusal as too long is a second look. */
const MOST = 3;

interface Asked {
  /** Summaries that were asked for before each request. */
  summaries: number[];
  answers: number;
}

interface Behaviour {
  /** Tokens that the provider counts for a request. */
  counts?: (chars: number) => number;
  /** Its answer to a request for a summary of so many characters. */
  summary: (chars: number) => ModelResponse;
  refuses?: (chars: number) => boolean;
}

const says = (text: string): ModelResponse => ({
  content: { role: 'model', parts: [{ type: 'text', text }] },
  finishReason: 'stop',
});
const tooLong: ModelResponse = { errorCode: 'context_length_exceeded', errorMessage: 'too long' };

/** Calls a tool in each step, and notes how often it was asked for summaries in between. */
function model({ counts = (chars) => chars / 4, summary, refuses = () => false }: Behaviour, asked: Asked): Model {
  let since = 0;
  return {
    name: 'm',
    async *generate({ contents, systemInstruction, purpose }) {
      const chars = JSON.stringify(contents).length + systemInstruction.length;
      if (purpose === 'compaction') {
        since++;
        if (since > 100) throw new Error('there is no end to it');
        yield summary(chars);
        return;
      }
      asked.summaries.push(since);
      if (asked.summaries.length > 3 * STEPS) throw new Error('there is no end to it');
      since = 0;
      if (refuses(chars)) {
        yield tooLong;
        return;
      }
      asked.answers++;
      const usage = { inputTokens: Math.round(counts(chars)), outputTokens: 20 };
      if (asked.answers >= STEPS) yield { ...says('done'), usage };
      else {
        const parts = [{ type: 'function_call' as const, id: '', name: 'look', args: { n: asked.answers } }];
        yield { content: { role: 'model', parts }, finishReason: 'tool_calls', usage };
      }
    },
  };
}

async function turn(behaviour: Behaviour, options: Partial<LlmAgentOptions> = {}, result = 'x '.repeat(300)) {
  const asked: Asked = { summaries: [], answers: 0 };
  const agent = llm('bot', model(behaviour, asked), {
    tools: [ownTool('look', () => result)],
    compaction: { window: 1000, keep: 2 },
    maxIterations: STEPS + 5,
    ...options,
  });
  const { say } = bench(agent, { limits: { steps: 10_000 } });
  const events = await say('go');
  return { asked, events, compacted: events.filter(({ actions }: StoredEvent) => actions.compacted).length };
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('CMP-11 compaction comes to an end', () => {
  test.each<[string, Behaviour, number]>([
    ['as long as what it stands for', { summary: (chars) => says('s '.repeat(chars)) }, STEPS],
    ['hardly shorter', { summary: (chars) => says('s'.repeat(chars - 700)) }, 3 * STEPS],
    ['refused as too long itself', { summary: () => tooLong }, STEPS],
    ['cut off', { summary: () => ({ ...says('s '.repeat(200)), finishReason: 'length' }) }, 3 * STEPS],
  ])('whose summaries are %s', async (_, behaviour, most) => {
    const { asked, events } = await turn(behaviour);
    expect(endOf(events)).toBe('completed');
    expect(asked.answers).toBe(STEPS);
    expect(Math.max(...asked.summaries)).toBeLessThanOrEqual(MOST);
    expect(sum(asked.summaries)).toBeGreaterThan(0);
    expect(sum(asked.summaries)).toBeLessThan(most);
  });

  test('whose model refuses each request: one more is made, then the turn ends', async () => {
    const { asked, events } = await turn({ summary: () => says('short'), refuses: () => true });
    expect([endOf(events), errorOf(events)?.code]).toEqual(['failed', 'E_CONTEXT']);
    expect(asked.summaries.length).toBe(2);
    expect(sum(asked.summaries)).toBeLessThanOrEqual(2 * MOST);
  });

  test('whose model refuses each request, summaries too, after a long turn', async () => {
    let answered = 0;
    const { asked, events } = await turn(
      { summary: () => tooLong, refuses: () => ++answered > 20 },
      { compaction: { window: 100_000 } },
    );
    expect([endOf(events), errorOf(events)?.code]).toEqual(['failed', 'E_CONTEXT']);
    expect(asked.summaries.length).toBe(22);
    expect(sum(asked.summaries)).toBeLessThanOrEqual(MOST);
  });

  test.each([1000, 2800])('whose instructions alone are more than is sent of a window of %i', async (window) => {
    const instruction = 'Do well. '.repeat(1000);
    const { asked, events } = await turn(
      { summary: () => says('short') },
      { instruction, compaction: { window, keep: 2 } },
    );
    expect(endOf(events)).toBe('completed');
    expect(Math.max(...asked.summaries)).toBeLessThanOrEqual(MOST);
    // What no summary can make small enough is not worth one in each step.
    expect(sum(asked.summaries)).toBeLessThan(STEPS / 2);
  });

  test('whose window is smaller than the instructions, for the provider', async () => {
    const instruction = 'Do well. '.repeat(1000);
    const { asked, events } = await turn(
      { summary: () => says('short'), refuses: (chars) => chars > 4000 },
      { instruction },
    );
    expect([endOf(events), errorOf(events)?.code]).toEqual(['failed', 'E_CONTEXT']);
    expect(asked.summaries.length).toBe(2);
  });

  test('whose results are larger than the window', async () => {
    const { asked, events } = await turn(
      { summary: () => says('short'), refuses: (chars) => chars > 8000 },
      { compaction: { window: 2000, keep: 4 } },
      'x '.repeat(50_000),
    );
    expect([endOf(events), errorOf(events)]).toEqual(['completed', undefined]);
    expect(asked.answers).toBe(STEPS);
    expect(Math.max(...asked.summaries)).toBeLessThanOrEqual(MOST);
    expect(sum(asked.summaries)).toBeLessThan(STEPS);
  });

  test.each([1, 3, 20])('whose window is of %i tokens', async (window) => {
    const { asked, events } = await turn({ summary: () => says('short') }, { compaction: { window, at: 1, keep: 1 } });
    expect(endOf(events)).toBe('completed');
    expect(Math.max(...asked.summaries)).toBeLessThanOrEqual(MOST);
  });

  test('by hand, again and again: what was summed up is left alone', async () => {
    let summaries = 0;
    const model: Model = {
      name: 'm',
      async *generate({ purpose }) {
        if (purpose === 'compaction') summaries++;
        yield says(purpose === 'compaction' ? 'They spoke.' : 'word '.repeat(500));
      },
    };
    const host = createHost({ app: 'shop', agents: [llm('bot', model, { compaction: { window: 100_000, keep: 1 } })] });
    const session = await host.open('bot');
    for (const words of ['one', 'two', 'three']) await run(session, words);
    expect(await session.compact()).toMatchObject({ compacted: true });
    const made = summaries;
    for (let n = 0; n < 5; n++) expect(await session.compact()).toMatchObject({ compacted: false });
    expect([made <= MOST, summaries]).toEqual([true, made]);
  });

  test('whose provider counts much more than there is', async () => {
    const { asked, events } = await turn({ summary: () => says('short'), counts: () => 990 });
    expect(endOf(events)).toBe('completed');
    expect(sum(asked.summaries)).toBeLessThan(STEPS);
  });
});
