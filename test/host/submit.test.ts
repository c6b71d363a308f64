import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent, Session, SessionPlace } from '../../src/contracts/index.ts';
import { ProcessDispatcher } from '../../src/host/background/process-dispatcher.ts';
import { dispatcherSuite } from '../suites/dispatcher.ts';
import { bot, endOf, hostOf, notingTool, policyOf, readOnly, refusal, say, slowTool } from './kit.ts';

const silent = () => {};
dispatcherSuite('of one process', async () => {
  const dispatcher = new ProcessDispatcher(silent);
  return { dispatcher, close: () => dispatcher.close() };
});

/** Wakes that are noted, and nobody hears. */
function deaf() {
  const woken: SessionPlace[] = [];
  return {
    woken,
    wake: async (place: SessionPlace) => void woken.push(place),
    schedule: async () => {},
    serve: async () => async () => {},
    close: async () => {},
  };
}

const shown = async (session: Session) => {
  const events: AgentEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events.map(({ type }) => type);
};

describe('host.submit', () => {
  test('SU-01 begins a turn, and the host runs it to its end without anybody who holds it', async () => {
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'Paid.']), {
      tools: [tool],
      policy: policyOf({}),
    });
    const { agent, userId, sessionId, turnId } = await host.submit('bot', 'Pay 5.');
    expect([agent, userId]).toEqual(['bot', 'local']);
    await host.idle();
    expect(runs).toEqual([{ eur: 5 }]);
    await using session = await host.open('bot', { sessionId });
    expect((await session.standing()).isOver).toBe(true);
    const events: AgentEvent[] = [];
    for await (const event of session.events()) events.push(event);
    expect(new Set(events.flatMap((event) => event.turnId ?? []))).toEqual(new Set([turnId]));
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    await host.close();
  });

  test('SU-02 with a dispatcher it stores the message, wakes, and runs nothing; a look elsewhere goes on', async () => {
    const dispatcher = deaf();
    const first = hostOf(bot([]), { dispatcher });
    const submitted = await first.host.submit('bot', 'Hello.', { userId: 'ann' });
    const { turnId: _, ...place } = submitted;
    expect(dispatcher.woken).toEqual([place]);
    await using session = await first.host.open('bot', { sessionId: place.sessionId, userId: 'ann' });
    expect((await session.standing()).isOver).toBe(false);
    expect(await session.pending()).toEqual([]);
    expect(await shown(session)).toEqual(['message']);
    expect(await first.host.unfinished()).toEqual([place]);
    const second = hostOf(bot(['Good day.']), { store: first.store });
    await (await second.host.recover()).done;
    expect(await shown(session)).toEqual(['message', 'message', 'stream_end']);
    await Promise.all([first.host.close(), second.host.close()]);
  });

  test('SU-03 a question of it waits; an answer goes on with it', async () => {
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), { tools: [tool] });
    const { sessionId } = await host.submit('bot', 'Pay.');
    await host.idle();
    const [open] = await host.approvals.list();
    expect([open?.request.sessionId, runs]).toEqual([sessionId, []]);
    await host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
    await host.idle();
    expect(runs).toEqual([{}]);
    expect(await host.unfinished()).toEqual([]);
    await host.close();
  });

  test('SU-04 with a dispatcher a decision is stored and wakes: it does not run where it was decided', async () => {
    const dispatcher = deaf();
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), { tools: [tool], dispatcher });
    await using session = await host.open('bot');
    for await (const _ of session.stream('Pay.'));
    const [open] = await host.approvals.list();
    const answer = { kind: 'approve' } as const;
    const settlement = await host.approvals.decide(open?.request.requestId ?? '', answer, { by: { id: 'local' } });
    await host.idle();
    expect([settlement.status, runs]).toEqual(['settled', []]);
    expect(dispatcher.woken).toEqual([{ agent: 'bot', userId: 'local', sessionId: session.id }]);
    await host.close();
  });

  test('SU-05 a wake that fails loses no answer: it goes on here', async () => {
    const dispatcher = { ...deaf(), wake: async () => Promise.reject(new Error('the queue is away')) };
    const { tool, runs } = notingTool('pay');
    const { host, warnings } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), { tools: [tool], dispatcher });
    await using session = await host.open('bot');
    for await (const _ of session.stream('Pay.'));
    const [open] = await host.approvals.list();
    await host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by: { id: 'local' } });
    await host.idle();
    expect(runs).toEqual([{}]);
    expect(warnings).toEqual([`nobody could be woken for session ${session.id}: it continues here`]);
    await host.close();
  });

  test('SU-06 what would be refused as a message is refused, and no session is left busy', async () => {
    const slow = slowTool('pay', { annotations: { readOnly: true } });
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), { tools: [slow.tool] });
    expect(await refusal(host.submit('nobody', 'Hello.'))).toMatchObject({ code: 'E_AGENT_UNKNOWN' });
    expect(await refusal(host.submit('bot', []))).toMatchObject({ code: 'E_BAD_INPUT' });
    expect(await refusal(host.submit('bot', 'Hello.', { ephemeral: true } as object))).toMatchObject({
      code: 'E_BAD_INPUT',
    });
    const { sessionId } = await host.submit('bot', 'Pay.');
    await slow.started;
    expect(await refusal(host.submit('bot', 'More.', { sessionId }))).toMatchObject({ code: 'E_SESSION_BUSY' });
    slow.finish('done');
    await host.idle();
    expect(slow.runs).toHaveLength(1);
    await host.close();
  });

  test('ATK7-14 a program that may take forever to leave waits for what runs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const slow = slowTool('pay', readOnly);
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'Paid.']), { tools: [slow.tool] });
    const work = await host.work({ lookMs: 60_000 });
    await host.submit('bot', 'Pay.');
    await slow.started;
    const stopped = work.stop({ deadlineMs: Number.POSITIVE_INFINITY });
    await vi.advanceTimersByTimeAsync(3_600_000);
    slow.finish('done');
    expect(await stopped).toBe(0);
    await host.close();
  });

  test('ATK7-14 a program that never looks sets no timer that would fire at once', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    const { host } = hostOf(bot([]), { dispatcher: deaf() });
    const work = await host.work({ lookMs: Number.POSITIVE_INFINITY });
    const set = () => timers.mock.calls.map(([, ms = 0]) => ms);
    await expect.poll(set).toContain(2 ** 31 - 1);
    expect(set().filter((ms) => ms >= 2 ** 31)).toEqual([]);
    await work.stop();
    await host.close();
  });

  test('ATK8-06 a program that is to leave leaves all its turns, also where nobody can be woken for them', async () => {
    const slow = ['pay', 'ship'].map((name) => slowTool(name, readOnly));
    const dispatcher = {
      ...deaf(),
      wake: async () => Promise.reject(new Error('the queue is away')),
      serve: async () => async () => Promise.reject(new Error('it is away')),
    };
    const script = ['pay', 'ship', 'note', 'note'].map((name) => ({ calls: [[name, {}]] as const }));
    const tools = [...slow.map(({ tool }) => tool), notingTool('note', readOnly).tool];
    const { host, warnings } = hostOf(bot(script), { tools, dispatcher });
    const work = await host.work({ lookMs: 3_600_000 });
    const runs = [];
    for (const { started } of slow) {
      const session = await host.open('bot');
      runs.push(say(session, 'go'));
      await started;
    }
    const stopped = work.stop();
    for (const { finish } of slow) finish('done');
    const ends = (await Promise.all(runs)).map(endOf);
    expect(ends.map(({ reason }) => reason)).toEqual(['input_required', 'input_required']);
    expect(await stopped).toBe(0);
    expect(warnings.filter((words) => words.startsWith('nobody could be woken for session'))).toHaveLength(2);
    await host.close();
  });
});
