import { describe, expect, test } from 'vitest';
import type { AnyTool, CallInfo, HookContext, LifecycleInterceptor, Principal } from '../../src/contracts/index.ts';
import type { OpenOptions } from '../../src/host/index.ts';
import { allowAll } from '../../src/host/index.ts';
import { run } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { InMemorySessionService, Runner } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { bot, door, follow, hostOf, policyOf, say, tool } from './kit.ts';

/** Whoever opens the session; the address is the host's affair, and in no log. */
const ann = { id: 'ann', roles: ['clerk'], mail: 'ann@example.org' };
const opened: OpenOptions = { userId: 'desk', principal: ann, create: true };
/** As the log keeps her. */
const asked = { userId: 'desk', principal: { id: 'ann', roles: ['clerk'] } };
const places = ['host', 'agent'] as const;

/** What somebody was told of a call, with which of them was told. */
type Told = [string, Pick<CallInfo, 'userId' | 'principal' | 'sessionId' | 'callId' | 'deps'>];

/** A tool `pay` that notes what it is told of its calls. */
function noting(told: Told[], more: Partial<AnyTool> = {}): AnyTool {
  const note = (who: string, { userId, principal, sessionId, callId, deps }: CallInfo) =>
    void told.push([who, { userId, principal, sessionId, callId, deps }]);
  const noted: Partial<AnyTool> = {
    execute(_, context) {
      note('handler', context);
      return 'paid';
    },
    preview(_, call) {
      note('preview', call);
      return [];
    },
    onUnknownOutcome(call) {
      note('unknown', call);
      return 'ask';
    },
  };
  return { ...tool('pay'), ...noted, ...more };
}

/** A host over the store whose tool runs where it is said. */
function desk(
  where: 'host' | 'agent',
  made: AnyTool,
  { isNew = true, ...options }: Parameters<typeof hostOf>[1] & { isNew?: boolean } = {},
) {
  const script = isNew ? [{ calls: [['pay', { eur: 5 }] as const] }, 'done'] : ['done'];
  const [tools, own] = where === 'host' ? [[made], []] : [[], [made]];
  return hostOf(bot(script, { tools: own }), { tools, deps: 'db', ...options });
}

/** All that one of them was told, without which call it was: that is the same each time. */
function each(told: readonly Told[], who: string) {
  const seen = told.filter(([name]) => name === who).map(([, call]) => call);
  expect(new Set(seen.map(({ callId }) => callId)).size).toBe(1);
  return seen.map(({ userId, principal, sessionId, deps }) => ({ userId, principal, sessionId, deps }));
}

describe.each(places)('APP-F1 who asks, and what it may use, is told to a tool of the %s', (where) => {
  test('at its first run, with a principal that it cannot change', async () => {
    const told: Told[] = [];
    const changing = noting(told, {
      execute: (_, context) => {
        told.push(['handler', context]);
        expect(() => context.principal.roles?.push('boss')).toThrow(TypeError);
        expect(() => Object.assign(context.principal, { id: 'eve' })).toThrow(TypeError);
        return 'paid';
      },
    });
    const { host } = desk(where, changing, { policy: allowAll() });
    const session = await host.open('bot', opened);
    expect((await run(session, 'go')).text).toBe('done');
    expect(each(told, 'handler')).toEqual([{ ...asked, sessionId: session.id, deps: 'db' }]);
  });

  test('after somebody else has decided in another process, and in the preview before', async () => {
    const told: Told[] = [];
    const store = new InMemorySessionService();
    const policy = policyOf({ pay: 'ask' });
    const first = desk(where, noting(told), { policy, store });
    const session = await first.host.open('bot', opened);
    expect((await run(session, 'go')).reason).toBe('input_required');
    const later = desk(where, noting(told), {
      isNew: false,
      policy,
      store: elsewhere(store),
      approvers: { roles: ['boss'] },
    });
    const [open] = await later.host.approvals.list();
    const bo: Principal = { id: 'bo', roles: ['boss'] };
    const { status } = await later.host.approvals.decide(
      String(open?.request.requestId),
      { kind: 'approve' },
      { by: bo },
    );
    expect(status).toBe('settled');
    await later.host.idle();
    expect(each(told, 'handler')).toEqual([{ ...asked, sessionId: session.id, deps: 'db' }]);
    if (where === 'agent') return;
    expect(each(told, 'preview').length).toBeGreaterThan(0);
    for (const shown of each(told, 'preview')) expect(shown).toEqual({ ...asked, sessionId: session.id, deps: 'db' });
  });

  test('of a turn that somebody else has begun', async () => {
    const told: Told[] = [];
    const { host } = desk(where, noting(told), { policy: allowAll() });
    const session = await host.open('bot', { ...opened, principal: { id: 'bo' } });
    await run(session, 'go', { principal: ann });
    expect(each(told, 'handler')).toMatchObject([asked]);
  });

  test('with what a run gives in the place of its host’s, which a preview is shown too', async () => {
    const told: Told[] = [];
    const { host } = desk(where, noting(told), {
      policy: policyOf({ pay: 'ask' }),
      onApproval: () => ({ kind: 'approve' }),
    });
    await run(await host.open('bot', opened), 'go', { deps: 'other db' });
    expect(each(told, 'handler')).toMatchObject([{ deps: 'other db' }]);
    for (const [, { deps }] of told) expect(deps).toBe('other db');
    expect(told.some(([who]) => who === 'preview')).toBe(where === 'host');
  });

  test('where its author says whether it needs an approval: before it runs, and after a restart', async () => {
    const told: Told[] = [];
    const store = new InMemorySessionService();
    const asking = (): AnyTool =>
      noting(told, {
        needsApproval(_, { userId, principal, sessionId, callId, deps, signal, agentPath }) {
          expect([signal.aborted, agentPath]).toEqual([false, ['bot']]);
          told.push(['floor', { userId, principal, sessionId, callId, deps }]);
          return principal.id === 'ann';
        },
      });
    const { host } = desk(where, asking(), { policy: allowAll(), store });
    const session = await host.open('bot', opened);
    expect(await run(session, 'go')).toMatchObject({ reason: 'input_required' });
    const { requestId } = (await session.pending())[0] ?? never;
    const later = desk(where, asking(), { isNew: false, policy: allowAll(), store: elsewhere(store) });
    const again = await later.host.open('bot', { userId: 'desk', sessionId: session.id, principal: { id: 'bo' } });
    await again.respond(requestId, { kind: 'approve' });
    expect((await run(again, { kind: 'continue' })).text).toBe('done');
    expect(each(told, 'floor').length).toBeGreaterThan(0);
    for (const word of each(told, 'floor')) expect(word).toEqual({ ...asked, sessionId: session.id, deps: 'db' });
  });

  test('of a call whose outcome is unknown', async () => {
    const told: Told[] = [];
    const started = door();
    const held = door<string>();
    const hangs = noting(told, {
      execute() {
        started.open();
        return held.opened;
      },
    });
    const store = new InMemorySessionService();
    const { host } = desk(where, hangs, { policy: allowAll(), store });
    const session = await host.open('bot', opened);
    const stream = follow(session, 'go');
    await started.opened;
    const left = await copyOf(store, session.id);
    held.open('paid');
    await stream.ended;
    const later = desk(where, noting(told), { isNew: false, policy: allowAll(), store: left });
    const again = await later.host.open('bot', { userId: 'desk', sessionId: session.id, principal: { id: 'bo' } });
    await say(again, { kind: 'continue' });
    expect(each(told, 'unknown').length).toBeGreaterThan(0);
    for (const word of each(told, 'unknown')) expect(word).toEqual({ ...asked, sessionId: session.id, deps: 'db' });
  });
});

const never = { requestId: 'none is open' };

/** What is left of a session when its process is gone at this moment. */
async function copyOf(store: SessionService, id: string): Promise<SessionService> {
  const key = { app: 'shop', userId: 'desk', id };
  const record = await store.get(key);
  const left = new InMemorySessionService();
  await left.create(key);
  await left.append(key, [...(record?.events ?? [])]);
  return left;
}

describe('APP-F1 who asks is told to hooks', () => {
  const points = ['on_user_message', 'before_run', 'after_run', 'before_agent', 'after_agent', 'before_model'];
  const all = [...points, 'after_model', 'before_tool', 'after_tool', 'on_event'];

  test.each(places)('at every point, with tools of the %s', async (where) => {
    const told = new Map<string, HookContext[]>();
    const hooks: LifecycleInterceptor = {
      supportedHookPoints: () => all,
      fire: (point, payload) => {
        const { context } = payload as { context: HookContext };
        told.set(point, [...(told.get(point) ?? []), context]);
        return undefined;
      },
    };
    const { host } = desk(where, noting([]), { policy: allowAll(), hooks });
    const session = await host.open('bot', opened);
    await run(session, 'go');
    expect([...told.keys()].sort()).toEqual([...all].sort());
    for (const contexts of told.values())
      for (const context of contexts) expect(context).toMatchObject({ ...asked, sessionId: session.id });
  });
});

test('APP-F1 without a host it is the runner’s principal, or the user', async () => {
  const told: Told[] = [];
  const asks: Partial<AnyTool> = {
    needsApproval: (_, { userId, principal, sessionId, callId, deps }) => {
      told.push(['floor', { userId, principal, sessionId, callId, deps }]);
      return false;
    },
  };
  const agent = () => bot(new ScriptedModel([{ calls: [['pay', {}]] }, 'done']), { tools: [noting(told, asks)] });
  for (const more of [{ principal: { id: 'bo' } }, {}]) {
    const runner = new Runner({ app: 'shop', agent: agent(), ...more });
    for await (const _ of runner.run({ userId: 'ann', sessionId: 's', input: 'go' }));
  }
  expect(told.map(([, { userId, principal }]) => [userId, principal])).toEqual([
    ['ann', { id: 'bo' }],
    ['ann', { id: 'bo' }],
    ['ann', { id: 'ann' }],
    ['ann', { id: 'ann' }],
  ]);
});
