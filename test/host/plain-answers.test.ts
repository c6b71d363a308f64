import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/entries/client.ts';
import { serve } from '../../src/entries/peers/server.ts';
import type { AgentEvent, HostOptions } from '../../src/index.ts';
import { createHost, defineTool, isCoxswainError, LlmAgent, run, runOrThrow } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const inputSchema = { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] } as const;

function bank<const Name extends string = 'pay'>(
  options: Partial<Pick<HostOptions, 'onApproval'>> = {},
  name = 'pay' as Name,
) {
  const paid: number[] = [];
  const pay = defineTool({
    name,
    description: 'Pays.',
    inputSchema,
    preview: ({ eur }) => [{ type: 'text', text: `${eur} EUR` }],
    execute: ({ eur }) => `${paid.push(eur)} paid`,
  });
  const model = new ScriptedModel([{ calls: [[name, { eur: 300 }]] }, 'Done.']);
  const host = createHost({ app: 'bank', agents: [new LlmAgent({ name: 'clerk', model })], tools: [pay], ...options });
  onTestFinished(() => host.close());
  return { host, pay, paid };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isCoxswainError(error) ? error.code : String(error);
}

test('19-P5 a plain yes or no is its word, and a run without an input goes on behind it', async () => {
  for (const [word, expected] of [
    ['approve', [300]],
    ['deny', []],
  ] as const) {
    const { host, paid } = bank();
    const session = await host.open('clerk');
    const [question] = (await run(session, 'Pay.')).pending;
    expect((await session.respond(question?.requestId ?? '', word)).status).toBe('settled');
    expect((await runOrThrow(session)).text).toBe('Done.');
    expect(paid).toEqual(expected);
  }
});

test('19-P5 a word is stored as the answer that it stands for, from each place that takes one', async () => {
  const noted = async (events: AsyncIterable<AgentEvent>) => {
    const found: unknown[] = [];
    for await (const event of events) {
      if (event.type === 'elicitation_response') found.push({ action: event.action });
      if (event.type === 'custom' && event.kind === 'policy_decision') {
        const { outcome, by, previewDigest } = event.data as unknown as Record<string, unknown>;
        found.push({ outcome, by, bound: typeof previewDigest });
      }
    }
    return found;
  };
  const handled = async (answer: 'approve' | { kind: 'approve' }) => {
    const { host, paid } = bank({ onApproval: () => answer });
    const session = await host.open('clerk');
    await runOrThrow(session, 'Pay.');
    expect(paid).toEqual([300]);
    return noted(session.events());
  };
  const decided = async (answer: 'deny' | { kind: 'deny' }) => {
    const { host, paid } = bank();
    const session = await host.open('clerk');
    const [question] = (await run(session, 'Pay.')).pending;
    await host.approvals.decide(question?.requestId ?? '', answer, { by: { id: 'local' } });
    await host.idle();
    expect(paid).toEqual([]);
    return noted(session.events());
  };
  const word = await handled('approve');
  expect(word).toEqual(await handled({ kind: 'approve' }));
  expect(word).not.toEqual([]);
  const no = await decided('deny');
  expect(no).toEqual(await decided({ kind: 'deny' }));
  expect(no).not.toEqual([]);
});

test('19-P5 a client of a server says it in a word, too', async () => {
  const { host, paid } = bank();
  const server = await serve(host, { port: 0, authenticate: () => ({ id: 'ann' }) });
  onTestFinished(() => server.close());
  const client = await connect(server.url, { token: 'any' });
  onTestFinished(() => client.close());
  const session = await client.open('clerk');
  const [question] = (await run(session, 'Pay.')).pending;
  await session.respond(question?.requestId ?? '', 'approve');
  expect((await runOrThrow(session)).text).toBe('Done.');
  expect(paid).toEqual([300]);
});

test('19-P5 any other word, or an input that is there and undefined, is refused', async () => {
  const { host, paid } = bank();
  const session = await host.open('clerk');
  const [question] = (await run(session, 'Pay.')).pending;
  for (const answer of ['yes', 'APPROVE', 'allow', 'approved', '', true, ['approve']]) {
    expect([answer, await codeOf(session.respond(question?.requestId ?? '', answer as never))]).toEqual([
      answer,
      'E_BAD_INPUT',
    ]);
  }
  expect(await codeOf(run(session, undefined as never))).toBe('E_BAD_INPUT');
  expect(await session.pending()).toHaveLength(1);
  expect(paid).toEqual([]);
});

test('19-P9 a host takes verdicts by the names of its tools, and asks about what they say nothing of', async () => {
  const judged = async (verdict: 'allow' | 'ask' | 'deny' | undefined) => {
    const { pay, paid } = bank();
    const model = new ScriptedModel([{ calls: [['pay', { eur: 300 }]] }, 'Done.']);
    const agents = [new LlmAgent({ name: 'clerk', model })];
    const policy = { pay: ({ eur }: { eur: number }) => (eur === 300 ? verdict : 'allow') };
    const host = createHost({ app: 'bank', agents, tools: [pay], policy });
    onTestFinished(() => host.close());
    const { reason, denied } = await run(await host.open('clerk'), 'Pay.');
    return { reason, denied, paid };
  };
  expect(await judged('allow')).toEqual({ reason: 'completed', denied: [], paid: [300] });
  expect(await judged('deny')).toEqual({ reason: 'completed', denied: ['pay'], paid: [] });
  for (const verdict of ['ask', undefined] as const) {
    expect(await judged(verdict)).toEqual({ reason: 'input_required', denied: [], paid: [] });
  }
});

test('19-P9 verdicts that name no tool, say nothing, or could be an evaluator let nothing run', async () => {
  const { pay } = bank();
  const agents = [new LlmAgent({ name: 'clerk' })];
  const made = (policy: unknown) => async () => createHost({ app: 'bank', agents, tools: [pay], policy } as never);
  expect(await codeOf(made({ pya: 'allow' })())).toBe('E_POLICY_RULE');
  expect(await codeOf(made({ pay: 'maybe' })())).toBe('E_POLICY_RULE');
  expect(await codeOf(made({})())).toBe('E_BAD_INPUT');
  expect(await codeOf(made(new (class Judge {})())())).toBe('E_BAD_INPUT');
  expect(await codeOf(made([])())).toBe('E_BAD_INPUT');
  // A tool of this name makes an evaluator of its verdicts: what it says is no decision.
  const { pay: evaluate, paid } = bank({}, 'evaluate');
  const model = new ScriptedModel([{ calls: [['evaluate', { eur: 300 }]] }, 'Done.']);
  const policy = { evaluate: () => 'allow' };
  const clerk = new LlmAgent({ name: 'clerk', model });
  const host = createHost({ app: 'bank', agents: [clerk], tools: [evaluate], policy } as never);
  onTestFinished(() => host.close());
  await run(await host.open('clerk' as never), 'Pay.');
  expect(paid).toEqual([]);
});
