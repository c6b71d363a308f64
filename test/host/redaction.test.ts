import { describe, expect, test } from 'vitest';
import { exportAudit, verifyExport } from '../../src/adapters/audit/index.ts';
import type { AgentSession } from '../../src/contracts/index.ts';
import { hooks } from '../../src/contracts/index.ts';
import type { HostOptions, PolicyRule } from '../../src/index.ts';
import {
  agentTool,
  denyOverrides,
  fromAgent,
  InMemorySessionService,
  presetPolicy,
  rulePolicy,
  subagentTool,
} from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { all, bot, follow, hostOf, notingTool, policyOf, say, slowTool, tool } from './kit.ts';

const SECRET = 'hunter2';
const redact = ['/password'];
const args = { user: 'ann', password: SECRET };
const asks: PolicyRule = { id: 'in', tool: 'login', outcome: 'ask', redact };
const login = () => notingTool('login').tool;

interface Case {
  name: string;
  options?: Partial<Omit<HostOptions, 'store' | 'sessions'>>;
  rules?: PolicyRule[];
  calls?: Script;
  /** What happens after the call was made; by default nothing. */
  after?(session: AgentSession): Promise<unknown>;
  /** How the call ends. */
  outcome: string;
}

const answer = async (session: AgentSession, given: object) => {
  const [request] = await session.pending();
  await session.respond(request?.requestId ?? '', {
    previewDigest: request?.approval?.previewDigest,
    ...given,
  } as never);
  await say(session, { kind: 'continue' });
};

const endings: Case[] = [
  { name: 'it ran', rules: [{ ...asks, outcome: 'allow' }], outcome: 'completed' },
  { name: 'it is open', outcome: 'open' },
  { name: 'a no', after: (session) => answer(session, { kind: 'deny' }), outcome: 'denied' },
  {
    name: 'cancelled by whoever was asked',
    after: (session) => answer(session, { kind: 'elicitation', action: 'cancel' }),
    outcome: 'cancelled',
  },
  { name: 'aborted while the question was open', after: (session) => session.abort(), outcome: 'cancelled' },
  { name: 'superseded by a new message', after: (session) => say(session, 'never mind'), outcome: 'cancelled' },
  {
    name: 'run with other arguments, of which another rule speaks',
    rules: [
      { ...asks, args: { '/user': { const: 'ann' } } },
      { tool: 'login', outcome: 'allow' },
    ],
    after: (session) => answer(session, { kind: 'approve', args: { user: 'bob', password: SECRET } }),
    outcome: 'completed',
  },
  {
    name: 'denied with other arguments',
    rules: [
      { ...asks, args: { '/user': { const: 'ann' } } },
      { tool: 'login', outcome: 'deny' },
    ],
    after: (session) => answer(session, { kind: 'approve', args: { user: 'bob', password: SECRET } }),
    outcome: 'denied',
  },
  {
    name: 'asked again about other arguments, and declined',
    rules: [
      { ...asks, args: { '/user': { const: 'ann' } } },
      { tool: 'login', outcome: 'ask', approvers: { roles: ['admin'] } },
    ],
    async after(session) {
      await answer(session, { kind: 'approve', args: { user: 'bob', password: SECRET } });
      await answer(session, { kind: 'deny', by: { id: 'root', roles: ['admin'] } });
    },
    outcome: 'denied',
  },
  { name: 'denied by plan mode', options: { permissionMode: 'plan' }, outcome: 'denied' },
  { name: 'denied where nobody is asked', options: { permissionMode: 'dont_ask' }, outcome: 'denied' },
  {
    name: 'denied by another policy',
    options: { policy: denyOverrides(presetPolicy('plan'), rulePolicy([asks])) },
    outcome: 'denied',
  },
  { name: 'not offered', rules: [{ ...asks, outcome: 'deny' }], outcome: 'not_found' },
  {
    name: 'denied by a policy that broke',
    options: {
      policy: {
        evaluate() {
          throw new Error('down');
        },
      },
    },
    outcome: 'denied',
  },
  {
    name: 'loosened by a lower tier',
    options: {
      policy: rulePolicy({
        org: [{ ...asks, overridable: true }],
        session: [{ tool: 'login', outcome: 'allow' }],
      }),
    },
    outcome: 'completed',
  },
  {
    name: 'changed by a hook',
    options: {
      policy: policyOf({
        login: ({ args: given }) =>
          given?.user === 'ann' ? { outcome: 'allow', redact } : { outcome: 'deny', reason: 'not bob' },
      }),
      hooks: hooks({
        beforeTool: () => ({ action: 'proceed', modifications: { args: { user: 'bob', password: SECRET } } }),
      }),
    },
    outcome: 'denied',
  },
  {
    name: 'asked about as a hook has changed it, and declined',
    options: {
      hooks: hooks({
        beforeTool: () => ({ action: 'proceed', modifications: { args: { user: 'bob', password: `${SECRET}!` } } }),
      }),
    },
    after: (session) => answer(session, { kind: 'deny' }),
    outcome: 'denied',
  },
  {
    name: 'blocked by a hook',
    rules: [{ ...asks, outcome: 'allow' }],
    options: { hooks: hooks({ beforeTool: () => ({ action: 'block', reason: 'no' }) }) },
    outcome: 'denied',
  },
  {
    name: 'asked about by its handler, and declined',
    rules: [{ ...asks, outcome: 'allow' }],
    options: {
      tools: [
        tool('login', (_, context) => context.requestConfirmation({ hint: 'Sure?' }), {
          annotations: { readOnly: true },
        }),
      ],
    },
    after: (session) => answer(session, { kind: 'deny' }),
    outcome: 'denied',
  },
  {
    name: 'of arguments that do not fit, told by the agent',
    options: {
      tools: [
        tool('login', () => 1, { inputSchema: { type: 'object', properties: { password: { type: 'number' } } } }),
      ],
    },
    outcome: 'invalid_args',
  },
];

async function shownOf(
  store: InMemorySessionService,
  host: ReturnType<typeof hostOf>['host'],
  id: string,
  options = {},
) {
  const entries = await host.audit(id, options);
  const lines = await all(exportAudit(store, { app: 'shop', userId: 'local', id }, options));
  expect(await verifyExport(lines)).toMatchObject({ faults: [] });
  return { entries, text: `${JSON.stringify(entries)}\n${lines.join('\n')}` };
}

const auditor = { viewer: { id: 'kim', roles: ['auditor'] }, reveal: ['auditor'] };

describe('what a policy wants hidden is hidden in audits and exports, however the call ended', () => {
  test.each(endings)('$name', async ({ options = {}, rules = [asks], calls, after, outcome }) => {
    const store = new InMemorySessionService({ chained: true });
    const script: Script[] = [calls ?? { calls: [['login', args]] }, 'done', 'done'];
    const { host } = hostOf(bot(script), { store, tools: [login()], policy: rulePolicy(rules), ...options });
    const session = await host.open('bot');
    await say(session, 'go');
    await after?.(session);
    for (const viewer of [{}, { viewer: { id: 'eve', roles: ['clerk'] } }]) {
      const { entries, text } = await shownOf(store, host, session.id, viewer);
      expect([entries[0]?.outcome, text.includes(SECRET)]).toEqual([outcome, false]);
    }
    expect((await shownOf(store, host, session.id, auditor)).text).toContain(SECRET);
  });

  test('a run that was aborted before anything was decided', async () => {
    const store = new InMemorySessionService({ chained: true });
    const policy = { evaluate: () => new Promise<never>(() => {}) };
    const { host } = hostOf(bot([{ calls: [['login', args]] }, 'done']), { store, tools: [login()], policy });
    const session = await host.open('bot');
    const run = follow(session, 'go');
    await run.seen('tool_request');
    await session.abort();
    await run.ended;
    expect((await shownOf(store, host, session.id)).text).not.toContain(SECRET);
  });

  test('a tail call: what was decided about it is hidden where it stands', async () => {
    const store = new InMemorySessionService({ chained: true });
    const main = tool('main', () => ({ content: [], tailCalls: [{ name: 'login', args }] }), { makesTailCalls: true });
    for (const outcome of ['allow', 'ask'] as const) {
      const { host } = hostOf(bot([{ calls: [['main']] }, 'done']), {
        store,
        tools: [main, login()],
        policy: rulePolicy([
          { tool: 'login', outcome, redact },
          { tool: 'main', outcome: 'allow' },
        ]),
        hooks: hooks({
          beforeTool: ({ tool: { name } }) =>
            name === 'login'
              ? { action: 'proceed', modifications: { args: { user: 'x', password: SECRET } } }
              : undefined,
        }),
      });
      const session = await host.open('bot');
      await say(session, 'go');
      expect((await shownOf(store, host, session.id)).text).not.toContain(SECRET);
      expect((await shownOf(store, host, session.id, auditor)).text).toContain(SECRET);
    }
  });

  test('arguments of a tail call that do not fit are not quoted in the result that they become a part of', async () => {
    const store = new InMemorySessionService({ chained: true });
    const numeric = { inputSchema: { type: 'object', properties: { password: { type: 'number' } } } };
    for (const password of [SECRET, 5]) {
      const { host } = hostOf(bot([{ calls: [['main']] }, 'done']), {
        store,
        tools: [
          tool('main', () => ({ content: [], tailCalls: [{ name: 'login', args: { password } }] }), {
            makesTailCalls: true,
          }),
          tool('login', () => 1, numeric),
        ],
        policy: rulePolicy([
          { tool: 'login', outcome: 'allow', redact },
          { tool: 'main', outcome: 'allow' },
        ]),
        hooks: hooks({
          beforeTool: ({ tool: { name } }) =>
            name === 'login' ? { action: 'proceed', modifications: { args: { password: SECRET } } } : undefined,
        }),
      });
      const session = await host.open('bot');
      await say(session, 'go');
      const { text } = await shownOf(store, host, session.id);
      expect([text.includes('password: expected number'), text.includes(SECRET)]).toEqual([true, false]);
    }
  });

  test('arguments of a hook that do not fit: what is said of them quotes them', async () => {
    const store = new InMemorySessionService({ chained: true });
    const { host } = hostOf(bot([{ calls: [['login', { password: 5 }]] }, 'done']), {
      store,
      tools: [
        tool('login', () => 1, { inputSchema: { type: 'object', properties: { password: { type: 'number' } } } }),
      ],
      policy: rulePolicy([{ ...asks, outcome: 'allow' }]),
      hooks: hooks({ beforeTool: () => ({ action: 'proceed', modifications: { args: { password: SECRET } } }) }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const { entries, text } = await shownOf(store, host, session.id);
    const [reason] = entries[0]?.decisions.map((decision) => decision.reason) ?? [];
    expect([entries[0]?.outcome, reason, text.includes(SECRET)]).toEqual(['invalid_args', '[redacted]', false]);
    expect((await shownOf(store, host, session.id, auditor)).text).toContain(SECRET);
  });

  test('an agent of the runtime that is called as a tool: the text that it was given', async () => {
    const store = new InMemorySessionService({ chained: true });
    const root = bot([{ calls: [['child', { request: SECRET }]] }, 'done'], {
      tools: [agentTool(bot(['said'], { name: 'child' }))],
    });
    const { host } = hostOf(root, {
      store,
      policy: rulePolicy([{ tool: 'child', outcome: 'allow', redact: ['/request'] }]),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    expect((await shownOf(store, host, session.id)).text).not.toContain(SECRET);
    expect((await shownOf(store, host, session.id, auditor)).text).toContain(SECRET);
  });

  test('an agent that is called as a tool: the text that it was given', async () => {
    const store = new InMemorySessionService({ chained: true });
    const child = bot(['said'], { name: 'child' });
    const root = bot([{ calls: [['child', { request: SECRET }]] }, 'done'], { subAgents: [], tools: [] });
    const { host } = hostOf(root, {
      store,
      tools: [subagentTool(fromAgent(child), { name: 'child' })],
      policy: rulePolicy([{ tool: 'child', outcome: 'allow', redact: ['/request'] }]),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    expect((await shownOf(store, host, session.id)).text).not.toContain(SECRET);
  });

  test('a call whose host is gone before it decided', async () => {
    const store = new InMemorySessionService({ chained: true });
    const slow = slowTool('slow');
    const never = { evaluate: () => new Promise<never>(() => {}) };
    const first = hostOf(bot(new ScriptedModel([{ calls: [['login', args]] }, 'done'])), {
      store,
      tools: [login(), slow.tool],
      policy: never,
    });
    const session = await first.host.open('bot');
    const run = follow(session, 'go');
    await run.seen('tool_request');
    const { host } = hostOf(bot(['done']), { store, tools: [login()], policy: rulePolicy([asks]) });
    expect((await shownOf(store, host, session.id)).text).not.toContain(SECRET);
    await session.abort();
    await run.ended;
  });
});

test('what no policy speaks about is shown: a run without a gate, and a decision that hides nothing', async () => {
  const store = new InMemorySessionService({ chained: true });
  const { host } = hostOf(bot([{ calls: [['login', args]] }, 'done']), {
    store,
    tools: [login()],
    policy: rulePolicy([{ tool: 'login', outcome: 'allow' }]),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  expect((await shownOf(store, host, session.id)).entries[0]?.args).toEqual(args);
});
