import { describe, expect, test, vi } from 'vitest';
import type { PolicyEvaluator } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import {
  allowAll,
  createHost,
  denyOverrides,
  fromAgent,
  LlmAgent,
  ParallelAgent,
  rulePolicy,
} from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  door,
  endOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  readOnly,
  refusal,
  results,
  say,
  tool,
} from './kit.ts';

describe('outcomes', () => {
  test('S3-62 S3-63 allow runs; deny does not, and its reason reaches the model; ask (or ask_user) asks', async () => {
    const tools = ['yes', 'no', 'maybe', 'perhaps'].map((name) => notingTool(name));
    const model = new ScriptedModel([{ calls: tools.map(({ tool: { name } }) => [name] as const) }, 'done']);
    const { host } = hostOf(bot(model), {
      tools: tools.map(({ tool: made }) => made),
      policy: policyOf({
        no: { outcome: 'deny', reason: 'not on Sundays', ruleId: 'r7' },
        maybe: 'ask',
        perhaps: 'ask_user',
      }),
    });
    const session = await host.open('bot');
    const events = await say(session, 'go');
    expect(results(events)).toEqual({ yes: 'yes done', no: 'denied by policy: not on Sundays' });
    expect(ofType(events, 'elicitation_request')).toHaveLength(2);
    for (const { requestId } of await session.pending()) await session.respond(requestId, { kind: 'deny' });
    await say(session, { kind: 'continue' });
    expect(tools.map(({ runs }) => runs.length)).toEqual([1, 0, 0, 0]);
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('not on Sundays');
    expect(
      ofType(events, 'custom').find(({ data }) => (data as { outcome?: string }).outcome === 'denied'),
    ).toMatchObject({
      kind: 'policy_decision',
      data: { by: 'policy', ruleId: 'r7', reason: 'not on Sundays' },
    });
  });

  test('S3-62 each decision is a durable event: allowed, denied, of a repeatable tool, of a tool that the caller runs', async () => {
    const { host } = hostOf(
      bot([{ calls: [['pay'], ['look'], ['no'], ['theirs']] }, 'done'], { tools: [tool('theirs')] }),
      {
        tools: [notingTool('pay').tool, notingTool('look', readOnly).tool, notingTool('no').tool],
        policy: policyOf({ no: 'deny' }),
      },
    );
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    await say(session, { kind: 'tool_result', requestId, result: { content: [{ type: 'text', text: 'x' }] } });
    const log = await all(session.events());
    const names = new Map(ofType(log, 'tool_request').map((request) => [request.requestId, request.name]));
    const decided = ofType(log, 'custom').flatMap(({ kind, data }) => {
      const { callId, outcome } = data as { callId: string; outcome: string };
      return kind === 'policy_decision' ? [`${names.get(callId)} ${outcome}`] : [];
    });
    expect(decided.sort()).toEqual(['look approved', 'no denied', 'pay approved', 'theirs approved']);
  });

  test('CASE-P5 a no says that it is one, and whose: of policy, of a person, of a hook; a failure says another thing', async () => {
    const tools = ['dear', 'bare', 'mine', 'hooked'].map((name) => notingTool(name));
    const broken = tool('broken', () => {
      throw new Error('too costly');
    });
    const model = new ScriptedModel([{ calls: [['dear'], ['bare'], ['mine'], ['hooked'], ['broken']] }, 'done']);
    const { host } = hostOf(bot(model), {
      tools: [...tools.map((one) => one.tool), broken],
      policy: policyOf({ dear: { outcome: 'deny', reason: 'too costly' }, bare: 'deny', mine: 'ask' }),
      hooks: hooks({
        beforeTool: ({ tool }) => (tool.name === 'hooked' ? { action: 'block', reason: 'too costly' } : undefined),
      }),
    });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'deny', reason: 'too costly' });
    await say(session, { kind: 'continue' });
    const told = model.requests[1]?.contents.flatMap(({ parts }) => parts) ?? [];
    expect(
      told.flatMap((part) =>
        part.type === 'function_response' ? [[part.name, part.response.error, part.errorType]] : [],
      ),
    ).toEqual([
      ['dear', 'denied by policy: too costly', 'denied'],
      ['bare', 'denied by policy', 'denied'],
      ['mine', 'denied: too costly', 'denied'],
      ['hooked', 'denied: too costly', 'denied'],
      ['broken', 'too costly', 'failed'],
    ]);
    // On record is what they said, and who.
    expect((await host.audit('s')).map(({ tool, decisions: [made] }) => [tool, made?.by, made?.reason])).toEqual([
      ['dear', 'policy', 'too costly'],
      ['bare', 'policy', 'denied by policy'],
      ['mine', 'user:local', 'too costly'],
      ['hooked', 'hook', 'too costly'],
      ['broken', 'policy', undefined],
    ]);
  });

  test('CASE-P5 what a policy failed with is on record, and no model is told it', async () => {
    const model = new ScriptedModel([{ calls: [['pay']] }, 'done']);
    const down = { evaluate: () => Promise.reject(new Error('no route to https://user:secret@engine')) };
    const policy = denyOverrides(policyOf({ pay: { outcome: 'allow', redact: ['/card'] } }), down);
    const { host } = hostOf(bot(model), { tools: [notingTool('pay').tool], policy });
    await say(await host.open('bot', { sessionId: 's', create: true }), 'go');
    expect(JSON.stringify(model.requests[1]?.contents)).not.toContain('secret');
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('denied by policy: it gave no proper answer');
    expect((await host.audit('s'))[0]?.decisions[0]?.reason).toContain('no route to');
  });

  test('F20 S3-62 a policy that throws, takes too long, or says what is no decision denies', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const silent = door();
      const evaluators: [string, PolicyEvaluator['evaluate']][] = [
        [
          'throws',
          () => {
            throw new Error('engine down');
          },
        ],
        ['rejects', () => Promise.reject(new Error('engine down'))],
        [
          'is silent',
          () => {
            silent.open();
            return new Promise(() => {});
          },
        ],
        ['says yes', () => ({ outcome: 'yes' }) as never],
        ['says nothing', () => undefined as never],
        ['says true', () => true as never],
        ['has odd obligations', () => ({ outcome: 'ask', approvers: 'boss' }) as never],
      ];
      for (const [name, evaluate] of evaluators) {
        const pay = notingTool('pay');
        const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
          tools: [pay.tool],
          policy: { evaluate },
          policyTimeoutMs: 1000,
        });
        const stream = follow(await host.open('bot'), 'go');
        if (name === 'is silent') {
          await silent.opened;
          await vi.advanceTimersByTimeAsync(1001);
        }
        const events = await stream.ended;
        expect([name, results(events).pay, pay.runs, endOf(events).reason]).toEqual([
          name,
          'denied by policy: it gave no proper answer',
          [],
          'completed',
        ]);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  test('S3-62 safe by default: without a policy readers run, the rest asks; allowAll() opts out', async () => {
    const tools = () => [notingTool('look', readOnly).tool, notingTool('pay').tool];
    const steps = [{ calls: [['look'], ['pay']] as const }, 'done'];
    const session = await hostOf(bot(steps), { tools: tools() }).host.open('bot');
    const events = await say(session, 'go');
    expect([results(events), (await only(session)).name]).toEqual([{ look: 'look done' }, 'pay']);
    const open = await hostOf(bot(steps), { tools: tools(), policy: allowAll() }).host.open('bot');
    expect(results(await say(open, 'go'))).toEqual({ look: 'look done', pay: 'pay done' });
  });

  test('F16 S3-62 an unknown tool, or arguments that do not fit, never reach policy', async () => {
    const policy = policyOf({});
    const model = new ScriptedModel([{ calls: [['serach'], ['pay', { eur: 'x' }], ['look']] }, 'done']);
    const { host } = hostOf(bot(model), {
      tools: [
        notingTool('look').tool,
        notingTool('pay', {
          inputSchema: { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] },
        }).tool,
      ],
      policy,
    });
    const events = await say(await host.open('bot'), 'go');
    expect(results(events)).toEqual({
      serach: expect.stringMatching(/^not_found: .*look, pay/),
      pay: expect.stringMatching(/^invalid_args/),
      look: 'look done',
    });
    expect(policy.asked.map(({ action }) => action)).toEqual(['look']);
  });
});

describe('what a policy is told', () => {
  test('S3-65 principal, the path of agents down a branch, arguments, resource, session and mode', async () => {
    const policy = policyOf({});
    const inner = new LlmAgent({ name: 'inner', model: new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']) });
    const outer = new ParallelAgent({ name: 'outer', subAgents: [inner] });
    const host = createHost({
      app: 'shop',
      agents: [fromAgent(outer)],
      tools: [notingTool('pay', { kind: 'edit', annotations: { destructive: true } }).tool],
      policy,
      permissionMode: 'auto_edit',
    });
    const principal = { id: 'ann', roles: ['clerk'], onBehalfOf: 'shop' };
    const session = await host.open('outer', { principal });
    await say(session, 'go');
    expect(policy.asked[0]).toMatchObject({
      action: 'pay',
      args: { eur: 5 },
      principal,
      principalPath: ['ann', 'outer', 'inner'],
      context: {
        resource: { type: 'tool', id: 'pay', source: 'host', kind: 'edit', annotations: { destructive: true } },
        session: { id: session.id },
        agentPath: ['outer', 'inner'],
        permissionMode: 'auto_edit',
        interactive: true,
      },
    });
  });

  test('S3-65 the agent’s own tools are named as such, and gated too', async () => {
    const policy = policyOf({ own: 'deny' });
    const own = notingTool('own');
    const { host } = hostOf(bot([{ calls: [['own']] }, 'done'], { tools: [own.tool] }), { policy });
    const events = await say(await host.open('bot'), 'go');
    expect([policy.asked[0]?.context?.resource?.source, own.runs]).toEqual(['agent:bot', []]);
    expect(ofType(events, 'tool_request')[0]?.handledBy).toBe('agent');
  });

  test('S3-65 the author’s floor: policy may tighten it, never loosen', async () => {
    for (const needsApproval of [
      true,
      ({ eur }: { eur?: number }) => Number(eur) > 1,
      () => {
        throw new Error('?');
      },
    ]) {
      for (const where of ['host', 'agent'] as const) {
        const pay = notingTool('pay', { needsApproval: needsApproval as never });
        const steps = [{ calls: [['pay', { eur: 5 }]] as const }, 'done'];
        const agent = bot(steps, where === 'agent' ? { tools: [pay.tool] } : {});
        const session = await hostOf(agent, {
          policy: allowAll(),
          ...(where === 'host' ? { tools: [pay.tool] } : {}),
        }).host.open('bot');
        expect([where, endOf(await say(session, 'go')).reason, pay.runs]).toEqual([where, 'input_required', []]);
        await session.respond((await only(session)).requestId, { kind: 'approve' });
        await say(session, { kind: 'continue' });
        expect([where, pay.runs.length]).toEqual([where, 1]);
      }
    }
  });
});

describe('excluded tools', () => {
  test('S3-64 tools that policy excludes are not offered, neither the host’s nor the agent’s nor the caller’s', async () => {
    const scopes: unknown[] = [];
    const policy: PolicyEvaluator = {
      evaluate: () => ({ outcome: 'allow' }),
      getExcluded: (scope) => {
        scopes.push(scope);
        return ['pay', 'own', 'theirs'];
      },
    };
    const model = new ScriptedModel([{ calls: [['pay']] }, 'done']);
    const pay = notingTool('pay');
    const { host } = hostOf(bot(model, { tools: [tool('own', () => 1)] }), {
      tools: [pay.tool, notingTool('look', readOnly).tool],
      policy,
      permissionMode: 'auto_edit',
    });
    const session = await host.open('bot');
    const events = await say(session, 'go', {
      tools: [{ name: 'theirs', description: '', inputSchema: { type: 'object' } }],
    });
    expect(model.requests[0]?.tools).toEqual(['look']);
    expect(scopes).toEqual([{ agent: 'bot', permissionMode: 'auto_edit' }]);
    // A model that calls it all the same is told that there is none.
    expect([results(events).pay?.split(':')[0], pay.runs]).toEqual(['not_found', []]);
  });

  test('S3-64 rules that always deny a tool exclude it', async () => {
    const model = new ScriptedModel(['ok']);
    const { host } = hostOf(bot(model), {
      tools: [notingTool('wipe').tool, notingTool('look').tool],
      policy: rulePolicy([{ tool: 'wipe', outcome: 'deny' }]),
    });
    await say(await host.open('bot'), 'go');
    expect(model.requests[0]?.tools).toEqual(['look']);
  });
});

describe('a policy that does not say which tools are not offered', () => {
  const answers: [string, () => unknown, RegExp][] = [
    [
      'fails',
      () => {
        throw new Error('out of order');
      },
      /out of order/,
    ],
    ['rejects', () => Promise.reject(new Error('out of order')), /out of order/],
    ['never answers', () => new Promise(() => {}), /no answer within 20 ms/],
    ['gives no list', () => 5, /no list/],
    ['gives no names', () => [5], /no list/],
  ];

  test.each(answers)('%s: nothing is run, with a typed error', async (_, getExcluded, says) => {
    const model = new ScriptedModel([{ calls: [['look']] }, 'done']);
    const look = notingTool('look');
    const { host } = hostOf(bot(model), {
      tools: [look.tool],
      policy: { evaluate: () => ({ outcome: 'allow' }), getExcluded: getExcluded as () => string[] },
      policyTimeoutMs: 20,
    });
    const error = await refusal(say(await host.open('bot'), 'go'));
    expect([error.status, error.code]).toEqual(['UNAVAILABLE', 'E_POLICY']);
    expect(error.message).toMatch(says);
    expect([look.runs, model.requests]).toEqual([[], []]);
  });
});
