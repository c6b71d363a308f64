import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentSession } from '../../src/contracts/index.ts';
import type { OpenOptions } from '../../src/host/index.ts';
import { createHost as createHostOfSources } from '../../src/host/index.ts';
import type { HostOptions } from '../../src/index.ts';
import { createHost, denyOverrides, fromAgent, InMemorySessionService, loadPolicy } from '../../src/index.ts';
import { bot, whole } from '../host/kit.ts';
import { watchRejections } from '../host/rejections.ts';
import { doorsOf, NO_OBJECTS, outcomeOf, RUBBISH, taken, UNAWAITABLE } from './rubbish.ts';
import { drain, sessionDoors } from './session-doors.ts';

const agents = [fromAgent(bot(Array.from({ length: 100 }, () => 'ok')))];

const hostOptions: Required<{ [K in keyof HostOptions]: true }> = {
  app: true,
  agents: true,
  agentOptions: true,
  tools: true,
  toolProviders: true,
  policy: true,
  policyTimeoutMs: true,
  hooks: true,
  hookTimeoutMs: true,
  store: true,
  sessions: true,
  credentials: true,
  models: true,
  limits: true,
  answerLimits: true,
  prices: true,
  deps: true,
  userId: true,
  principal: true,
  permissionMode: true,
  interactive: true,
  onApproval: true,
  approvers: true,
  onElicitation: true,
  onAgentChanged: true,
  toolTimeoutMs: true,
  toolConcurrency: true,
  maxResultBytes: true,
  spill: true,
  approvalPollMs: true,
  followPollMs: true,
  dispatcher: true,
  admission: true,
  outcomes: true,
  bus: true,
  telemetry: true,
  warn: true,
};

describe('createHost', () => {
  const use = (options: HostOptions) => createHost(options);
  const doors = doorsOf('createHost', { app: 'shop', agents }, Object.keys(hostOptions) as ['app'], use);

  test.each(doors)('%s', async (_, door) => {
    await taken(_, door);
  });

  test.each([
    ['policy', 5],
    ['policy', null],
    ['policy', {}],
    ['policy', () => ({ outcome: 'allow' })],
    ['tools', 5],
    ['tools', [5]],
    ['tools', [{ name: 'a', description: 'a', execute: 5 }]],
    ['tools', [{ name: 'a', description: 'a', needsApproval: 'yes' }]],
    ['toolProviders', [{}]],
    ['hooks', 5],
    ['hooks', { fire: () => undefined }],
    ['agents', 5],
    ['agents', [5]],
    ['agents', [null]],
    ['agents', [{ descriptor: { name: 'a' } }]],
    ['agentOptions', 5],
    ['permissionMode', 'Plan'],
    ['permissionMode', 'plann'],
    ['permissionMode', 'dontAsk'],
    ['permissionMode', ''],
    ['interactive', 'no'],
    ['limits', { usd: Number.NaN }],
    ['principal', {}],
    ['budget', { usd: 1 }],
    ['polcy', { evaluate: () => ({ outcome: 'deny' }) }],
  ])('refuses %s %j', async (member, value) => {
    const options = { app: 'shop', agents, [member]: value } as unknown as HostOptions;
    expect(await outcomeOf(member, () => createHost(options))).toBe('refused');
  });

  test('takes a mode of a host of one s own', () => {
    expect(() => createHost({ app: 'shop', agents, permissionMode: 'night_shift' })).not.toThrow();
  });

  test('refuses whatever is no object, and says what it is', async () => {
    for (const label of NO_OBJECTS) {
      const value = RUBBISH[label]?.() as HostOptions;
      expect(await outcomeOf(label, () => createHost(value)), label).toBe('refused');
      expect(await outcomeOf(label, () => createHostOfSources(value as never)), label).toBe('refused');
    }
    expect(() => createHost(null as never)).toThrow('createHost: options is null; give an object');
    expect(() => createHost({ app: 'shop', agents, policy: 5 } as never)).toThrow(
      'createHost: options.policy is 5; give an object with evaluate()',
    );
  });

  test('D12 names a promise that was not awaited', () => {
    const policy = loadPolicy('version: 1\nrules: []');
    expect(() => createHost({ app: 'shop', agents, policy } as never)).toThrow(
      'createHost: options.policy is a promise (await it); give an object with evaluate()',
    );
    expect(() => denyOverrides(policy as never)).toThrow('policy 1 is a promise (await it)');
  });

  test('repeats no text that stands where it does not belong', () => {
    const options = { app: 'shop', agents, credentials: 'sk-secret' } as never;
    expect(() => createHost(options)).toThrow(/credentials is text/);
  });
});

describe('a host', () => {
  const host = createHost({ app: 'shop', agents });
  const open: OpenOptions = { sessionId: 'a', create: true };
  const members = ['sessionId', 'snapshot', 'create', 'fork', 'state', 'ephemeral'] as const;

  test.each([
    ['open', (value: unknown) => host.open(value as string)],
    ['open options', (value: unknown) => host.open('bot', value as OpenOptions)],
    ...doorsOf('open', open, [...members, 'principal', 'userId', 'permissionMode'], (ref) => host.open('bot', ref)),
    ...doorsOf('fork', { ...open, fork: {} }, ['fork'], ({ fork }) =>
      host.open('bot', { ...open, fork: { after: fork } as never }),
    ),
    ['audit', (value: unknown) => host.audit(value as string)],
    ['audit options', (value: unknown) => host.audit('a', value as never)],
    ['sessions', (value: unknown) => host.sessions(value as string).list()],
    ['sessions.load', (value: unknown) => host.sessions().load(value as string)],
    ['sessions.list', (value: unknown) => host.sessions().list(value as never)],
    ['sessions.create', (value: unknown) => host.sessions().create(value as never)],
    ['sessions.delete', (value: unknown) => host.sessions().delete(value as string)],
    ['approvals.list', (value: unknown) => host.approvals.list(value as never)],
    ['approvals.get', (value: unknown) => host.approvals.get(value as string)],
    ['approvals.get place', (value: unknown) => host.approvals.get('q', value as never)],
    ['approvals.find', (value: unknown) => host.approvals.find(value as string)],
    ['approvals.decide', (value: unknown) => host.approvals.decide(value as string, { kind: 'deny' }, by)],
    ['approvals.decide answer', (value: unknown) => host.approvals.decide('q', value as never, by)],
    ['approvals.decide by', (value: unknown) => host.approvals.decide('q', { kind: 'deny' }, value as never)],
  ] as [string, (value: unknown) => unknown][])('%s', async (name, door) => {
    await taken(name, door);
  });

  const by = { by: { id: 'ann' } };

  test('approvals.decide says who is missing', async () => {
    const decide = host.approvals.decide.bind(host.approvals) as (...given: unknown[]) => Promise<unknown>;
    await expect(decide('q', { kind: 'deny' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  });

  test('what a tool provider gives', async () => {
    await taken(
      'getToolsForAgent',
      async (value) => {
        const provider = { name: 'p', getToolsForAgent: () => value as never, execute: async () => 1 };
        const session = await createHost({ app: 'shop', agents, toolProviders: [provider] }).open('bot');
        await session[Symbol.asyncDispose]();
      },
      UNAWAITABLE,
    );
  });

  test('approvals.watch', async () => {
    for (const label of NO_OBJECTS) {
      const watch = () => host.approvals.watch(RUBBISH[label]?.() as never);
      expect(await outcomeOf(label, watch), label).toBe('refused');
    }
  });

  test('a snapshot whose log is rubbish leaves no session behind', async () => {
    for (const log of [5, [5], [null], [{ id: '' }], [{ id: 'a', content: 5 }], 'log']) {
      const snapshot = {
        id: 'from-rubbish',
        agentName: 'shop',
        events: [],
        state: {},
        lastUpdateTime: 0,
        log,
      } as never;
      expect(await outcomeOf(JSON.stringify(log), () => host.open('bot', { snapshot }))).toBe('refused');
      expect(await host.sessions().load('from-rubbish')).toBeUndefined();
    }
  });

  test.each(['Plan', 'plann', 'paln', 'dont-ask', 'autonomus'])(
    'refuses the mode %s, which is nearly another',
    async (mode) => {
      await expect(host.open('bot', { permissionMode: mode })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      const session = await host.open('bot', {});
      await expect(session.stream('hi', { permissionMode: mode }).next()).rejects.toMatchObject({
        code: 'E_BAD_INPUT',
      });
      await expect(session.update({ permissionMode: mode })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    },
  );

  test('refuses an option that is nearly one', async () => {
    const options = { permisionMode: 'plan' } as OpenOptions;
    await expect(host.open('bot', options)).rejects.toThrow('options.permisionMode is not known; write permissionMode');
  });
});

describe.each(['a hosted session', 'a session of the runtime'])('%s', (kind) => {
  const store = new InMemorySessionService();
  const key = { app: 'shop', userId: 'local', id: 's' };
  let session: AgentSession;

  beforeEach(async () => {
    const host = createHost({ app: 'shop', agents, store: store });
    const hosted = await host.open('bot', { sessionId: 's', create: true });
    session = kind === 'a hosted session' ? hosted : whole(hosted).inner;
  });

  afterEach(() => session[Symbol.asyncDispose]());

  test.each(sessionDoors(() => session))('%s', async (name, door) => {
    const rejections = watchRejections();
    for (const [label, make] of Object.entries(RUBBISH)) {
      const before = (await store.get(key))?.lastSeq;
      const outcome = await outcomeOf(`${name} of ${label}`, () => door(make()));
      if (outcome === 'refused') expect((await store.get(key))?.lastSeq, `${name} of ${label}`).toBe(before);
    }
    expect(await rejections()).toEqual([]);
  });

  test('what is refused is said at the first next', async () => {
    for (const given of [null, 5, { signal: 5 }, { permissionMode: 'plann' }, { whilePending: 'never' }]) {
      const stream = session.stream('hi', given as never);
      await expect(stream.next(), JSON.stringify(given)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    }
    for (const bad of [null, 5, 'x', [], { requestId: 5 }]) {
      await expect(session.abort(bad as never), JSON.stringify(bad)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
      await expect(session.steer(bad as never), JSON.stringify(bad)).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    }
  });

  test('and it works after all that', async () => {
    await session.abort();
    await drain(session, 'hi');
  });
});
