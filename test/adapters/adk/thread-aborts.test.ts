import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentSession } from '../../../src/contracts/index.ts';
import { checkStream } from '../../../src/contracts/index.ts';
import type { Agent, Model, SessionService } from '../../../src/index.ts';
import {
  agentTool,
  fromAgent,
  InMemorySessionService,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { all, bot, door, endOf, ofType, tool } from '../../host/kit.ts';
import { SlowStore } from './slow-store.ts';

const context = { app: 'shop', userId: 'ann' };
const pay = tool('pay', () => 'paid', { needsApproval: true });
const asks: Script = { calls: [['pay']] };

/** A model that thinks until it is told to stop. */
function endless(asked: () => void = () => {}): Model {
  return {
    name: 'endless',
    generate: (_, { signal }) =>
      (async function* () {
        yield { partial: true, content: { role: 'model' as const, parts: [{ type: 'text' as const, text: 'well' }] } };
        asked();
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      })(),
  };
}

const open = (agent: Agent, sessions: SessionService = new InMemorySessionService()) =>
  fromAgent(agent, { store: sessions }).open({ sessionId: 's', create: true }, context);
const reopen = (agent: Agent, sessions: SessionService) =>
  fromAgent(agent, { store: sessions }).open({ sessionId: 's' }, context);
const pair = (left: Agent, right: Agent) => new ParallelAgent({ name: 'pair', subAgents: [left, right] });
const payer = (name: string, ...script: Script[]) => bot(script, { name, tools: [pay] });

/** Streams to the end; `until` acts once, inside the loop of the consumer. */
async function consume(
  session: AgentSession,
  input: Parameters<AgentSession['stream']>[0],
  until?: { sees: (event: AgentEvent) => boolean; act: () => unknown },
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of session.stream(input)) {
    events.push(event);
    if (!until?.sees(event)) continue;
    const { act } = until;
    until = undefined;
    await act();
  }
  // One that goes on answers what others have shown.
  if (input === 'go') expect(checkStream(events)).toEqual([]);
  return events;
}

const told = (events: readonly AgentEvent[], thread: string) =>
  events.flatMap((event) => {
    if (event.threadId !== thread) return [];
    if (event.type === 'tool_response') return [`${event.name} ${event.errorType ?? 'ok'}`];
    if (event.type === 'message' && !event.partial) {
      const text = event.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('');
      return [event.interrupted ? `${text}…` : text];
    }
    if (event.type !== 'custom' || event.kind !== 'agent_completed') return [];
    const { agent, aborted } = event.data;
    return [aborted ? `${agent} aborted` : `${agent} done`];
  });

/** How it ended; with whatever is open. */
const settled = (events: readonly AgentEvent[]) => {
  const { reason, data } = endOf(events);
  return [reason, ...(data.pending ?? []).map(({ name }) => name)].join(' ');
};

const accept = (requestId: string) =>
  ({ kind: 'elicitation_response', requestId, response: { action: 'accept' } }) as const;
const openThreads = async (session: AgentSession) => (await session.pending()).map(({ threadId }) => threadId).sort();

describe('a thread that is aborted ends, the others go on', () => {
  test('one that thinks: what it said is kept; nothing brings it back, a new process neither', async () => {
    const sessions = new InMemorySessionService();
    const thinking = door();
    const team = (left: Agent) =>
      new SequentialAgent({
        name: 'root',
        subAgents: [pair(left, payer('right', asks, 'right done')), bot(['after'], { name: 'after' })],
      });
    const first = await open(team(bot(endless(thinking.open), { name: 'left' })), sessions);
    const events = await consume(first, 'go', {
      sees: ({ type }) => type === 'elicitation_request',
      act: async () => {
        await thinking.opened;
        await first.abort({ threadId: 'pair.left' });
      },
    });
    expect(told(events, 'pair.left')).toEqual(['well…', 'left aborted']);
    expect(endOf(events)).toMatchObject({ reason: 'input_required', data: { pending: [{ threadId: 'pair.right' }] } });
    await first[Symbol.asyncDispose]();

    const again = await reopen(
      new SequentialAgent({
        name: 'root',
        subAgents: [
          pair(bot(['left is back'], { name: 'left' }), payer('right', 'right done')),
          bot(['after'], { name: 'after' }),
        ],
      }),
      sessions,
    );
    const [question] = await again.pending();
    const rest = await consume(again, accept(String(question?.requestId)));
    expect(told(rest, 'pair.left')).toEqual([]);
    expect(told(rest, 'pair.right')).toEqual(['pay ok', 'right done', 'right done']);
    expect(endOf(rest).reason).toBe('completed');
  });

  test('one whose tool runs: the call is closed before it ends, also where the consumer itself aborts it', async () => {
    const never = tool('never', () => new Promise(() => {}));
    const session = await open(
      pair(bot([{ calls: [['never']] }], { name: 'left', tools: [never] }), bot(['ok'], { name: 'right' })),
    );
    const events = await consume(session, 'go', {
      sees: ({ type, ...event }) => type === 'tool_update' && (event as { status?: string }).status === 'started',
      act: () => session.abort({ threadId: 'pair.left' }),
    });
    expect(told(events, 'pair.left')).toEqual(['never interrupted', 'left aborted']);
    expect(settled(events)).toBe('completed');
  });

  test('one that waits for an answer, while its peer runs: its question is withdrawn', async () => {
    const session = await open(pair(payer('left', asks, 'never said'), bot(endless(), { name: 'right' })));
    const events = await consume(session, 'go', {
      sees: ({ type }) => type === 'elicitation_request',
      act: async () => {
        await session.abort({ threadId: 'pair.left' });
        expect(await session.pending()).toEqual([]);
        await session.abort({ threadId: 'pair.left' });
        await session.abort({ threadId: 'pair.right' });
      },
    });
    expect(told(events, 'pair.left')).toEqual(['pay cancelled', 'left aborted']);
    expect(told(events, 'pair.right')).toEqual(['well…', 'right aborted']);
    expect(endOf(events).reason).toBe('completed');
  });

  test('one of a turn that waits, before and after a restart; an end is told once', async () => {
    const sessions = new InMemorySessionService();
    const three = (...script: Script[]) =>
      new ParallelAgent({
        name: 'pair',
        subAgents: [payer('left', ...script), payer('mid', ...script), payer('right', ...script, 'right done')],
      });
    const first = await open(three(asks), sessions);
    await consume(first, 'go');
    await first.abort({ threadId: 'pair.left' });
    expect(await openThreads(first)).toEqual(['pair.mid', 'pair.right']);
    expect(endOf(await consume(first, { kind: 'continue' })).reason).toBe('input_required');
    await first[Symbol.asyncDispose]();

    const again = await reopen(three(), sessions);
    await again.abort({ threadId: 'pair.mid' });
    const [question] = await again.pending();
    const rest = await consume(again, accept(String(question?.requestId)));
    expect(told(rest, 'pair.right')).toContain('right done');
    expect(settled(rest)).toBe('completed');
    const history = await all(again.events());
    for (const name of ['left', 'mid'])
      expect(told(history, `pair.${name}`)).toEqual(['pay cancelled', `${name} aborted`]);
    expect(history.map(({ id }) => id)).toEqual([...new Set(history.map(({ id }) => id))]);
    // A thread that nobody has, and one of a turn that is over: there is nothing to end.
    await again.abort({ threadId: 'pair.left' });
    await again.abort({ threadId: 'nobody' });
    expect(await all(again.events())).toHaveLength(history.length);
  });

  test('a branch within a branch, and a branch with branches within it', async () => {
    const nested = () =>
      pair(
        new ParallelAgent({ name: 'in', subAgents: [payer('x', asks), payer('y', asks, 'y done')] }),
        payer('right', asks, 'right done'),
      );
    const inner = await open(nested());
    await consume(inner, 'go');
    await inner.abort({ threadId: 'pair.in.in.x' });
    expect(await openThreads(inner)).toEqual(['pair.in.in.y', 'pair.right']);
    await inner.abort({ threadId: 'pair.in' });
    expect(await openThreads(inner)).toEqual(['pair.right']);
    const [question] = await inner.pending();
    const rest = await consume(inner, accept(String(question?.requestId)));
    expect(endOf(rest).reason).toBe('completed');
    expect(told(rest, 'pair.in.in.y')).toEqual([]);
  });

  test('in a loop it is the iteration’s: the next one begins the branch anew', async () => {
    const session = await open(
      new LoopAgent({
        name: 'loop',
        maxIterations: 2,
        subAgents: [pair(payer('left', asks, asks, 'left done'), bot(['r1', 'r2'], { name: 'right' }))],
      }),
    );
    await consume(session, 'go');
    await session.abort({ threadId: 'pair.left' });
    const second = await consume(session, { kind: 'continue' });
    expect(told(second, 'pair.right')).toContain('r2');
    const [question] = await session.pending();
    expect(endOf(await consume(session, accept(String(question?.requestId)))).reason).toBe('completed');
    const history = await all(session.events());
    expect(told(history, 'pair.left')).toEqual(['pay cancelled', 'left aborted', 'pay ok', 'left done', 'left done']);
  });

  test('one that has ended and has not told yet is not ended again; what an ended one had not told is not told', async () => {
    const session = await open(
      new ParallelAgent({
        name: 'pair',
        subAgents: [
          bot(['left'], { name: 'left' }),
          new ParallelAgent({ name: 'in', subAgents: [payer('x', asks), bot(['y'], { name: 'y' })] }),
          bot(endless(), { name: 'right' }),
        ],
      }),
    );
    const waitsFor = new Set(['message left', 'message y', 'elicitation_request x']);
    const events = await consume(session, 'go', {
      sees: ({ type, agentId, ...event }) => {
        if (!('partial' in event)) waitsFor.delete(`${type} ${agentId}`);
        return waitsFor.size === 0;
      },
      act: async () => {
        await session.abort({ threadId: 'pair.left' });
        await session.abort({ threadId: 'pair.in' });
        await session.abort({ threadId: 'pair.right' });
      },
    });
    expect(told(events, 'pair.left')).toEqual(['left', 'left done']);
    expect(told(events, 'pair.in')).toEqual(['in aborted']);
    expect(told(events, 'pair.in.in.x')).toEqual(['pay cancelled']);
    const within = events.filter(({ threadId }) => threadId?.startsWith('pair.in'));
    expect(within.at(-1)).toMatchObject({ agentId: 'in', data: { aborted: true } });
    expect(settled(events)).toBe('completed');
  });
});

describe('an agent run as a tool has a thread: its call ends with it', () => {
  const boss = (expert: Agent) =>
    bot([{ calls: [['expert', { request: 'q' }]] }, 'boss goes on'], {
      tools: [agentTool(expert, { name: 'expert' })],
    });

  test.each(['thread', 'call'])('while it thinks, aborted by its %s', async (by) => {
    const session = await open(boss(bot(endless(), { name: 'expert' })));
    let call = '';
    const events = await consume(session, 'go', {
      sees: (event) => {
        if (event.type === 'tool_request') call = event.requestId;
        return event.type === 'message' && event.partial === true && event.threadId === `/${call}`;
      },
      act: () => session.abort(by === 'call' ? { requestId: call } : { threadId: `/${call}` }),
    });
    expect(told(events, `/${call}`)).toEqual(['q', 'well…']);
    expect(ofType(events, 'tool_response').map(({ name, errorType }) => [name, errorType])).toEqual([
      ['expert', 'interrupted'],
    ]);
    expect(settled(events)).toBe('completed');
  });

  test.each(['thread', 'call'])(
    'while it waits for an answer, aborted by its %s: nothing in it stays open',
    async (by) => {
      const deep = new ParallelAgent({ name: 'deep', subAgents: [payer('x', asks), payer('y', asks, 'y done')] });
      const session = await open(boss(deep));
      await consume(session, 'go');
      const pending = await session.pending();
      const [x, y] = ['x', 'y'].map((name) => pending.find(({ threadId }) => threadId?.endsWith(`.deep.${name}`)));
      const thread = String(x?.threadId).replace(/\.deep\.x$/, '');
      // One branch of it first.
      await session.abort({ threadId: String(x?.threadId) });
      expect(await openThreads(session)).toEqual([y?.threadId]);
      await session.abort(by === 'call' ? { requestId: thread.slice(1) } : { threadId: thread });
      expect(await session.pending()).toEqual([]);
      const rest = await consume(session, { kind: 'continue' });
      expect(settled(rest)).toBe('completed');
      const history = await all(session.events());
      expect(told(history, thread)).toEqual(['q']);
      expect(told(history, String(y?.threadId))).toEqual(['pay cancelled']);
      // It had been asked: what it did before is not known.
      expect(ofType(history, 'tool_response').at(-1)).toMatchObject({ name: 'expert', errorType: 'interrupted' });
    },
  );
});

describe('what is aborted and answered in the same moment, while the store takes its time', () => {
  const answered = ({ type }: AgentEvent) => type === 'elicitation_response';

  test.each(['thread', 'call'])('does not run any more once it was aborted by its %s', async (by) => {
    const ran: string[] = [];
    // Nothing is stored before a tool like this runs.
    const annotations = { readOnly: true };
    const work = tool('work', () => void ran.push('work'), { needsApproval: true, annotations });
    const left = bot([{ calls: [['work']] }, 'left'], { name: 'left', tools: [work] });
    const session = await open(pair(left, payer('right', 'right')), new SlowStore());
    await consume(session, 'go');
    const [question] = await session.pending();
    let aborted: Promise<void> | undefined;
    const events = await consume(session, accept(String(question?.requestId)), {
      sees: answered,
      act: () => {
        const target = by === 'call' ? { requestId: String(question?.callId) } : { threadId: 'pair.left' };
        aborted = session.abort(target);
      },
    });
    await aborted;
    expect(ran).toEqual([]);
    expect(told(events, 'pair.left')[0]).toBe('work cancelled');
    expect(settled(events)).toBe('completed');
  });

  test('is settled once; the turn goes on', async () => {
    const session = await open(pair(payer('left', asks, 'left'), payer('right', 'right')), new SlowStore());
    await consume(session, 'go');
    const [question] = await session.pending();
    const decline = { ...accept(String(question?.requestId)), response: { action: 'decline' } } as const;
    let aborted: Promise<void> | undefined;
    const events = await consume(session, decline, {
      sees: answered,
      act: () => {
        aborted = session.abort({ requestId: String(question?.callId) });
      },
    });
    await aborted;
    expect(told(events, 'pair.left').slice(0, 2)).toEqual(['pay cancelled', 'left']);
    expect(settled(events)).toBe('completed');
  });

  test('ends where it runs, also if the run that it was called in is over and another has begun', async () => {
    const [read, running] = [door(), door()];
    let waits = false;
    class Reading extends InMemorySessionService {
      override async get(...args: Parameters<InMemorySessionService['get']>) {
        if (waits) {
          waits = false;
          await read.opened;
        }
        return super.get(...args);
      }
    }
    const work = tool(
      'work',
      () => {
        running.open();
        return new Promise(() => {});
      },
      { needsApproval: true },
    );
    const left = bot([{ calls: [['work']] }], { name: 'left', tools: [work] });
    // It asks when the other has come to rest.
    const look = tool('look', () => 1);
    const right = bot([{ calls: [['look']] }, asks, 'right'], { name: 'right', tools: [look, pay] });
    const session = await open(pair(left, right), new Reading());
    let aborted: Promise<void> | undefined;
    await consume(session, 'go', {
      sees: ({ type, threadId }) => type === 'elicitation_request' && threadId === 'pair.right',
      act: () => {
        waits = true;
        aborted = session.abort({ threadId: 'pair.left' });
      },
    });
    const question = (await session.pending()).find(({ threadId }) => threadId === 'pair.left');
    const streaming = consume(session, accept(String(question?.requestId)));
    await running.opened;
    read.open();
    await aborted;
    const events = await streaming;
    expect(told(events, 'pair.left')).toEqual(['work interrupted', 'left aborted']);
    expect(settled(events)).toBe('input_required pay');
  });
});
