import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { AnyTool, SessionInput } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { StoredEvent } from '../../src/runtime/index.ts';
import { createEvent, InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Folding } from './folding.ts';
import { collect, host, key, llm, tool } from './kit.ts';
import { reasonOf } from './resumed.ts';

/** A store in which somebody is faster: asked before each append, it may write first, or refuse. */
class Faster extends InMemorySessionService {
  readonly tried: (readonly StoredEvent[])[] = [];
  before: (events: readonly StoredEvent[]) => Promise<unknown> | unknown = () => undefined;

  override async append(...[of, events, options]: Parameters<InMemorySessionService['append']>) {
    this.tried.push(events);
    await this.before(events);
    return super.append(of, events, options);
  }

  /** What another process writes. */
  theirs(...events: StoredEvent[]) {
    return super.append(key, events);
  }
}

const response = (id: string, words = 'theirs'): StoredEvent =>
  createEvent({
    id: `res:${id}`,
    turnId: 't',
    author: 'bot',
    content: {
      role: 'user',
      parts: [{ type: 'function_response', id, name: `tool ${id}`, response: { content: words } }],
    },
  });

const responds = (events: readonly StoredEvent[], id: string) => events.some((event) => event.id === `res:${id}`);
const exists = () => new CoxswainError('ALREADY_EXISTS', 'E_EVENT_EXISTS', 'it is there');
const conflict = () => new CoxswainError('ABORTED', 'E_SESSION_CONFLICT', 'somebody has written');

async function opened(left: (f: Folding) => void, tools: readonly AnyTool[] = []) {
  const folding = new Folding();
  left(folding);
  const sessions = new Faster();
  await sessions.create(key);
  await sessions.append(key, folding.events);
  sessions.tried.length = 0;
  const warnings: string[] = [];
  const agent = llm('bot', new ScriptedModel(['done', 'done']), { tools });
  const source = fromAgent(agent, { store: sessions, warn: (message) => warnings.push(message) });
  const session = await source.open({ sessionId: key.id }, host);
  const answers = async () => {
    const parts = ((await sessions.get(key))?.events ?? []).flatMap(({ content }) => content?.parts ?? []);
    return parts.flatMap((part) =>
      part.type === 'function_response' ? [`${part.id} ${String(part.response.content ?? part.errorType)}`] : [],
    );
  };
  const go = (input: SessionInput = { kind: 'continue' }, options = {}) => collect(session.stream(input, options));
  return { sessions, session, go, answers, warnings };
}

/** Once: before the first append that does this, `work` is done. */
function once(sessions: Faster, is: (events: readonly StoredEvent[]) => boolean, work: () => Promise<unknown> | never) {
  let isDone = false;
  sessions.before = async (events) => {
    if (isDone || !is(events)) return;
    isDone = true;
    await work();
  };
}

const denied = (f: Folding) => {
  f.call(['c1']);
  f.act({ decisions: { c1: { outcome: 'denied', by: 'user:ann' } } });
};

describe('a call that is closed here, and was answered elsewhere in the same moment', () => {
  test('keeps that answer, and the turn goes on', async () => {
    const o = await opened(denied, [tool('tool c1', () => 1)]);
    once(
      o.sessions,
      (events) => responds(events, 'c1'),
      () => o.sessions.theirs(response('c1')),
    );
    expect(reasonOf(await o.go())).toBe('completed');
    expect(await o.answers()).toEqual(['c1 theirs']);
  });

  test('is told as a fault where the store only says so', async () => {
    const o = await opened(denied, [tool('tool c1', () => 1)]);
    o.sessions.before = (events) => {
      if (responds(events, 'c1')) throw exists();
    };
    const events = await o.go();
    expect(reasonOf(events)).toBe('failed');
    expect(JSON.stringify(events)).toContain('E_EVENT_EXISTS');
    expect(await o.answers()).toEqual([]);
  });

  test('by the end of its turn keeps it as well', async () => {
    const left = (f: Folding) => {
      f.call(['c1', 'c2'], {}, { handledBy: 'host' });
      f.respond('c2');
    };
    const failing: AnyTool[] = [];
    const o = await opened(left, failing);
    once(
      o.sessions,
      (events) => responds(events, 'c1'),
      () => o.sessions.theirs(response('c1')),
    );
    await o.session.abort();
    expect(await o.answers()).toEqual(['c2 undefined', 'c1 theirs']);
    const log = (await o.sessions.get(key))?.events ?? [];
    expect(log.at(-1)?.actions.end?.reason).toBe('aborted');
  });
});

describe('a result that comes when the call was answered elsewhere', () => {
  test('is dropped, once', async () => {
    const o = await opened(
      (f) => void f.call(['c1']),
      [tool('tool c1', () => 'mine', { annotations: { readOnly: true } })],
    );
    once(
      o.sessions,
      (events) => responds(events, 'c1'),
      () => o.sessions.theirs(response('c1')),
    );
    expect(reasonOf(await o.go())).toBe('completed');
    expect([await o.answers(), o.warnings.length]).toEqual([['c1 theirs'], 1]);
    expect(o.warnings[0]).toContain('answered elsewhere');
  });
});

describe('inputs', () => {
  const asks = (f: Folding) => {
    f.call(['c1']);
    f.act({ asks: [{ requestId: 'c1#0', callId: 'c1', kind: 'tool_confirmation', message: '?' }] });
  };
  const yes: SessionInput = { kind: 'elicitation_response', requestId: 'c1#0', response: { action: 'accept' } };
  const isYes = (events: readonly StoredEvent[]) => events.some(({ actions }) => actions.answers !== undefined);
  const pay = () => tool('tool c1', () => 'paid');
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'taken',
      (error: CoxswainError) => error.code,
    );

  test('are looked at again where somebody has written meanwhile', async () => {
    const o = await opened(asks, [pay()]);
    once(o.sessions, isYes, () => o.sessions.theirs(createEvent({ author: 'user', turnId: 't' })));
    expect(await codeOf(o.go(yes))).toBe('taken');
    expect(await o.answers()).toEqual(['c1 paid']);
    expect(o.sessions.tried.filter(isYes)).toHaveLength(2);
  });

  test('are refused where what they answer was answered meanwhile', async () => {
    const o = await opened(asks, [pay()]);
    const no = createEvent({
      id: 'ans:c1#0',
      author: 'user',
      turnId: 't',
      actions: { answers: { 'c1#0': { action: 'decline' } } },
    });
    once(o.sessions, isYes, () => o.sessions.theirs(no));
    expect(await codeOf(o.go(yes))).toBe('E_REQUEST_CLOSED');
    expect(await o.answers()).toEqual([]);
  });

  test('are refused with what the store says where nothing has changed', async () => {
    for (const [fault, code] of [
      [conflict(), 'E_SESSION_CONFLICT'],
      [exists(), 'E_EVENT_EXISTS'],
      [new CoxswainError('UNAVAILABLE', 'E_STORE', 'away'), 'E_STORE'],
    ] as const) {
      const o = await opened(asks, [pay()]);
      o.sessions.before = (events) => {
        if (isYes(events)) throw fault;
      };
      expect(await codeOf(o.go(yes))).toBe(code);
      expect(o.sessions.tried.filter(isYes)).toHaveLength(1);
    }
  });

  test('are not stored again by a store that stores them and says no', async () => {
    const o = await opened(asks, [pay()]);
    const append = o.sessions.append.bind(o.sessions);
    let tries = 0;
    o.sessions.append = async (...given) => {
      const stored = await append(...given);
      if (isYes(given[1])) {
        tries++;
        throw conflict();
      }
      return stored;
    };
    expect(await codeOf(o.go(yes))).toBe('E_SESSION_CONFLICT');
    expect(tries).toBe(1);
  });

  test('may be nothing: a turn that waits is gone on with', async () => {
    const o = await opened(asks, [pay()]);
    expect(reasonOf(await o.go())).toBe('input_required');
    expect(o.sessions.tried).toEqual([]);
  });
});

describe('calls that earlier turns have left open', () => {
  const earlier = (f: Folding) => {
    f.call(['c1', 'c2', 'c3'], { author: 'bot' });
    for (const id of ['c1', 'c2'])
      f.act({ asks: [{ requestId: `${id}#0`, callId: id, kind: 'tool_confirmation', message: '?' }] });
    f.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    f.speak('well', { turnId: 'u' });
    f.act({ end: { reason: 'completed' } }, { turnId: 'u' });
  };
  const ran: string[] = [];
  const tools = ['c1', 'c2', 'c3'].map((id) =>
    tool(`tool ${id}`, () => {
      ran.push(id);
      return 'ran';
    }),
  );

  test('run once they are answered, all of them, and no others', async () => {
    ran.length = 0;
    const o = await opened(earlier, tools);
    await o.session.respond('c1#0', { kind: 'approve' });
    await o.session.respond('c2#0', { kind: 'approve' });
    expect(reasonOf(await o.go())).toBe('completed');
    expect(ran.toSorted()).toEqual(['c1', 'c2']);
    expect((await o.answers()).toSorted()).toEqual(['c1 ran', 'c2 ran']);
    const log = (await o.sessions.get(key))?.events ?? [];
    const turns = log.filter(({ id }) => id.startsWith('res:')).map(({ turnId }) => turnId);
    expect(turns).toEqual(['t', 't']);
  });

  test('are closed where the answer is no', async () => {
    ran.length = 0;
    const o = await opened(earlier, tools);
    await o.session.respond('c2#0', { kind: 'deny', reason: 'no' });
    expect(reasonOf(await o.go())).toBe('completed');
    expect([ran, await o.answers()]).toEqual([[], ['c2 denied']]);
  });

  test('are left alone where they wait for a long answer, or their agent is gone', async () => {
    ran.length = 0;
    const o = await opened((f) => {
      f.call(['c1'], { author: 'eve' });
      f.call(['c2'], { longRunningToolIds: ['c2'] });
      for (const id of ['c1', 'c2']) f.act({ decisions: { [id]: { outcome: 'approved', by: 'user:ann' } } });
      f.act({ interim: { c2: {} } });
      f.act({ turn: { start: 'bot' } }, { turnId: 'u' });
    }, tools);
    expect(reasonOf(await o.go())).toBe('completed');
    expect([ran, await o.answers()]).toEqual([[], []]);
  });
});
