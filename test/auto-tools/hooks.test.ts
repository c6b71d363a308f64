import { describe, expect, test } from 'vitest';
import type { AutoToolsOptions, RetryToolOptions } from '../../src/adapters/auto-tools/index.ts';
import { cacheToolResults, generateWithAutoTools, retryTool } from '../../src/adapters/auto-tools/index.ts';
import type { AnyTool, Content } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { allowAll, createHost, LlmAgent, run } from '../../src/index.ts';
import { failure, gate, scripted } from './kit.ts';

const call = (args: object, name = 'look'): readonly [string, object] => [name, args];

function counted(
  annotations: object,
  run: (args: object) => unknown = (args) => args,
): { tool: AnyTool; ran: object[] } {
  const ran: object[] = [];
  const tool = {
    name: 'look',
    description: 'd',
    inputSchema: { type: 'object' },
    annotations,
    execute: (args: object) => {
      ran.push(args);
      return run(args);
    },
  };
  return { tool, ran };
}

const results = (contents: readonly Content[] = []) =>
  contents.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'function_response' ? [part.response] : [])));

/** Asks three times in a row: twice the same, then something else. */
async function thrice(tool: AnyTool, options: Partial<AutoToolsOptions>, third: object = { q: 2 }) {
  const model = scripted(
    { calls: [call({ q: 1, r: 1 })] },
    { calls: [call({ r: 1, q: 1 })] },
    { calls: [call(third)] },
    'done',
  );
  await generateWithAutoTools('go', { model, tools: [tool], ...options });
  return results(model.requests.at(-1)?.contents);
}

describe('S1-27 cached results', () => {
  test('an identical call is answered without a second run', async () => {
    const { tool, ran } = counted({ readOnly: true });
    const seen = await thrice(tool, { hooks: [cacheToolResults()] });
    expect(ran).toEqual([{ q: 1, r: 1 }, { q: 2 }]);
    expect(seen).toEqual([{ q: 1, r: 1 }, { q: 1, r: 1 }, { q: 2 }]);
  });

  test('one is given as it is, and the former name of the option is taken, but not beside the present one', async () => {
    for (const given of [{ hooks: cacheToolResults() }, { interceptors: [cacheToolResults()] }]) {
      const { tool, ran } = counted({ readOnly: true });
      await thrice(tool, given);
      expect(ran).toHaveLength(2);
    }
    const both = thrice(counted({}).tool, { hooks: [], interceptors: [] });
    await expect(both).rejects.toMatchObject({ code: 'E_USAGE' });
  });

  test('without it every call runs', async () => {
    const { tool, ran } = counted({ readOnly: true });
    await thrice(tool, {});
    expect(ran).toHaveLength(3);
  });

  test('a tool that changes something runs each time, unless it is named', async () => {
    const plain = counted({});
    await thrice(plain.tool, { hooks: [cacheToolResults()] });
    expect(plain.ran).toHaveLength(3);
    const named = counted({});
    await thrice(named.tool, { hooks: [cacheToolResults({ tools: ['look'] })] });
    expect(named.ran).toHaveLength(2);
  });

  test('errors are not kept', async () => {
    let tries = 0;
    const { tool, ran } = counted({ readOnly: true }, () => {
      if (++tries === 1) throw new Error('not yet');
      return 'ok';
    });
    expect(await thrice(tool, { hooks: [cacheToolResults()] })).toEqual([
      { error: 'not yet' },
      { content: 'ok' },
      { content: 'ok' },
    ]);
    expect(ran).toHaveLength(3);
  });

  test('the policy is asked all the same', async () => {
    const { tool } = counted({ readOnly: true });
    let asked = 0;
    const policy = {
      evaluate: () => ({ outcome: ++asked === 2 ? ('deny' as const) : ('allow' as const), reason: 'no more' }),
      getExcluded: () => [],
    };
    const seen = await thrice(tool, { hooks: [cacheToolResults()], policy });
    expect(asked).toBe(3);
    expect(seen[1]).toEqual({ error: 'denied by policy: no more' });
  });

  test('results get old, and the oldest make room', async () => {
    let now = 0;
    const old = counted({ readOnly: true }, (args) => {
      now += 50;
      return args;
    });
    await thrice(old.tool, { hooks: [cacheToolResults({ ttlMs: 40, now: () => now })] });
    // Kept at 50, asked at 50: still good. The third is another call.
    expect(old.ran).toHaveLength(2);
    now = 0;
    const cache = cacheToolResults({ maxEntries: 1, scope: 'shared' });
    const small = counted({ readOnly: true });
    await thrice(small.tool, { hooks: [cache] });
    await thrice(small.tool, { hooks: [cache] });
    expect(small.ran).toHaveLength(4);
    expect(() => cacheToolResults({ ttlMs: 0 })).toThrow(/ttlMs/);
    expect(() => cacheToolResults({ maxEntries: 0.5 })).toThrow(/maxEntries/);
  });

  test('an old result is not served', async () => {
    let now = 0;
    const { tool, ran } = counted({ readOnly: true });
    const model = scripted(
      { calls: [call({})] },
      () => {
        now += 61_000;
        return { calls: [call({})] };
      },
      'done',
    );
    await generateWithAutoTools('go', { model, tools: [tool], hooks: [cacheToolResults({ now: () => now })] });
    expect(ran).toHaveLength(2);
  });

  test('sessions do not see one another, unless told to', async () => {
    for (const [scope, runs] of [
      ['session', 4],
      ['shared', 2],
    ] as const) {
      const { tool, ran } = counted({ readOnly: true });
      const hooks = [cacheToolResults({ scope })];
      await thrice(tool, { hooks });
      await thrice(tool, { hooks });
      expect(ran).toHaveLength(runs);
    }
  });

  describe('identical calls of one round', () => {
    const round = (...calls: (readonly [string, object])[]) => scripted({ calls }, 'done');
    const ask = async (tool: AnyTool, options: Partial<AutoToolsOptions> = {}, ...calls: object[]) => {
      const model = round(...(calls.length > 0 ? calls : [{ q: 1 }, { q: 1 }, { q: 2 }]).map((args) => call(args)));
      await generateWithAutoTools('go', { model, tools: [tool], hooks: [cacheToolResults()], ...options });
      return results(model.requests.at(-1)?.contents);
    };

    test.each([64, 1])('the second shares the first one’s result; %i side by side', async (toolConcurrency) => {
      const { tool, ran } = counted({ readOnly: true }, async (args) => args);
      expect(await ask(tool, { toolConcurrency })).toEqual([{ q: 1 }, { q: 1 }, { q: 2 }]);
      expect(ran).toEqual([{ q: 1 }, { q: 2 }]);
    });

    test('not of a tool that may change something', async () => {
      const { tool, ran } = counted({}, async (args) => args);
      await ask(tool);
      expect(ran).toHaveLength(3);
    });

    test('a failure is shared with nobody', async () => {
      let tries = 0;
      const { tool, ran } = counted({ readOnly: true }, async () => {
        if (++tries === 1) throw new Error('not yet');
        return 'ok';
      });
      expect(await ask(tool, {}, {}, {}, {})).toEqual([{ error: 'not yet' }, { content: 'ok' }, { content: 'ok' }]);
      expect(ran).toHaveLength(2);
    });

    test('nor is a question: each asks its own', async () => {
      const ran: string[] = [];
      const tool: AnyTool = {
        name: 'look',
        description: 'd',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
        execute(_args, context) {
          ran.push(context.callId);
          if (context.confirmation) return 'seen';
          context.requestConfirmation({ hint: 'look?' });
          return 'not a result';
        },
      };
      expect(await ask(tool, { onApproval: () => true }, {}, {})).toEqual([{ content: 'seen' }, { content: 'seen' }]);
      expect(new Set(ran).size).toBe(2);
    });

    test('one that never ends and ignores its signal holds up no other', async () => {
      let tries = 0;
      const { tool } = counted({ readOnly: true }, () => (++tries === 1 ? new Promise(() => {}) : 'ok'));
      const slow = { ...tool, timeoutMs: 50 };
      const cache = cacheToolResults({ scope: 'shared' });
      const [first] = await ask(slow, { hooks: [cache] }, {});
      expect(first).toMatchObject({ error: expect.stringContaining('50') });
      expect(await ask(slow, { hooks: [cache] }, {})).toEqual([{ content: 'ok' }]);
    });

    test('what it shows on the way still ends in one result', async () => {
      const { tool, ran } = counted({ readOnly: true }, async function* () {
        yield { content: [{ type: 'text', text: 'half' }] };
        return 'whole';
      });
      expect(await ask(tool, {}, {}, {})).toEqual([{ content: 'whole' }, { content: 'whole' }]);
      expect(ran).toHaveLength(1);
    });
  });

  test('a host may use it too', async () => {
    const { tool, ran } = counted({ readOnly: true });
    const model = scripted({ calls: [call({ q: 1 })] }, { calls: [call({ q: 1 })] }, 'done');
    const host = createHost({
      app: 'test',
      agents: [new LlmAgent({ name: 'agent', model })],
      tools: [tool],
      policy: allowAll(),
      hooks: cacheToolResults(),
    });
    const { text } = await run(await host.open('agent'), 'go');
    expect([text, ran.length]).toEqual(['done', 1]);
    expect(results(model.requests.at(-1)?.contents)).toEqual([{ q: 1 }, { q: 1 }]);
    await host.close();
  });
});

describe('S1-27 retried tools', () => {
  function flaky(failures: number, error: unknown = new Error('busy')) {
    let tries = 0;
    return counted({ idempotent: true }, () => {
      if (tries++ < failures) throw error;
      return 'ok';
    });
  }

  async function once(tool: AnyTool, options: RetryToolOptions = {}) {
    const delays: number[] = [];
    const sleep = async (ms: number) => void delays.push(ms);
    const model = scripted({ calls: [call({})] }, 'done');
    await generateWithAutoTools('go', { model, tools: [retryTool(tool, { sleep, random: () => 1, ...options })] });
    return { seen: results(model.requests.at(-1)?.contents), delays };
  }

  test('one that fails at first comes to its result, with growing waits', async () => {
    const { tool, ran } = flaky(2);
    expect(await once(tool)).toEqual({ seen: [{ content: 'ok' }], delays: [200, 400] });
    expect(ran).toHaveLength(3);
  });

  test('one that goes on failing is an error in the end', async () => {
    const { tool, ran } = flaky(9);
    expect(await once(tool, { retries: 4, maxDelayMs: 500 })).toEqual({
      seen: [{ error: 'busy' }],
      delays: [200, 400, 500, 500],
    });
    expect(ran).toHaveLength(5);
  });

  test('what cannot pass is not tried again', async () => {
    const { tool, ran } = flaky(1, new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', 'wrong'));
    expect((await once(tool)).seen).toEqual([{ error: 'wrong' }]);
    expect(ran).toHaveLength(1);
    const picky = flaky(1);
    await once(picky.tool, { retryIf: () => false });
    expect(picky.ran).toHaveLength(1);
  });

  test('a tool that may not run twice is refused', () => {
    const { tool } = counted({});
    expect(() => retryTool(tool)).toThrow(/may not run twice/);
    expect(() => retryTool({ ...tool, annotations: { readOnly: true, longRunning: true } })).toThrow(/longRunning/);
    expect(() => retryTool({ name: 'f', description: 'd', annotations: { readOnly: true } })).toThrow(/no handler/);
  });

  test('an abort during the wait ends it at once', async () => {
    const { tool, ran } = flaky(9);
    const abort = new AbortController();
    const waits = gate();
    const sleep = (_ms: number, signal: AbortSignal) => {
      waits.open();
      return new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const model = scripted({ calls: [call({})] });
    const tools = [retryTool(tool, { sleep })];
    const response = generateWithAutoTools('go', { model, tools, signal: abort.signal });
    await waits.opened;
    abort.abort('enough');
    expect(await failure(response)).toMatchObject({ code: 'E_ABORTED' });
    expect(ran).toHaveLength(1);
  });

  test('updates go through; a class with private fields stays whole', async () => {
    class Counter {
      readonly name = 'look';
      readonly description = 'd';
      readonly annotations = { readOnly: true };
      #count = 0;
      async *execute() {
        this.#count++;
        yield { status: `try ${this.#count}` };
        if (this.#count === 1) throw new Error('first');
        return this.#count;
      }
      preview() {
        return [{ type: 'text' as const, text: `${this.#count}` }];
      }
    }
    const tool = retryTool(Object.freeze(new Counter()));
    expect(tool.preview?.()).toEqual([{ type: 'text', text: '0' }]);
    expect((await once(new Counter())).seen).toEqual([{ content: 2 }]);
  });
});
