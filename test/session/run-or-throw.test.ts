import { describe, expect, test } from 'vitest';
import { createHost, defineTool, LlmAgent, run, runOrThrow } from '../../src/index.ts';
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
