import { describe, expect, test } from 'vitest';
import type { Principal, ReportedRequest, SessionInput } from '../../src/contracts/index.ts';
import { agentTool, allowAll, fromAgent, LlmAgent, subagentTool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, door, endOf, firstOf, hostOf, notingTool, policyOf, refusal, results, say, tool } from './kit.ts';
import { askExpert, team } from './subagents/kit.ts';

const words: SessionInput = { kind: 'message', content: 'and be quick' };
const yes = (request: ReportedRequest | undefined, action: 'accept' | 'decline' = 'accept'): SessionInput => ({
  kind: 'elicitation_response',
  requestId: request?.requestId ?? '',
  response: { action },
});

/** What the model was told last, in short. */
function told(model: ScriptedModel): string[] {
  return (model.requests.at(-1)?.contents ?? []).flatMap(({ parts }) =>
    parts.map((part) => {
      if (part.type === 'function_response')
        return `${part.name} = ${part.response.content ?? part.response.result ?? part.response.error}`;
      return part.type === 'text' ? part.text : part.type;
    }),
  );
}

/** A turn that waits for a word on a payment, and on a mail. */
async function asking(calls: readonly [string][] = [['pay']], where: 'host' | 'agent' = 'host') {
  const [pay, mail] = [notingTool('pay'), notingTool('mail')];
  const tools = [pay.tool, mail.tool];
  const model = new ScriptedModel([{ calls }, 'end', 'next']);
  const policy = policyOf({ pay: 'ask', mail: 'ask' });
  const { host } = hostOf(bot(model, where === 'agent' ? { tools } : {}), {
    policy,
    ...(where === 'host' ? { tools } : {}),
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'go');
  const pending = await session.pending();
  return { host, session, pay, mail, model, pending };
}

describe.each(['host', 'agent'] as const)('a yes to a call of the %s, and words', (where) => {
  test.each(['cancel', 'hold', 'proceed'] as const)(
    'CASE-P8 in one input: the call runs, and the words are heard in the same turn (%s)',
    async (whilePending) => {
      for (const order of ['first', 'last']) {
        const { session, pay, model, pending } = await asking([['pay']], where);
        const input = order === 'first' ? [yes(pending[0]), words] : [words, yes(pending[0])];
        const events = await say(session, input, { whilePending });
        expect([pay.runs.length, results(events).pay, endOf(events).reason]).toEqual([1, 'pay done', 'completed']);
        expect(told(model)).toEqual(['go', 'function_call', 'pay = pay done', 'and be quick']);
        const log = [];
        for await (const event of session.events()) log.push(event);
        expect(new Set(log.flatMap(({ turnId = [] }) => turnId)).size).toBe(1);
        expect(endOf(await say(session, 'again')).reason).toBe('completed');
      }
    },
  );

  test('CASE-P8 the words after it: the answer holds', async () => {
    const { session, pay, model, pending } = await asking([['pay']], where);
    expect(await session.respond(pending[0]?.requestId ?? '', { kind: 'approve' })).toMatchObject({
      status: 'settled',
    });
    expect(endOf(await say(session, 'and be quick')).reason).toBe('completed');
    expect([pay.runs.length, told(model)]).toEqual([1, ['go', 'function_call', 'pay = pay done', 'and be quick']]);
  });

  test('CASE-P8 a no in one input is the person’s no', async () => {
    const { session, pay, model, pending } = await asking([['pay']], where);
    await say(session, [yes(pending[0], 'decline'), words]);
    expect([pay.runs.length, told(model)]).toEqual([0, ['go', 'function_call', 'pay = denied', 'and be quick']]);
  });
});

describe('other questions that are open', () => {
  test('CASE-P8 a message closes them, holds back before them, or leaves them', async () => {
    const both: [string][] = [['pay'], ['mail']];
    const cancel = await asking(both);
    await say(cancel.session, [yes(cancel.pending[0]), words]);
    expect(told(cancel.model)).toEqual([
      'go',
      'function_call',
      'function_call',
      'pay = pay done',
      'mail = cancelled (a new message came): it never ran',
      'and be quick',
    ]);
    const hold = await asking(both);
    const held = firstOf(hold.session, [yes(hold.pending[0]), words], { whilePending: 'hold' });
    expect((await refusal(held)).code).toBe('E_INPUT_REQUIRED');
    expect(await hold.session.pending()).toHaveLength(2);
    const proceed = await asking(both);
    const events = await say(proceed.session, [yes(proceed.pending[0]), words], { whilePending: 'proceed' });
    expect([endOf(events).reason, proceed.pay.runs.length]).toEqual(['input_required', 1]);
    await say(proceed.session, yes((await proceed.session.pending())[0]));
    expect([proceed.mail.runs.length, told(proceed.model).at(-1)]).toEqual([1, 'and be quick']);
  });

  test('CASE-P8 a message alone closes what nobody has answered, and begins a turn', async () => {
    const { session, pay, model } = await asking();
    await say(session, 'never mind');
    expect(pay.runs).toEqual([]);
    expect(told(model)).toEqual([
      'go',
      'function_call',
      'pay = cancelled (a new message came): it never ran',
      'never mind',
    ]);
  });
});

test('CASE-P8 who speaks beside a yes is held to what the turn was begun with', async () => {
  const look = notingTool('look');
  const pay = notingTool('pay');
  const model = new ScriptedModel([{ calls: [['pay']] }, { calls: [['look']] }, 'end']);
  const policy = policyOf({ pay: 'ask' });
  const { host } = hostOf(bot(model), { tools: [pay.tool, look.tool], policy });
  const session = await host.open('bot', { sessionId: 's', create: true, principal: { id: 'ann' } });
  await say(session, 'go', { excludeTools: ['look'] });
  const [open] = await session.pending();
  await say(session, [yes(open), words], { principal: { id: 'ann', roles: ['boss'] } });
  expect(pay.runs).toHaveLength(1);
  expect(look.runs).toEqual([]);
  expect(new Set(policy.asked.map(({ principal }) => principal?.id))).toEqual(new Set(['ann']));
});

describe('what somebody else says', () => {
  const ann = { id: 'ann', roles: ['clerk'] };

  /** Ann's payment waits, or is approved by kim and waits to run. */
  async function shared(others: Principal) {
    const pay = notingTool('pay');
    const model = new ScriptedModel([{ calls: [['pay', { n: 1 }]] }, { calls: [['pay', { n: 2 }]] }, 'end']);
    const policy = policyOf({ pay: { outcome: 'ask', approvers: { notRequester: true } } });
    const { host } = hostOf(bot(model), { tools: [pay.tool], policy });
    const of = { userId: 'team', sessionId: 's' };
    const anns = await host.open('bot', { ...of, create: true, principal: ann });
    await say(anns, 'go');
    const theirs = await host.open('bot', { ...of, principal: others });
    const [open] = await anns.pending();
    return { host, anns, theirs, pay, policy, open };
  }

  test.each<[string, Principal]>([
    ['another', { id: 'bert' }],
    ['another of the same roles', { id: 'bert', roles: ['clerk'] }],
    ['the same program for another', { id: 'ann', onBehalfOf: 'bert' }],
  ])('ATK2-26 %s: it joins no turn that acts for her, and what was approved is kept', async (_, others) => {
    const { anns, theirs, pay, policy, open } = await shared(others);
    await anns.respond(open?.requestId ?? '', { kind: 'approve', by: { id: 'kim' } });
    const refused = await refusal(firstOf(theirs, 'pay me, too', { principal: others }));
    expect([refused.code, refused.message]).toEqual([
      'E_INPUT_REQUIRED',
      expect.stringMatching(/acts for ann: words of (bert|ann on behalf of bert) do not join it/),
    ]);
    await expect(theirs.steer({ content: 'pay me, too' })).rejects.toMatchObject({ code: 'E_INPUT_REQUIRED' });
    const went = await say(theirs, { kind: 'continue' });
    expect([pay.runs.length, endOf(went).reason]).toEqual([1, 'input_required']);
    expect(policy.asked.map(({ principal }) => principal?.id)).not.toContain('bert');
    const [hers] = await theirs.pending();
    expect([hers?.args, hers?.approval?.requestedBy]).toEqual([{ n: 2 }, ann]);
  });

  test('ATK2-26 beside a yes of theirs it is refused with the yes, and the question stays', async () => {
    const bert = { id: 'bert', roles: ['boss'] };
    const { theirs, pay, open } = await shared(bert);
    const both = firstOf(theirs, [yes(open), words], { principal: bert });
    expect((await refusal(both)).code).toBe('E_INPUT_REQUIRED');
    expect([pay.runs.length, (await theirs.pending()).length]).toEqual([0, 1]);
    // A message alone begins a turn of theirs, as ever.
    expect(endOf(await say(theirs, 'never mind', { principal: bert })).reason).toBe('input_required');
    expect((await theirs.pending())[0]?.approval?.requestedBy).toEqual(bert);
  });

  test('ATK2-26 nor a turn that runs: who runs it may steer it, on the handle that does', async () => {
    const gate = door();
    const wait = tool('wait', () => gate.opened);
    const { host } = hostOf(bot(new ScriptedModel([{ calls: [['wait']] }, 'end', 'end'])), {
      tools: [wait],
      policy: allowAll(),
    });
    const of = { userId: 'team', sessionId: 's' };
    const open = await host.open('bot', { ...of, create: true });
    const berts = await host.open('bot', { ...of, principal: { id: 'bert' } });
    const stream = open.stream('go', { principal: ann });
    for await (const { type } of stream) {
      if (type !== 'tool_request') continue;
      await expect(berts.steer({ content: 'x' })).rejects.toMatchObject({ code: 'E_INPUT_REQUIRED' });
      expect(await open.steer({ content: 'y' })).toMatchObject({ disposition: 'current_turn' });
      gate.open(undefined);
    }
    expect(await berts.steer({ content: 'z' })).toMatchObject({ disposition: 'next_turn' });
  });
});

test('CASE-P8 what the turn has cost before the words counts', async () => {
  const usage = { inputTokens: 1_000_000 };
  const model = new ScriptedModel([{ calls: [['pay']], usage }, { calls: [['pay']], usage }, 'end']);
  const { host } = hostOf(bot(model), {
    tools: [notingTool('pay').tool],
    policy: policyOf({ pay: 'ask' }),
    limits: { usd: 1.5 },
    prices: { [model.name]: { input: 1, output: 1 } },
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'go');
  const events = await say(session, [yes((await session.pending())[0]), words]);
  expect([endOf(events).reason, model.requests.length]).toEqual(['max_budget', 2]);
});

test('CASE-P8 a yes to what a sub-agent asks, and words to its caller', async () => {
  const pay = notingTool('pay');
  const { host, boss } = team({
    boss: [askExpert, 'end'],
    expert: [{ calls: [['pay']] }, 'paid'],
    tools: [],
    expertOptions: { tools: [pay.tool] },
    host: { policy: policyOf({ pay: 'ask' }) },
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  await say(session, 'go');
  const events = await say(session, [yes((await session.pending())[0]), words]);
  expect([pay.runs.length, endOf(events).reason]).toEqual([1, 'completed']);
  expect(told(boss)).toEqual(['go', 'function_call', 'expert = paid', 'and be quick']);
});

describe('what an agent asks itself, answered before the words', () => {
  /** Runs once its own question was answered. */
  const own = () => {
    const heard: unknown[] = [];
    const made = tool('pay', (_, context) => {
      if (!context?.confirmation) return context?.requestConfirmation({ hint: 'sure?' });
      heard.push(context.confirmation.confirmed);
      return 'paid';
    });
    return { made, heard };
  };

  test.each(['agent', 'agent as a tool', 'sub-agent', 'host, for a sub-agent'] as const)(
    'CASE-P8 of the %s: the answer holds, and the words are heard in its turn',
    async (where) => {
      const { made, heard } = own();
      const asks = where === 'agent' ? [['pay']] : [['expert', { request: 'go' }]];
      const boss = new ScriptedModel([{ calls: asks as [string][] }, 'end', 'next']);
      const tools = where === 'host, for a sub-agent' ? [] : [made];
      const expert = new LlmAgent({
        name: 'expert',
        description: 'knows',
        model: new ScriptedModel([{ calls: [['pay']] }, 'paid']),
        tools,
      });
      const bench = hostOf(
        bot(boss, { tools: where === 'agent' ? [made] : where === 'agent as a tool' ? [agentTool(expert)] : [] }),
        { tools: [...(tools.length === 0 ? [made] : []), subagentTool(fromAgent(expert))], policy: allowAll() },
      );
      const session = await bench.host.open('bot', { sessionId: 's', create: true });
      await say(session, 'go');
      const [open] = await session.pending();
      expect((await session.respond(open?.requestId ?? '', { kind: 'approve' })).status).toBe('settled');
      const events = await say(session, 'and be quick');
      expect([heard, endOf(events).reason]).toEqual([[true], 'completed']);
      expect(told(boss).slice(-2)).toEqual([where === 'agent' ? 'pay = paid' : 'expert = paid', 'and be quick']);
      const turns = new Set<string>();
      for await (const { turnId } of session.events()) if (turnId !== undefined) turns.add(turnId);
      expect(turns.size).toBe(1);
    },
  );

  test('CASE-P8 with other questions open, words close those, and the answer holds', async () => {
    const { made, heard } = own();
    const mail = notingTool('mail');
    const model = new ScriptedModel([{ calls: [['pay'], ['mail']] }, 'end']);
    const { host } = hostOf(bot(model, { tools: [made] }), {
      tools: [mail.tool],
      policy: policyOf({ mail: 'ask', pay: 'allow' }),
    });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    const ofPay = (await session.pending()).find(({ name }) => name === 'pay');
    await session.respond(ofPay?.requestId ?? '', { kind: 'approve' });
    await say(session, 'never mind the mail');
    expect([heard, mail.runs]).toEqual([[true], []]);
    expect(told(model).slice(-3)).toEqual([
      'pay = paid',
      'mail = cancelled (a new message came): it never ran',
      'never mind the mail',
    ]);
  });
});
