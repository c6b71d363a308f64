import { describe, expect, test } from 'vitest';
import type {
  AgentSession,
  AgentSource,
  ExecutionOptions,
  PolicyEvaluator,
  Principal,
} from '../../src/contracts/index.ts';
import type { HostOptions, SessionService } from '../../src/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent, subagentTool } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { lyingExecutor, ScriptedModel } from '../../src/testing/index.ts';
import {
  all,
  bot,
  door,
  endOf,
  hostOf,
  notingTool,
  ofType,
  only,
  policyOf,
  readOnly,
  results,
  say,
  tool,
} from './kit.ts';

const owner: Principal = { id: 'local' };
const ann: Principal = { id: 'ann' };
const bob: Principal = { id: 'bob', roles: ['boss'] };
const intern: Principal = { id: 'ann', roles: ['intern'] };

/** `look` is asked about, then comes `pay`; interns do not pay, and may be anybody. */
const rules: PolicyEvaluator = {
  evaluate: ({ action, principal }) => {
    if (action === 'look') return { outcome: 'ask' };
    return { outcome: action === 'pay' && principal?.roles?.includes('intern') ? 'deny' : 'allow' };
  },
};

const steps: readonly Script[] = [{ calls: [['look']] }, { calls: [['pay']] }, 'done'];

function shop(options: Partial<Omit<HostOptions, 'agents' | 'store' | 'sessions'>> & { store?: SessionService } = {}) {
  const pay = notingTool('pay');
  const look = notingTool('look', readOnly);
  const model = new ScriptedModel([...steps]);
  const tools = [look.tool, pay.tool];
  return { ...hostOf(bot(model), { tools, policy: rules, ...options }), pay, look, model };
}

/** Another process, to which nobody is connected, is told the answer: it runs the turn to where it stops. */
async function decideElsewhere(
  store: SessionService,
  requestId: string,
  {
    script = steps.slice(1),
    by = owner,
    ...options
  }: Partial<Omit<HostOptions, 'store' | 'sessions'>> & { script?: readonly Script[]; by?: Principal } = {},
) {
  const closed = door();
  const pay = notingTool('pay');
  const look = notingTool('look', readOnly);
  const model = new ScriptedModel([...script]);
  const from = { onClose: async () => closed.open() };
  const { host } = hostOf(bot(model), { tools: [look.tool, pay.tool], policy: rules, store, from, ...options });
  await host.approvals.decide(requestId, { kind: 'approve' }, { by });
  await closed.opened;
  return { host, pay, look, model };
}

async function resultsOf(store: SessionService, sessionId: string) {
  const { host } = shop({ store });
  const events = await all((await host.open('bot', { sessionId })).events());
  return { events, results: results(events) };
}

describe('what a turn was begun with holds for whoever goes on with it', () => {
  const tightened: [string, ExecutionOptions, string][] = [
    ['plan mode', { permissionMode: 'plan' }, 'denied'],
    ['excluded tools', { excludeTools: ['pay'] }, 'Tool not found: pay'],
  ];

  test.each(tightened)(
    '%s: after an approval, whoever continues, here and in another process',
    async (_, options, why) => {
      const ways = {
        asked: async ({ session, request }: Asked) => {
          await session.respond(request.requestId, { kind: 'approve' });
          await say(session, { kind: 'continue' });
        },
        decided: async ({ host, session, request }: Asked) => {
          const ended = turnEnd(session);
          await host.approvals.decide(request.requestId, { kind: 'approve' }, { by: owner });
          await ended;
        },
        elsewhere: async ({ store, request }: Asked) => {
          const { pay } = await decideElsewhere(store, request.requestId);
          expect(pay.runs).toEqual([]);
        },
        looser: async ({ session, request }: Asked) => {
          await session.respond(request.requestId, { kind: 'approve' });
          await say(session, { kind: 'continue' }, { permissionMode: 'autonomous', excludeTools: [] });
        },
      };
      for (const [way, goOn] of Object.entries(ways)) {
        const asked = await asking(options);
        await goOn(asked);
        const { results: came } = await resultsOf(asked.store, asked.session.id);
        expect([way, came.look]).toEqual([way, 'look done']);
        expect([way, came.pay]).toEqual([way, expect.stringContaining(why)]);
        expect(asked.pay.runs).toEqual([]);
      }
    },
  );

  test('an excluded tool is not offered again, by policy’s word or the caller’s', async () => {
    const policy: PolicyEvaluator = { ...rules, getExcluded: () => ['look'] };
    const { host, model } = shop({ policy });
    const session = await host.open('bot');
    await say(session, 'go', { excludeTools: ['pay'] });
    expect(model.requests[0]?.tools).toEqual([]);
  });

  test('limits: the steps of a turn are counted on; one that had ended is opened again with those that are named', async () => {
    const { store, request, session } = await asking({ limits: { steps: 2, tokens: 1000 } });
    await decideElsewhere(store, request.requestId, { script: steps.slice(1) });
    const { events } = await resultsOf(store, session.id);
    expect(endOf(events).reason).toBe('max_turns');
    const tools = [notingTool('pay').tool];
    const { host } = hostOf(bot([{ calls: [['pay']] }, { calls: [['pay']] }, 'done']), { tools, policy: rules, store });
    const again = await host.open('bot', { sessionId: session.id });
    expect(endOf(await say(again, { kind: 'continue' }, { limits: { steps: 3 } })).reason).toBe('completed');
  });

  test('a continuation that is tighter is held to it by the next one too', async () => {
    const again = { calls: [['look']] } satisfies Script;
    const pay = notingTool('pay');
    const tools = [notingTool('look', readOnly).tool, pay.tool];
    const { host } = hostOf(bot([again, again, ...steps.slice(1)]), { tools, policy: rules });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    await say(session, { kind: 'continue' }, { permissionMode: 'plan' });
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    expect(results(await say(session, { kind: 'continue' })).pay).toMatch(/^denied/);
    expect(pay.runs).toEqual([]);
  });

  test('a looser mode than any that was named loosens nothing either', async () => {
    const ship = notingTool('ship');
    const script: readonly Script[] = [{ calls: [['pay']] }, { calls: [['ship']] }, 'done'];
    const { host } = hostOf(bot(script), { tools: [notingTool('pay').tool, ship.tool] });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    const events = await say(session, { kind: 'continue' }, { permissionMode: 'autonomous' });
    expect([results(events).pay, endOf(events).reason]).toEqual(['pay done', 'input_required']);
    expect(ship.runs).toEqual([]);
  });

  test('an aborted turn that is opened again, and a fork of it', async () => {
    for (const fork of [false, true]) {
      const { store, session } = await asking({ permissionMode: 'plan', excludeTools: ['ship'] }, intern);
      await session.abort();
      const { host, pay } = shop({ store });
      const again = await host.open('bot', { sessionId: session.id, ...(fork ? { fork } : {}) });
      await say(again, { kind: 'continue' });
      const { requestId, requestedBy, permissionMode } = await only(again);
      expect([requestedBy, permissionMode]).toEqual([intern, 'plan']);
      await again.respond(requestId, { kind: 'approve', by: bob });
      expect(results(await say(again, { kind: 'continue' })).pay).toMatch(/^denied/);
      expect(pay.runs).toEqual([]);
    }
  });

  test('the mode of a strict host is the turn’s, though a looser one goes on', async () => {
    const first = shop({ permissionMode: 'plan' });
    const session = await first.host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    const { pay } = await decideElsewhere(first.store, requestId);
    expect(pay.runs).toEqual([]);
    expect((await resultsOf(first.store, session.id)).results.pay).toMatch(/^denied/);
  });
});

describe('on whose behalf', () => {
  test('F23 a rule about roles holds after a restart, with nobody connected', async () => {
    const { store, session, request } = await asking({}, intern);
    expect(request.approval?.requestedBy).toEqual(intern);
    const { pay, host } = await decideElsewhere(store, request.requestId, { principal: { id: 'svc' } });
    expect(pay.runs).toEqual([]);
    expect((await resultsOf(store, session.id)).results.pay).toMatch(/^denied/);
    const audit = await host.audit(session.id, {});
    expect(audit.map(({ requestedBy }) => requestedBy)).toEqual(['ann', 'ann']);
  });

  test('F23 four eyes: the requester may not approve after a restart, though the host acts as somebody else', async () => {
    const policy = policyOf({ look: { outcome: 'ask', approvers: { notRequester: true } } });
    const first = shop({ policy });
    const session = await first.host.open('bot', { principal: ann });
    await say(session, 'go');
    const { requestId } = await only(session);
    const second = shop({ policy, store: first.store, principal: bob });
    await expect(second.host.approvals.decide(requestId, { kind: 'approve' }, { by: ann })).rejects.toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    expect((await second.host.approvals.list({ approver: ann })).length).toBe(0);
    expect((await second.host.approvals.list({ approver: bob })).length).toBe(1);
    const handle = await second.host.open('bot', { sessionId: session.id });
    const answer = { kind: 'approve', by: ann } as const;
    await expect(handle.respond(requestId, answer)).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
    await handle.respond(requestId, { kind: 'approve' });
    await say(handle, { kind: 'continue' });
    expect(second.look.runs).toHaveLength(1);
  });

  test('a new turn is of whoever begins it', async () => {
    const policy = policyOf({
      pay: ({ principal }) => ({ outcome: principal?.roles?.includes('boss') ? 'allow' : 'deny' }),
    });
    const pay = notingTool('pay');
    const turn: readonly Script[] = [{ calls: [['pay']] }, 'done'];
    const { host } = hostOf(bot([...turn, ...turn, ...turn]), { tools: [pay.tool], policy });
    const session = await host.open('bot', { principal: { id: 'ann', roles: ['boss'] } });
    expect(results(await say(session, 'go')).pay).toBe('pay done');
    expect(results(await say(session, 'go', { principal: ann })).pay).toMatch(/^denied/);
    // Whoever opens it again has the roles of now, on all handles.
    await host.open('bot', { sessionId: session.id, principal: { id: 'ann', roles: ['boss'] } });
    expect(results(await say(session, 'go')).pay).toBe('pay done');
  });

  test.each([
    ['a role that was taken', { id: 'ann', roles: ['boss'] }, ann, 'boss'],
    ['a role that forbids and is gone', intern, ann, undefined],
  ])('in mid-turn a call must be allowed with the roles of then and those of now: %s', async (_, then, now, needed) => {
    const policy: PolicyEvaluator = {
      evaluate: (request) => {
        if (request.action === 'look' || needed === undefined) return rules.evaluate(request);
        return { outcome: request.principal?.roles?.includes(needed) ? 'allow' : 'deny' };
      },
    };
    const { host, pay } = shop({ policy });
    const session = await host.open('bot', { principal: then });
    await say(session, 'go');
    const { requestId } = await only(session);
    const other = await host.open('bot', { sessionId: session.id, principal: now });
    await session.respond(requestId, { kind: 'approve', by: bob });
    expect(results(await say(other, { kind: 'continue' })).pay).toMatch(/^denied/);
    expect(pay.runs).toEqual([]);
  });

  test('a turn that a late result opens is of whoever began the one before it', async () => {
    const ship = tool('ship', () => ({ ticket: 7 }), { annotations: { longRunning: true } });
    const first = hostOf(bot([{ calls: [['ship']] }, 'on its way']), { tools: [ship], policy: rules });
    const session = await first.host.open('bot', { principal: intern });
    const [request] = ofType(await say(session, 'go', { excludeTools: ['x'] }), 'tool_request');
    const { store } = first;
    const pay = notingTool('pay');
    const later = hostOf(bot([{ calls: [['pay']] }, 'done']), { tools: [ship, pay.tool], policy: rules, store });
    const again = await later.host.open('bot', { sessionId: session.id });
    const result = { content: [{ type: 'text' as const, text: 'at the door' }] };
    const events = await say(again, { kind: 'tool_result', requestId: request?.requestId ?? '', result });
    expect(results(events).pay).toMatch(/^denied/);
    expect((await again.standing()).terms).toMatchObject({ principal: intern, excludeTools: ['x'] });
  });

  test('nothing of a principal is stored but who it is', async () => {
    const { store, session } = await asking({}, { ...intern, token: 'sk-secret' } as Principal);
    const record = await store.get({ app: 'shop', userId: 'local', id: session.id });
    expect(JSON.stringify(record?.events)).not.toContain('sk-secret');
    expect(record?.events.find(({ actions }) => actions.terms)?.actions.terms).toEqual({
      principal: intern,
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

describe('a mode that a session is opened with', () => {
  test('is kept with it; a stricter one tightens, a looser one does not loosen; an update does', async () => {
    const turn: readonly Script[] = [{ calls: [['pay']] }, 'done'];
    const model = new ScriptedModel([...turn, ...turn, ...turn, ...turn, ...turn]);
    const { host, store } = hostOf(bot(model), { tools: [notingTool('pay').tool], policy: rules });
    const first = await host.open('bot', { permissionMode: 'plan' });
    const sessionId = first.id;
    await first[Symbol.asyncDispose]();
    const again = await host.open('bot', { sessionId });
    expect(results(await say(again, 'go')).pay).toMatch(/^denied/);
    const { host: later } = hostOf(bot(model), { tools: [notingTool('pay').tool], policy: rules, store });
    const loose = await later.open('bot', { sessionId, permissionMode: 'autonomous' });
    expect(results(await say(loose, 'go')).pay).toMatch(/^denied/);
    expect(results(await say(loose, 'go', { permissionMode: 'autonomous' })).pay).toMatch(/^denied/);
    await loose.update({ permissionMode: null });
    expect(results(await say(loose, 'go')).pay).toBe('pay done');
    // Whoever joins tightens for all.
    await later.open('bot', { sessionId, permissionMode: 'plan' });
    expect(results(await say(loose, 'go')).pay).toMatch(/^denied/);
  });
});

describe('sub-agents', () => {
  function boss(store?: SessionService, restarted = false) {
    const pay = notingTool('pay');
    const look = notingTool('look', readOnly);
    const clerk = new LlmAgent({ name: 'clerk', model: new ScriptedModel(restarted ? steps.slice(1) : [...steps]) });
    const agent = bot(restarted ? ['done'] : [{ calls: [['clerk', { request: 'pay' }]] }, 'done']);
    const closed = door();
    const bench = hostOf(agent, {
      tools: [look.tool, pay.tool, subagentTool(fromAgent(clerk), { annotations: { readOnly: true } })],
      policy: rules,
      from: { onClose: async () => closed.open() },
      ...(store ? { store } : {}),
    });
    return { ...bench, pay, closed: closed.opened };
  }

  test.each([
    ['mode', { permissionMode: 'plan' }, ann],
    ['tools', { excludeTools: ['pay'] }, ann],
    ['roles', {}, intern],
    ['nothing', {}, ann],
  ] as const)(
    'S3-56 are held to what their caller’s turn was begun with, in another process too: %s',
    async (what, options, principal) => {
      const first = boss();
      const session = await first.host.open('bot', { principal });
      await say(session, 'go', options);
      const { requestId, requestedBy } = await only(session);
      expect(requestedBy).toEqual(principal);
      const second = boss(first.store, true);
      const watcher = await second.host.open('bot', { sessionId: session.id });
      const ended = turnEnd(watcher);
      await second.host.approvals.decide(requestId, { kind: 'approve' }, { by: owner });
      expect(await ended).toBe('completed');
      expect(second.pay.runs).toHaveLength(what === 'nothing' ? 1 : 0);
    },
  );
});

describe('sub-agents that wait in this process', () => {
  test.each([
    ['then', intern, ann],
    ['now', ann, intern],
  ])('S3-56 F23 need the roles of then and those of now: %s', async (_, then, now) => {
    const pay = notingTool('pay');
    const clerk = new LlmAgent({ name: 'clerk', model: new ScriptedModel(steps.slice(1)) });
    const agent = bot([{ calls: [['look']] }, { calls: [['clerk', { request: 'pay' }]] }, 'done']);
    const tools = [notingTool('look', readOnly).tool, pay.tool, subagentTool(fromAgent(clerk))];
    const { host } = hostOf(agent, { tools, policy: rules });
    const session = await host.open('bot', { principal: then });
    await say(session, 'go');
    const { requestId } = await only(session);
    await host.open('bot', { sessionId: session.id, principal: now });
    await session.respond(requestId, { kind: 'approve', by: bob });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
    expect(pay.runs).toEqual([]);
  });

  test('S3-56 are held to what a continuation of their caller’s turn tightens', async () => {
    const pay = notingTool('pay');
    const clerk = new LlmAgent({ name: 'clerk', model: new ScriptedModel([...steps]) });
    const agent = bot([{ calls: [['clerk', { request: 'pay' }]] }, 'done']);
    const tools = [notingTool('look', readOnly).tool, pay.tool, subagentTool(fromAgent(clerk), readOnly)];
    const { host } = hostOf(agent, { tools, policy: rules });
    const session = await host.open('bot');
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    expect(endOf(await say(session, { kind: 'continue' }, { permissionMode: 'plan' })).reason).toBe('completed');
    expect(pay.runs).toEqual([]);
  });
});

/** An executor that is told terms and forgets them. */
function forgetful(source: AgentSource): AgentSource {
  return {
    ...source,
    async open(ref, context) {
      const inner = await source.open(ref, context);
      return {
        id: inner.id,
        descriptor: inner.descriptor,
        stream: (input, { terms: _, ...options } = {}) => inner.stream(input, options),
        respond: (id, answer) => inner.respond(id, answer),
        steer: (data) => inner.steer(data),
        update: (config) => inner.update(config),
        abort: (target) => inner.abort(target),
        events: (options) => inner.events(options),
        pending: () => inner.pending(),
        [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
      };
    },
  };
}

describe('an executor that keeps no terms', () => {
  test('F23 after a restart the session’s user counts as who asked, not whoever the host acts as', async () => {
    const source = forgetful(fromAgent(bot([...steps])));
    const policy = policyOf({ look: { outcome: 'ask', approvers: { notRequester: true } } });
    const shared = { app: 'shop', userId: 'ann', agents: [source], tools: [notingTool('look').tool], policy };
    const first = createHost({ ...shared, principal: ann });
    const session = await first.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    await first.close();
    const second = createHost({ ...shared, principal: { id: 'svc' } });
    const refused = second.approvals.decide(requestId, { kind: 'approve' }, { by: ann });
    await expect(refused).rejects.toMatchObject({ code: 'E_NOT_APPROVER' });
  });

  test('is held to them as long as the host lives', async () => {
    const pay = notingTool('pay');
    const look = notingTool('look', readOnly);
    for (const options of [{ permissionMode: 'plan' }, { excludeTools: ['pay'] }, { principal: intern }] as const) {
      const agents = [forgetful(fromAgent(bot([...steps])))];
      const host = createHost({ app: 'shop', agents, tools: [look.tool, pay.tool], policy: rules });
      const session = await host.open('bot');
      await say(session, 'go', options);
      const { requestId } = await only(session);
      const ended = turnEnd(session);
      await host.approvals.decide(requestId, { kind: 'approve' }, { by: owner });
      await ended;
      expect(pay.runs).toEqual([]);
    }
  });
});

type Asked = Awaited<ReturnType<typeof asking>>;

/** A turn that waits for an answer about `look`. */
async function asking(options: ExecutionOptions, principal: Principal = ann) {
  const bench = shop();
  const session = await bench.host.open('bot', { principal });
  await say(session, 'go', options);
  return { ...bench, session, request: await only(session) };
}

/** How the turn ends that goes on next. */
async function turnEnd(session: AgentSession): Promise<string> {
  for await (const event of session.events({ live: true })) if (event.type === 'stream_end') return event.reason;
  return 'never';
}

test('ATK2-14 a tool that the turn excludes does not run, whoever asks for it', async () => {
  const pay = notingTool('pay');
  const agents = [lyingExecutor({ name: 'liar', calls: [{ id: 'c1', name: 'pay', args: {} }] })];
  const host = createHost({ app: 'shop', agents, tools: [pay.tool], policy: allowAll() });
  const events = await say(await host.open('liar'), 'go', { excludeTools: ['pay'] });
  expect([pay.runs, endOf(events).reason]).toEqual([[], 'completed']);
});

test('ATK2-14 sibling: a question about a tool that is excluded since is closed, and a later yes runs nothing', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const [question] = await session.pending();
  const events = await say(session, { kind: 'continue' }, { excludeTools: ['pay'] });
  expect([endOf(events).reason, await session.pending()]).toEqual(['completed', []]);
  const late = session.respond(String(question?.requestId), { kind: 'approve' });
  expect((await late.catch(({ code }) => ({ status: code }))).status).toMatch(/E_REQUEST_CLOSED|already_settled/);
  expect(pay.runs).toEqual([]);
});
