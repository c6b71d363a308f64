import { afterEach, describe, expect, test, vi } from 'vitest';
import type { SessionInput } from '../../src/contracts/index.ts';
import { allowAll, InMemorySessionService } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { mortal } from '../runtime/kit.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, refusal, results, say } from './kit.ts';

const onward: SessionInput = { kind: 'continue' };
const longRunning = { annotations: { longRunning: true } };
const calling = { calls: [['job', {}]] } as const;
const s = { agent: 'bot', userId: 'local', sessionId: 's' };

/**
 * A job that was running when its process died, and a turn that another process has come to its end with since: whether
 * the job runs again is asked about a call whose turn is over.
 */
async function outlived(where: 'agent' | 'host') {
  const store = new InMemorySessionService();
  const job = notingTool('job', longRunning);
  const options = { policy: allowAll(), ...(where === 'host' ? { tools: [job.tool] } : {}) };
  const agent = (script: ConstructorParameters<typeof ScriptedModel>[0]) =>
    bot(new ScriptedModel(script), where === 'agent' ? { tools: [job.tool] } : {});
  const dying = mortal(elsewhere(store), (events) =>
    events.some(
      ({ content, actions }) => actions.interim || content?.parts.some((p) => p.type === 'function_response'),
    ),
  );
  const one = hostOf(agent([calling]), { ...options, store: dying });
  await say(await one.host.open('bot', { sessionId: 's', create: true }), 'go').catch(() => {});
  const two = hostOf(agent(['hello']), { ...options, store: elsewhere(store) });
  expect(endOf(await say(await two.host.open('bot', { sessionId: 's' }), 'hi')).reason).toBe('completed');
  const three = hostOf(agent(['so be it']), { ...options, store: elsewhere(store) });
  return { ...three, job, session: await three.host.open('bot', { sessionId: 's' }) };
}

describe.each(['agent', 'host'] as const)('a question about a call of the %s that has outlived its turn', (where) => {
  test.each([
    ['approve', 2],
    ['deny', 1],
  ] as const)('ATT-B2 is answered with %s, and the session goes on until nothing is open', async (kind, runs) => {
    const { host, session, job } = await outlived(where);
    expect((await refusal(say(session, onward))).code).toBe('E_TURN_COMPLETED');
    const asked = await only(session);
    expect(asked).toMatchObject({ kind: 'rerun_unknown', detached: true });
    expect(await host.unfinished()).toEqual([]);
    await session.respond(asked.requestId, { kind });
    expect(await session.standing()).toMatchObject({ isOver: true });
    expect(endOf(await say(session, onward)).reason).toBe('completed');
    expect(job.runs).toHaveLength(runs);
    expect(await session.pending()).toEqual([]);
    expect(await session.standing()).toMatchObject({ isOver: true });
    expect(await host.unfinished()).toEqual([]);
    expect((await refusal(say(session, onward))).code).toBe('E_TURN_COMPLETED');
  });

  test('ATT-B2 one that was answered is unfinished until a recovery has acted upon it', async () => {
    const { host, session, job } = await outlived(where);
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    await session[Symbol.asyncDispose]();
    expect(await host.unfinished()).toEqual([s]);
    await (await host.recover()).done;
    expect(job.runs).toHaveLength(2);
    expect(await host.unfinished()).toEqual([]);
  });

  test('ATT-B2 one that is decided on across sessions goes on by itself', async () => {
    const { host, session, job } = await outlived(where);
    const [open] = await host.approvals.list();
    await host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
    await host.idle();
    expect(job.runs).toHaveLength(2);
    expect(await session.pending()).toEqual([]);
  });
});

describe('a question that has run out of time and outlived its turn', () => {
  afterEach(() => vi.useRealTimers());

  test('ATT-B2 is a no that the session goes on with', async () => {
    const job = notingTool('job', longRunning);
    const policy = policyOf({ job: { outcome: 'ask', expiresIn: 60 } });
    const { host } = hostOf(bot([calling, 'hello', 'so be it']), { tools: [job.tool], policy });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    expect(endOf(await say(session, 'hi')).reason).toBe('completed');
    expect((await refusal(say(session, onward))).code).toBe('E_TURN_COMPLETED');
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 61_000);
    expect(await host.unfinished()).toEqual([s]);
    const events = await say(session, onward);
    expect([results(events), endOf(events).reason]).toEqual([{ job: 'denied: nobody answered in time' }, 'completed']);
    expect(await session.pending()).toEqual([]);
    expect(await host.unfinished()).toEqual([]);
    expect(job.runs).toEqual([]);
  });
});
