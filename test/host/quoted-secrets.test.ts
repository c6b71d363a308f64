import { expect, test } from 'vitest';
import { exportAudit, verifyExport } from '../../src/adapters/audit/index.ts';
import type {
  LifecycleInterceptor,
  PolicyEvaluator,
  PolicyRequest,
  ToolCallContext,
} from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { all, bot, hostOf, say, tool } from './kit.ts';

const SECRET = 'hunter2-4711';
const pinOf = (args: unknown) => String((args as { pin: unknown }).pin);
const hiding: PolicyEvaluator = { evaluate: () => ({ outcome: 'allow', redact: ['/pin'] }) };
const hook = (say: (pin: string) => object): LifecycleInterceptor => ({
  supportedHookPoints: () => ['before_tool'],
  fire: async (_, payload) => say(pinOf((payload as { args: unknown }).args)) as never,
});
const asking = tool('pay', (args, context) => {
  const { confirmation, requestConfirmation } = context as ToolCallContext;
  if (confirmation) return 'paid';
  requestConfirmation.call(context, { hint: `pay with ${pinOf(args)}?`, payload: { pin: pinOf(args) } });
  return undefined;
});

interface Case {
  name: string;
  policy?: PolicyEvaluator;
  hooks?: LifecycleInterceptor;
  /** Of the agent. */
  own?: ReturnType<typeof tool>;
  pay?: ReturnType<typeof tool>;
}

const cases: Case[] = [
  { name: 'a hook that blocks', hooks: hook((pin) => ({ action: 'block', reason: `no ${pin}` })) },
  {
    name: 'a hook that fails',
    hooks: hook((pin) => {
      throw new Error(`no ${pin}`);
    }),
  },
  {
    name: 'a policy that fails',
    policy: {
      evaluate({ args }: PolicyRequest) {
        throw new Error(`bad pin ${pinOf(args)}`);
      },
    },
  },
  {
    name: 'a policy that denies',
    policy: { evaluate: ({ args }) => ({ outcome: 'deny', reason: `no ${pinOf(args)}`, redact: ['/pin'] }) },
  },
  { name: 'a result', pay: tool('pay', (args) => ({ paid: { with: pinOf(args) } })) },
  {
    name: 'a handler that fails',
    pay: tool('pay', (args) => {
      throw new Error(`${pinOf(args)} is wrong`);
    }),
  },
  { name: 'a host tool’s question', pay: asking },
  { name: 'an agent’s tool’s question', own: asking },
];

test.each(cases)('what audits hide of arguments is not shown where it is quoted: $name', async (given) => {
  const { policy = hiding, hooks, own, pay = tool('pay', () => 'paid') } = given;
  const store = new InMemorySessionService({ chained: true });
  const script = [{ calls: [['pay', { pin: SECRET, to: 'ann' }]] as [string, object][] }, 'done'];
  const { host } = hostOf(bot(script, own ? { tools: [own] } : {}), {
    store,
    policy,
    ...(own ? {} : { tools: [pay] }),
    ...(hooks ? { hooks } : {}),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  for (const { requestId, approval } of (await session.pending()).filter(({ kind }) => kind !== 'tool')) {
    const shown = approval ? { previewDigest: approval.previewDigest } : {};
    await session.respond(requestId, { kind: 'approve', reason: `yes to ${SECRET}`, ...shown });
    await say(session, { kind: 'continue' });
  }
  const audit = await host.audit(session.id);
  const lines = await all(exportAudit(store, { app: 'shop', userId: 'local', id: session.id }));
  expect(JSON.stringify([audit, lines])).not.toContain(SECRET);
  expect(audit).toMatchObject([{ tool: 'pay', outcome: expect.stringMatching(/completed|failed|denied/) }]);
  expect(await verifyExport(lines)).toMatchObject({ ok: true });
  // Whoever may see it sees it.
  const reveal = { viewer: { id: 'a', roles: ['auditor'] }, reveal: ['auditor'] };
  expect(JSON.stringify(await host.audit(session.id, reveal))).toContain(SECRET);
});
