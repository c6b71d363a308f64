import { describe, expect, test } from 'vitest';
import { createHost, defineTool, LlmAgent, readStream, run, runOrThrow } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const pay = defineTool({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, execute: () => 'paid' });

async function session(model: ScriptedModel) {
  const host = createHost({ app: 'desk', agents: [new LlmAgent({ name: 'clerk', model })], tools: [pay] });
  return { host, session: await host.open('clerk') };
}

describe('runOrThrow', () => {
  test('gives what run gives where there is an answer', async () => {
    const { host, session: one } = await session(new ScriptedModel(['hello']));
    expect(await runOrThrow(one, 'hi')).toMatchObject({ reason: 'completed', text: 'hello' });
    await host.close();
  });

  test('throws the error of a run that failed, with its code, status and whether it is worth trying again', async () => {
    const { host, session: one } = await session(new ScriptedModel([{ error: 'overloaded' }, { error: 'overloaded' }]));
    const { error } = await run(one, 'hi');
    expect(error).toMatchObject({ code: expect.stringMatching(/^E_/), retryable: expect.any(Boolean) });
    await expect(runOrThrow(one, 'hi')).rejects.toMatchObject({ code: expect.stringMatching(/^E_/) });
    await host.close();
  });

  test('throws where people have to answer first, and says which requests wait', async () => {
    const { host, session: one } = await session(new ScriptedModel([{ calls: [['pay', {}]] }, 'done']));
    const thrown = await runOrThrow(one, 'hi').catch((error: unknown) => error);
    const [open] = await one.pending();
    expect(thrown).toMatchObject({
      status: 'FAILED_PRECONDITION',
      code: 'E_RUN_UNFINISHED',
      message: 'the run ended with "input_required": 1 request waits for an answer',
      details: { reason: 'input_required', pending: [open?.requestId] },
    });
    await host.close();
  });

  test('throws at a limit what the run says of it', async () => {
    const { host, session: one } = await session(new ScriptedModel(['never']));
    await expect(runOrThrow(one, 'hi', { limits: { steps: 0 } })).rejects.toMatchObject({
      code: expect.stringMatching(/^E_/),
    });
    await host.close();
  });
});

describe('readStream', () => {
  const chunks = { deltas: ['he', 'llo'], usage: { inputTokens: 3, outputTokens: 2 } };
  const gathered = async (text: AsyncIterable<string>) => {
    const words: string[] = [];
    for await (const part of text) words.push(part);
    return words;
  };

  test('gives the words as they come, then what the stream came to', async () => {
    const { host, session: one } = await session(new ScriptedModel([chunks]));
    const { text, result } = readStream(one.stream('hi'));
    expect(await gathered(text)).toEqual(['he', 'llo']);
    expect(await result()).toMatchObject({ reason: 'completed', text: 'hello', usage: { outputTokens: 2 } });
    expect(await result()).toBe(await result());
    await host.close();
  });

  test('reads to the end for a result that is asked for alone', async () => {
    const { host, session: one } = await session(new ScriptedModel([{ calls: [['pay', {}]] }, 'done']));
    const { text, result } = readStream(one.stream('hi'));
    expect(await result()).toMatchObject({ reason: 'input_required', pending: [{ name: 'pay' }] });
    expect(await gathered(text)).toEqual([]);
    await host.close();
  });

  test('a result that is asked for while somebody reads takes no word from them', async () => {
    const { host, session: one } = await session(new ScriptedModel([chunks]));
    const { text, result } = readStream(one.stream('hi'));
    const words: string[] = [];
    let asked: ReturnType<typeof result> | undefined;
    for await (const part of text) {
      asked ??= result();
      words.push(part);
    }
    expect(words).toEqual(['he', 'llo']);
    expect(await asked).toMatchObject({ reason: 'completed' });
    await host.close();
  });

  test('whoever leaves has aborted it, and is told what it came to by then', async () => {
    const { host, session: one } = await session(new ScriptedModel([chunks]));
    const { text, result } = readStream(one.stream('hi'));
    for await (const part of text) {
      expect(part).toBe('he');
      break;
    }
    expect(await result()).toMatchObject({ reason: 'aborted' });
    expect(await one.pending()).toEqual([]);
    await host.close();
  });

  test('what the stream throws, both throw', async () => {
    async function* broken() {
      yield* [];
      throw new Error('gone');
    }
    const { text, result } = readStream(broken());
    await expect(gathered(text)).rejects.toThrow('gone');
    await expect(result()).rejects.toThrow('gone');
    await expect(readStream(broken()).result()).rejects.toThrow('gone');
    expect(() => readStream(5 as never)).toThrow('readStream: stream');
  });
});
