import { describe, expect, test } from 'vitest';
import type { HookResult, LifecycleInterceptor } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  brief,
  door,
  endOf,
  firstOf,
  follow,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  refusal,
  results,
  say,
  tool,
} from './kit.ts';

const eur = { inputSchema: { type: 'object', properties: { eur: { type: 'number' } }, required: ['eur'] } };

async function paying(interceptor: LifecycleInterceptor, options: Parameters<typeof hostOf>[1] = {}) {
  const pay = notingTool('pay', eur);
  const model = new ScriptedModel([{ calls: [['pay', { eur: 5 }]] }, 'done']);
  const bench = hostOf(bot(model), { tools: [pay.tool], policy: allowAll(), hooks: interceptor, ...options });
  const session = await bench.host.open('bot');
  return { ...bench, pay, model, session, events: await say(session, 'go') };
}

describe('hook points', () => {
  test('S3-59 the set is open; only those that are supported are fired', async () => {
    const fired: string[] = [];
    await paying({
      fire: (point) => {
        fired.push(point);
        return undefined;
      },
      supportedHookPoints: () => ['after_tool', 'x_of_the_future'],
    });
    expect(fired).toEqual(['after_tool']);
    const typed = hooks({ beforeTool: () => undefined, onUserMessage: () => undefined });
    expect(typed.supportedHookPoints()).toEqual(['before_tool', 'on_user_message']);
    expect(await typed.fire('pre_compress', {})).toBeUndefined();
    expect(hooks({}).supportedHookPoints()).toEqual([]);
  });

  test('S3-60 before_tool and after_tool get the call, its arguments and where it stands', async () => {
    const seen: unknown[] = [];
    const { session, events } = await paying(
      hooks({
        beforeTool: ({ tool: { name }, args, context }) => void seen.push([name, args, context]),
        afterTool: ({ tool: { name }, args, result }) => void seen.push([name, args, result]),
      }),
    );
    const [request] = ofType(events, 'tool_request');
    expect(seen).toEqual([
      [
        'pay',
        { eur: 5 },
        {
          sessionId: session.id,
          sessionUid: expect.any(String),
          userId: 'local',
          principal: { id: 'local' },
          turnId: request?.turnId,
          callId: request?.requestId,
          toolSource: 'host',
          agentPath: ['bot'],
          signal: expect.any(AbortSignal),
        },
      ],
      ['pay', { eur: 5 }, { content: [{ type: 'text', text: 'pay done' }] }],
    ]);
  });
});

describe('results of hooks', () => {
  test('S3-60 proceed does nothing; block denies with its reason; block with a result stands in for the tool', async () => {
    const cases: [HookResult | undefined, string, number][] = [
      [undefined, 'pay done', 1],
      [{ action: 'proceed' }, 'pay done', 1],
      [{ action: 'block', reason: 'closed' }, 'denied: closed', 0],
      [{ action: 'block', modifications: { result: 'from the cache' } }, 'from the cache', 0],
      [{ action: 'block', modifications: { result: undefined } }, '', 0],
      [{ action: 'proceed', modifications: { result: 'ignored' } }, 'pay done', 1],
      [
        { action: 'proceed', modifications: { args: [] } },
        'denied: a before_tool hook gave arguments that are not an object',
        0,
      ],
    ];
    for (const [answer, outcome, runs] of cases) {
      const { events, pay } = await paying(hooks({ beforeTool: () => answer as never }));
      expect([answer, results(events).pay, pay.runs.length]).toEqual([answer, outcome, runs]);
    }
  });

  test('S3-61 new arguments are validated, asked of policy, and run; both versions are in the log', async () => {
    const policy = policyOf({
      pay: ({ args }) => ({ outcome: Number(args?.eur) > 100 ? 'deny' : 'allow', reason: 'limit' }),
    });
    const changed = await paying(
      hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args: { eur: 3 } } }) }),
      { policy },
    );
    expect(changed.pay.runs).toEqual([{ eur: 3 }]);
    expect(policy.asked.map(({ args }) => args)).toEqual([{ eur: 5 }, { eur: 3 }]);
    const log = await all(changed.session.events());
    expect(ofType(log, 'tool_request')[0]?.args).toEqual({ eur: 5 });
    expect(ofType(log, 'custom').find(({ kind }) => kind === 'policy_decision')).toMatchObject({
      data: { args: { eur: 3 } },
    });
    for (const [args, outcome] of [
      [{ eur: 'much' }, /^invalid_args/],
      [{ eur: 500 }, /^denied by policy: limit/],
    ] as const) {
      const { pay, events } = await paying(
        hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args } }) }),
        { policy },
      );
      expect(results(events).pay).toMatch(outcome);
      expect(pay.runs).toEqual([]);
    }
  });

  test('S3-61 new arguments that are no JSON are refused like any that do not fit; the turn goes on', async () => {
    const args = { eur: 5n, later() {} };
    const { events, pay } = await paying(
      hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args } }) as never }),
    );
    expect(results(events).pay).toContain("invalid_args: a hook's arguments do not fit");
    expect([endOf(events).reason, pay.runs]).toEqual(['completed', []]);
  });

  test('S3-61 what a person is asked is what would run: the hook’s arguments; the hook is fired once', async () => {
    let fired = 0;
    const { session, pay } = await paying(
      hooks({
        beforeTool: () => {
          fired++;
          return { action: 'proceed', modifications: { args: { eur: 3 } } };
        },
      }),
      { policy: policyOf({ pay: 'ask' }) },
    );
    const question = await only(session);
    expect(question.args).toEqual({ eur: 3 });
    await session.respond(question.requestId, { kind: 'approve' });
    await say(session, { kind: 'continue' });
    expect([fired, pay.runs]).toEqual([1, [{ eur: 3 }]]);
  });

  test('S3-60 a before_tool that throws fails closed; an after_tool that throws is told of and changes nothing', async () => {
    const fail = () => {
      throw new Error('hook down');
    };
    const before = await paying(hooks({ beforeTool: fail }));
    expect([results(before.events).pay, before.pay.runs]).toEqual(['denied: a before_tool hook failed: hook down', []]);
    const after = await paying(hooks({ afterTool: fail }));
    expect(results(after.events).pay).toBe('pay done');
    expect(after.warnings).toEqual([expect.stringContaining('after_tool')]);
  });

  const unknown = [
    { decision: 'block', reason: 'no' },
    { action: 'deny' },
    { decision: 'approve' },
    false,
    'no',
    ['block'],
  ];

  test.each(unknown)(
    'HUNT-F5 %j of a before_tool is a word that nobody knows: the call is denied, and told of',
    async (word) => {
      for (const where of ['host', 'agent'] as const) {
        const pay = notingTool('pay', { annotations: { readOnly: true } });
        const agent = bot([{ calls: [['pay']] }, 'done'], where === 'agent' ? { tools: [pay.tool] } : {});
        const { host, warnings } = hostOf(agent, {
          tools: where === 'host' ? [pay.tool] : [],
          policy: allowAll(),
          hooks: { supportedHookPoints: () => ['before_tool'], fire: () => word as never },
        });
        const [response] = ofType(await say(await host.open('bot'), 'go'), 'tool_response');
        expect(response).toMatchObject({ isError: true, errorType: 'denied' });
        expect(response?.content).toMatchObject([{ text: expect.stringContaining(JSON.stringify(word)) }]);
        expect([pay.runs, warnings]).toEqual([[], [expect.stringContaining('before_tool')]]);
      }
    },
  );

  test('HUNT-F5 what an after_tool says in unknown words, or too late in known ones, is told of and changes nothing', async () => {
    for (const word of [{ decision: 'block' }, 'other', { action: 'block', reason: 'no' }]) {
      const { events, warnings } = await paying({
        supportedHookPoints: () => ['after_tool'],
        fire: () => word as never,
      });
      expect(results(events).pay).toBe('pay done');
      expect(warnings).toEqual([expect.stringContaining('after_tool')]);
    }
  });

  test('ATT-B15 a before_tool that says nothing in time is a no; other points have the same time', async () => {
    const never = () => new Promise<never>(() => {});
    const before = await paying(hooks({ beforeTool: never }), { hookTimeoutMs: 1 });
    expect(results(before.events).pay).toContain('gave no answer within 1 ms');
    expect([before.pay.runs, endOf(before.events).reason]).toEqual([[], 'completed']);
    const after = await paying(hooks({ afterTool: never }), { hookTimeoutMs: 1 });
    expect([results(after.events).pay, after.warnings]).toEqual(['pay done', [expect.stringContaining('after_tool')]]);
    const inside = await paying(hooks({ beforeModel: never }), { hookTimeoutMs: 1 });
    expect(endOf(inside.events).reason).toBe('failed');
    expect(ofType(inside.events, 'error')).toMatchObject([{ code: 'E_HOOK_FAILED' }]);
  });

  test('S3-60 a before_tool that never answers holds up nobody: one call or the stream can be aborted', async () => {
    const waiting = door();
    const interceptor = hooks({
      beforeTool: ({ tool: { name } }) => {
        if (name !== 'pay') return undefined;
        waiting.open();
        return new Promise<undefined>(() => {});
      },
    });
    const open = async () => {
      const pay = notingTool('pay', eur);
      const look = notingTool('look');
      const calls: [string, Record<string, unknown>][] = [
        ['pay', { eur: 5 }],
        ['look', {}],
      ];
      const bench = hostOf(bot([{ calls }, 'done']), {
        tools: [pay.tool, look.tool],
        policy: allowAll(),
        hooks: interceptor,
      });
      return { pay, look, session: await bench.host.open('bot') };
    };

    const one = await open();
    const run = follow(one.session, 'go');
    const { requestId } = await run.seen('tool_request', ({ name }) => name === 'pay');
    await waiting.opened;
    await one.session.abort({ requestId, reason: 'no need' });
    const events = await run.ended;
    expect(results(events)).toEqual({ pay: 'cancelled (no need): it never ran', look: 'look done' });
    expect([endOf(events).reason, one.pay.runs, one.look.runs]).toEqual(['completed', [], [{}]]);

    const all = await open();
    const whole = follow(all.session, 'go');
    await whole.seen('tool_request');
    await all.session.abort({ reason: 'stop' });
    expect([endOf(await whole.ended).reason, all.pay.runs]).toEqual(['aborted', []]);
  });

  test('S3-60 after_tool and on_tool_error replace through modifications.replacement', async () => {
    const after = await paying(
      hooks({ afterTool: () => ({ action: 'proceed', modifications: { replacement: { n: 1 } } }) }),
    );
    expect(ofType(after.events, 'tool_response')[0]?.structuredContent).toEqual({ n: 1 });
    const fail = tool('pay', () => {
      throw new Error('no stock');
    });
    const errors: unknown[] = [];
    const recovered = await paying(
      hooks({
        onToolError: ({ error, args }) => {
          errors.push([(error as Error).message, args]);
          return { action: 'proceed', modifications: { replacement: 'try again tomorrow' } };
        },
      }),
      { tools: [fail] },
    );
    expect([results(recovered.events).pay, errors]).toEqual(['try again tomorrow', [['no stock', { eur: 5 }]]]);
    const failing = await paying(
      hooks({
        onToolError: () => {
          throw new Error('hook down');
        },
      }),
      { tools: [fail] },
    );
    expect([results(failing.events).pay, failing.warnings.length]).toEqual(['failed: no stock', 1]);
  });

  test('S3-60 on_user_message replaces what a person said; block and throw refuse it before anything is stored', async () => {
    const parts = [{ type: 'text' as const, text: '[redacted]' }];
    const replaced = await paying(
      hooks({ onUserMessage: () => ({ action: 'proceed', modifications: { replacement: { role: 'user', parts } } }) }),
    );
    expect(brief(replaced.events)[1]).toBe('user: [redacted]');
    expect(replaced.model.requests[0]?.contents[0]?.parts).toEqual(parts);
    for (const [handler, code] of [
      [() => ({ action: 'block' as const, reason: 'no' }), 'E_HOOK_BLOCKED'],
      [
        () => {
          throw new Error('hook down');
        },
        'E_HOOK_FAILED',
      ],
    ] as const) {
      const { host } = hostOf(bot(['never']), { hooks: hooks({ onUserMessage: handler }) });
      const session = await host.open('bot');
      expect((await refusal(firstOf(session, 'hi'))).code).toBe(code);
      expect(await all(session.events())).toEqual([]);
    }
  });

  test('S3-60 the agent’s own tools pass before_tool of the host too', async () => {
    const own = notingTool('own');
    const { host } = hostOf(bot([{ calls: [['own']] }, 'done'], { tools: [own.tool] }), {
      policy: allowAll(),
      hooks: hooks({ beforeTool: () => ({ action: 'block', reason: 'closed' }) }),
    });
    const events = await say(await host.open('bot'), 'go');
    expect([results(events).own, own.runs, endOf(events).reason]).toEqual(['denied: closed', [], 'completed']);
  });
});
