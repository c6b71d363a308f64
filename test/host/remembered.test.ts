import { describe, expect, test } from 'vitest';
import type { AgentSession, ReportedRequest, RequestAnswer } from '../../src/contracts/index.ts';
import { defineTool } from '../../src/contracts/index.ts';
import { RememberedRules } from '../../src/host/terms/remembered.ts';
import type { AgentHost, RulePolicy } from '../../src/index.ts';
import { createHost, LlmAgent, rulePolicy, run } from '../../src/index.ts';
import type { Toolset } from '../../src/runtime/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { refusal } from './kit.ts';

type Scope = 'session' | 'user';

const send = (ran: string[], by: string, description = 'Sends.') =>
  defineTool({ name: 'send', description, inputSchema: { type: 'object' }, execute: () => void ran.push(by) });

/** An agent that calls `send` in every turn. */
const caller = (name: string, options: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {}) =>
  new LlmAgent({
    name,
    model: new ScriptedModel(
      Array(12)
        .fill([{ calls: [['send', { to: 'x' }]] }, 'ok'])
        .flat(),
    ),
    ...options,
  });

const always = (question: ReportedRequest, scope: Scope): RequestAnswer => ({
  kind: 'approve',
  remember: question.approval?.remember.findIndex((option) => option.scope === scope) ?? -1,
});

/** A turn; who was asked, and says always. @returns what was asked */
async function turn(session: AgentSession, scope: Scope | undefined = 'user'): Promise<ReportedRequest[]> {
  const asked: ReportedRequest[] = [];
  let end = await run(session, 'go');
  while (end.reason === 'input_required') {
    const [question] = await session.pending();
    if (!question) throw new Error('nothing is asked');
    asked.push(question);
    await session.respond(question.requestId, scope ? always(question, scope) : { kind: 'approve' });
    end = await run(session, { kind: 'continue' });
  }
  return asked;
}

const hostOf = (agents: readonly LlmAgent[], options: Partial<Parameters<typeof createHost>[0]> = {}): AgentHost =>
  createHost({ app: 'shop', agents, policy: rulePolicy([]), store: new InMemorySessionService(), ...options });

test.each([
  ['constructor', 'E_BAD_INPUT'],
  ['__proto__', 'E_BAD_INPUT'],
  ['0', 'E_BAD_INPUT'],
  [0.5, 'E_BAD_INPUT'],
  [99, 'E_WRONG_ANSWER'],
  [-1, 'E_WRONG_ANSWER'],
])('ATT-5 remember: %j is no option and is refused', async (remember, code) => {
  const ran: string[] = [];
  const host = hostOf([caller('own', { tools: [send(ran, 'own')] })]);
  const session = await host.open('own');
  await run(session, 'go');
  const [question] = await session.pending();
  const answer = { kind: 'approve', remember } as unknown as RequestAnswer;
  expect((await refusal(session.respond(question?.requestId ?? '', answer))).code).toBe(code);
  expect(await session.pending()).toHaveLength(1);
  await session.respond(question?.requestId ?? '', { kind: 'approve' });
  expect((await run(session, { kind: 'continue' })).reason).toBe('completed');
  expect(ran).toEqual(['own']);
});

describe('ATT-B4 always is said to a tool, not to its name', () => {
  test('tools of one name that two agents own: each is asked about', async () => {
    const ran: string[] = [];
    const host = hostOf([
      caller('own', { tools: [send(ran, 'own')] }),
      caller('foreign', { tools: [send(ran, 'foreign')] }),
    ]);
    const own = await host.open('own');
    expect(await turn(own)).toHaveLength(1);
    expect(await turn(own)).toHaveLength(0);
    const [again] = await turn(await host.open('foreign'));
    expect(again?.message).toContain(
      'Somebody said always to send, but that one is of agent:own, and this one of agent:foreign.',
    );
    // Each keeps its yes.
    expect(await turn(await host.open('own'))).toHaveLength(0);
    expect(await turn(await host.open('foreign'))).toHaveLength(0);
    expect(ran).toEqual(['own', 'own', 'foreign', 'own', 'foreign']);
  });

  test('a yes to a tool of the host is none to one that an agent owns', async () => {
    const ran: string[] = [];
    const host = hostOf([caller('plain'), caller('own', { tools: [send(ran, 'own')] })], {
      tools: [send(ran, 'host')],
    });
    expect(await turn(await host.open('plain'))).toHaveLength(1);
    expect(await turn(await host.open('own'))).toHaveLength(1);
    expect(ran).toEqual(['host', 'own']);
  });

  test.each(['session', 'user'] as const)('a tool that has changed is asked about again: %s', async (scope) => {
    const ran: string[] = [];
    let now = send(ran, 'first');
    const toolset: Toolset = { name: 'mail', tools: () => [now] };
    const session = await hostOf([caller('bot', { toolsets: [toolset] })]).open('bot');
    expect(await turn(session, scope)).toHaveLength(1);
    expect(await turn(session, scope)).toHaveLength(0);
    now = send(ran, 'second', 'Sends, with a copy to eve.');
    const [again] = await turn(session, scope);
    expect(again?.message).toContain('what agent:bot says of it has changed since');
    expect(await turn(session, scope)).toHaveLength(0);
    now = send(ran, 'third');
    expect(await turn(session, scope)).toHaveLength(1);
    expect(ran).toEqual(['first', 'first', 'second', 'second', 'third']);
  });

  test('a tool of a provider that has changed, or that another one provides now, is asked about again', async () => {
    const ran: string[] = [];
    let description = 'Sends.';
    const provider = (name: string) => ({
      name,
      getToolsForAgent: () => [{ name: 'send', description, inputSchema: { type: 'object' } }],
      execute: async () => void ran.push(name),
    });
    const mail = provider('mail');
    const host = hostOf([caller('bot')], { toolProviders: [mail] });
    const asked = async () => (await turn(await host.open('bot'))).length;
    expect([await asked(), await asked()]).toEqual([1, 0]);
    description = 'Sends, with a copy to eve.';
    expect([await asked(), await asked()]).toEqual([1, 0]);
    mail.name = 'post';
    expect(await asked()).toBe(1);
  });

  test.each(['before the yes', 'after it'])(
    'another: a tool that changes %s is not the one that was shown',
    async (when) => {
      const ran: string[] = [];
      let description = 'Sends.';
      const mail = {
        name: 'mail',
        getToolsForAgent: () => [{ name: 'send', description, inputSchema: { type: 'object' } }],
        execute: async () => void ran.push(description),
      };
      const host = hostOf([caller('bot')], { toolProviders: [mail] });
      const open = () => host.open('bot', { sessionId: 's', create: true });
      let session = await open();
      await run(session, 'go');
      const [shown] = await session.pending();
      const yes = { ...always(shown as ReportedRequest, 'user'), previewDigest: shown?.approval?.previewDigest ?? '' };
      if (when === 'after it') await session.respond(shown?.requestId ?? '', { kind: 'approve' });
      description = 'Sends, with a copy to eve.';
      await session[Symbol.asyncDispose]();
      session = await open();
      if (when === 'before the yes') {
        const refused = await refusal(session.respond(shown?.requestId ?? '', yes as RequestAnswer));
        expect(refused).toMatchObject({ code: 'E_PREVIEW_CHANGED' });
      }
      expect((await run(session, { kind: 'continue' })).reason).toBe('input_required');
      const [again] = await session.pending();
      expect(again?.approval?.previewDigest).not.toBe(shown?.approval?.previewDigest);
      expect(ran).toEqual([]);
      await session.respond(again?.requestId ?? '', { kind: 'approve' });
      await run(session, { kind: 'continue' });
      expect(ran).toEqual(['Sends, with a copy to eve.']);
    },
  );

  test('always is the option that was offered: in a list that is another by now it is not taken', async () => {
    const sessions = new InMemorySessionService();
    const ran: string[] = [];
    const opened = (policy: RulePolicy) =>
      hostOf([caller('bot')], { tools: [send(ran, 'host')], store: sessions, policy }).open('bot', {
        sessionId: 's',
        create: true,
      });
    const first = await opened(rulePolicy({}));
    await run(first, 'go');
    const [shown] = await first.pending();
    expect(shown?.approval?.remember.map(({ scope }) => scope)).toEqual(['session', 'user']);
    await first[Symbol.asyncDispose]();
    const session = await opened(rulePolicy({ user: [{ tool: 'send', outcome: 'ask' }] }));
    const [now] = await session.pending();
    expect(now?.approval?.remember.map(({ scope }) => scope)).toEqual(['user']);
    const { requestId = '', approval } = shown ?? {};
    const yes = { kind: 'approve' as const, previewDigest: approval?.previewDigest ?? '' };
    await run(session, { kind: 'continue' });
    const refused = await refusal(session.respond(requestId, { ...yes, remember: 0 }));
    expect(refused).toMatchObject({ code: 'E_PREVIEW_CHANGED', message: expect.stringContaining('without remember') });
    await session.respond(requestId, yes);
    await run(session, { kind: 'continue' });
    expect(ran).toHaveLength(1);
  });

  test('always goes with the arguments that were shown as they are; edited ones are for one run', async () => {
    const ran: string[] = [];
    const session = await hostOf([caller('bot')], { tools: [send(ran, 'host')] }).open('bot');
    await run(session, 'go');
    const [question] = await session.pending();
    if (!question) throw new Error('nothing is asked');
    const edited = { ...always(question, 'user'), args: { to: 'y' } } as RequestAnswer;
    expect(await refusal(session.respond(question.requestId, edited))).toMatchObject({ code: 'E_WRONG_ANSWER' });
    await session.respond(question.requestId, { ...always(question, 'user'), args: { to: 'x' } } as RequestAnswer);
    await run(session, { kind: 'continue' });
    expect(await turn(session)).toHaveLength(0);
    expect(ran).toEqual(['host', 'host']);
  });
});

describe('SOAK-5 always in this session ends with the session', () => {
  const tools = [send([], 'host')];

  test('it holds over handles; one that is made again under its id does not inherit it', async () => {
    const host = hostOf([caller('bot')], { tools });
    const open = () => host.open('bot', { sessionId: 's', create: true });
    const first = await open();
    expect(await turn(first, 'session')).toHaveLength(1);
    await first[Symbol.asyncDispose]();
    await using again = await open();
    expect(await turn(again, 'session')).toHaveLength(0);
    await again[Symbol.asyncDispose]();
    await host.sessions().delete('s');
    expect(await turn(await open(), 'session')).toHaveLength(1);
  });

  test('also where somebody else has deleted it', async () => {
    const sessions = new InMemorySessionService();
    const host = hostOf([caller('bot')], { tools, store: sessions });
    const first = await host.open('bot', { sessionId: 's', create: true });
    expect(await turn(first, 'session')).toHaveLength(1);
    await first[Symbol.asyncDispose]();
    await sessions.delete({ app: 'shop', userId: 'local', id: 's' });
    expect(await turn(await host.open('bot', { sessionId: 's', create: true }), 'session')).toHaveLength(1);
  });

  test.each([
    'another agent opens the new one first',
    'a handle of the old one is held',
    'the new one is a copy of a copy of it',
  ])('ATK5-03 also where %s', async (how) => {
    const store = new InMemorySessionService();
    const host = hostOf([caller('bot'), caller('other')], { tools, store });
    const first = await host.open('bot', { sessionId: 's', create: true });
    expect(await turn(first, 'session')).toHaveLength(1);
    expect(await turn(first, 'session')).toHaveLength(0);
    const key = { app: 'shop', userId: 'local', id: 's' };
    if (!how.startsWith('a handle')) await first[Symbol.asyncDispose]();
    if (how.endsWith('of it')) await store.fork(key, { id: 'copy' });
    await store.delete(key);
    if (how.endsWith('of it')) {
      await store.fork({ ...key, id: 'copy' }, { id: 's' });
    }
    if (how.startsWith('another')) await host.open('other', { sessionId: 's', create: true });
    expect(await turn(await host.open('bot', { sessionId: 's', create: true }), 'session')).toHaveLength(1);
    await host.close();
  });

  test('MUT-H8 another user, or another agent, is asked in a session of the same id', async () => {
    const host = hostOf([caller('bot'), caller('other')], { tools });
    const open = (agent: string, userId: string) => host.open(agent, { sessionId: 's', create: true, userId });
    expect(await turn(await open('bot', 'ann'), 'session')).toHaveLength(1);
    expect(await turn(await open('bot', 'bob'), 'session')).toHaveLength(1);
    expect(await turn(await open('other', 'ann'), 'session')).toHaveLength(1);
    expect(await turn(await open('bot', 'ann'), 'session')).toHaveLength(0);
  });

  test('what is remembered is bounded, and an addition leaves what others have as it was', () => {
    const rules = new RememberedRules();
    const place = { userId: 'ann', agent: 'bot', sessionId: 's' };
    const yes = (name: string, scope: Scope) => ({
      label: '',
      scope,
      rule: { id: name, tool: name, outcome: 'allow' },
    });
    rules.add(place, yes('pay', 'session'), 'e1');
    const before = rules.of(place);
    rules.add({ ...place, sessionId: 't' }, yes('pay', 'session'), 'e1');
    expect(rules.of(place).session).toBe(before.session);
    rules.add(place, yes('pay', 'session'), 'e1');
    expect(rules.of(place).session).toHaveLength(1);
    for (let n = 0; n < 1_100; n++) rules.add(place, yes(`t${n}`, 'user'), undefined);
    expect(rules.of(place).user).toHaveLength(1_000);
    for (let n = 0; n < 10_000; n++) rules.add({ ...place, sessionId: `s${n}` }, yes('pay', 'session'), 'e1');
    expect(rules.of(place).session).toEqual([]);
  });
});

test.each([false, true])(
  'ATK2-22 what is always allowed in a session that is kept nowhere is none of the stored one of its id, nor the reverse; in the stored one: %s',
  async (inStored) => {
    const host = hostOf([caller('bot')], { tools: [send([], 'bot')] });
    const stored = await host.open('bot', { sessionId: 's', create: true });
    const passing = await host.open('bot', { sessionId: 's', create: true, ephemeral: true });
    const [said, other] = inStored ? [stored, passing] : [passing, stored];
    expect(await turn(said, 'session')).toHaveLength(1);
    expect(await turn(said, undefined)).toEqual([]);
    expect(await turn(other, undefined)).toHaveLength(1);
    if (inStored) await passing[Symbol.asyncDispose]();
    expect(await turn(said, undefined)).toEqual([]);
    await host.close();
  },
);
