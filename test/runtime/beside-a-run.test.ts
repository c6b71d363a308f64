import { describe, expect, test } from 'vitest';
import type { RequestAnswer } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { Held, StoredEvent } from '../../src/runtime/index.ts';
import { createEngine, InMemoryCredentialService, LiveSession } from '../../src/runtime/index.ts';
import { abortIdle } from '../../src/runtime/session/abort-idle.ts';
import { answerRequest } from '../../src/runtime/session/answer-request.ts';
import { openRequestNow, openRequestsNow } from '../../src/runtime/session/open-requests.ts';
import { storeBeside } from '../../src/runtime/session/store-beside.ts';
import { endOfAll, settling } from '../../src/runtime/store/settling.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from './elsewhere.ts';
import { Folding } from './folding.ts';
import { key, llm } from './kit.ts';
import { codeOf, conflict, exists, note, once, opened } from './shared-store.ts';

const told = (events: readonly StoredEvent[]) =>
  events.map(({ content, actions, author }) => {
    const part = content?.parts[0];
    return part?.type === 'function_response' ? `${part.id} ${part.errorType}` : `${author} ${actions.end?.reason}`;
  });

describe('the end of all that is open', () => {
  const open = (f: Folding) => {
    f.call(['c1', 'c2']);
    f.act({ started: ['c1'] });
  };

  test('closes the calls, what was asked last first, and the turn', () => {
    const f = new Folding();
    open(f);
    expect(told(endOfAll(f.fold, 'root', 'why'))).toEqual(['c2 cancelled', 'c1 interrupted', 'bot aborted']);
    expect(told(endOfAll(f.fold, 'root', 'why', 'never'))).toEqual(['c2 cancelled', 'c1 cancelled', 'bot aborted']);
    expect(
      endOfAll(f.fold, 'root', 'why').every(
        ({ streamId, invocationId, turnId }) => streamId === '' && invocationId === '' && turnId === 't',
      ),
    ).toBe(true);
    f.act({ end: { reason: 'completed' } });
    expect(told(endOfAll(f.fold, 'root', 'why'))).toEqual(['c2 cancelled', 'c1 interrupted']);
    const nobody = new Folding();
    nobody.fold.occupant = undefined;
    expect(told(endOfAll(nobody.fold, 'root', 'why'))).toEqual(['root aborted']);
  });

  test('is stored under a lease, which is given back; what waits in memory is let go', async () => {
    const { live, sessions, log } = await opened(open);
    const released: unknown[] = [];
    live.held.set('', { release: (reason) => void released.push(reason) } as Held);
    await abortIdle(live, 'root', 'why');
    expect(told((await log()).slice(-3))).toEqual(['c2 cancelled', 'c1 interrupted', 'bot aborted']);
    expect([released.length, await sessions.holder(key)]).toEqual([1, undefined]);
    const length = (await log()).length;
    await abortIdle(live, 'root', 'why');
    expect((await log()).length).toBe(length);
  });

  test('leaves what somebody else has closed in the same moment', async () => {
    const { live, sessions, log } = await opened(open);
    const theirs = note('res:c2', {
      author: 'bot',
      content: { role: 'user', parts: [{ type: 'function_response', id: 'c2', name: 'f', response: {} }] },
    });
    once(sessions, () => sessions.theirs(theirs));
    await abortIdle(live, 'root', 'why');
    expect(told((await log()).slice(-3))).toEqual(['c2 undefined', 'c1 interrupted', 'bot aborted']);
    const lying = await opened(open);
    lying.sessions.before = () => {
      throw exists();
    };
    expect(await codeOf(abortIdle(lying.live, 'root', 'why'))).toBe('E_EVENT_EXISTS');
    expect(await lying.sessions.holder(key)).toBeUndefined();
  });

  test('is what a copy of the session begins with, if anything is open', async () => {
    const { sessions } = await opened(open);
    const copy = await sessions.fork(key, { id: 's2', settle: settling(sessions) });
    expect(told(copy.events.slice(-3))).toEqual(['c2 cancelled', 'c1 cancelled', 'bot aborted']);
    const plain = await opened();
    expect((await plain.sessions.fork(key, { id: 's2', settle: settling(plain.sessions) })).events).toEqual([]);
  });
});

describe('what is stored beside a run', () => {
  test('is made again where somebody has written in between', async () => {
    const { live, sessions, log } = await opened();
    once(sessions, () => sessions.theirs(note('between')));
    let made = 0;
    const { event } = await storeBeside(live, () => ({ event: note(`made ${++made}`), reaches: false }));
    expect(event.id).toBe('made 2');
    expect((await log()).slice(1).map(({ id }) => id)).toEqual(['between', 'made 2']);
  });

  test('is stored once, whatever the store says', async () => {
    const { live, sessions, log } = await opened();
    const append = sessions.append.bind(sessions);
    sessions.append = async (...given) => {
      await append(...given);
      throw conflict();
    };
    await storeBeside(live, () => ({ event: note('made'), reaches: true }));
    sessions.append = append;
    expect((await log()).slice(1).map(({ id }) => id)).toEqual(['made']);
    for (const [fault, code] of [
      [conflict(), 'E_SESSION_CONFLICT'],
      [exists(), 'E_EVENT_EXISTS'],
    ] as const) {
      sessions.before = () => {
        throw fault;
      };
      expect(await codeOf(storeBeside(live, () => ({ event: note('other'), reaches: false })))).toBe(code);
    }
  });
});

describe('what is waited for, over all processes', () => {
  const agent = llm('bot', new ScriptedModel([]));
  const started = (f: Folding) => {
    f.call(['c1', 'c2', 'c3']);
    f.act({ started: ['c1'], startedIn: 1 });
    f.act({ started: ['c2'] });
  };

  test('runs where its owner holds the session still', async () => {
    const { live, sessions } = await opened(started);
    const { tree } = createEngine({ agent }, key);
    const running = async () =>
      (await openRequestsNow(live, tree, {})).map((one) => [one.callId, (one as { running?: boolean }).running]);
    expect(await running()).toEqual([
      ['c1', undefined],
      ['c2', undefined],
      ['c3', undefined],
    ]);
    const lease = await sessions.acquire(key);
    // A start of an older release does not say under which lease.
    expect(await running()).toEqual([
      ['c1', undefined],
      ['c2', true],
      ['c3', undefined],
    ]);
    await sessions.theirs(note('again', { actions: { started: ['c1'], startedIn: lease.epoch } }));
    expect((await running())[0]).toEqual(['c1', true]);
    expect(await openRequestNow(live, tree, {}, 'c1')).toMatchObject({ callId: 'c1', running: true });
    expect(await openRequestNow(live, tree, {}, 'c3')).not.toHaveProperty('running');
    expect(await openRequestNow(live, tree, {}, 'gone')).toBeUndefined();
    await lease.release();
    const by = {};
    const release = await live.hold(by);
    await sessions.theirs(note('once more', { actions: { started: ['c1'], startedIn: live.epoch } }));
    expect((await openRequestsNow(live, tree, by)).some((one) => 'running' in one)).toBe(false);
    expect((await openRequestsNow(live, tree, {})).some((one) => 'running' in one)).toBe(true);
    await release();
  });
});

describe('an answer that is given beside a run', () => {
  const credentials = new InMemoryCredentialService();
  const engine = createEngine({ agent: llm('bot', new ScriptedModel([])), services: { credentials } }, key);
  const asked = (kind: 'tool_confirmation' | 'auth_required') => (f: Folding) => {
    f.call(['c1', 'c2'], {}, { handledBy: 'host' });
    f.act({ asks: [{ requestId: 'c1#0', callId: 'c1', kind, message: '?' }] });
  };
  const give = (live: LiveSession, requestId: string, answer: object) =>
    answerRequest(live, engine, requestId, answer as RequestAnswer);
  const by = { id: 'kim' };

  test('settles the request, once; whoever comes second is told how', async () => {
    const { live } = await opened(asked('tool_confirmation'));
    expect(await give(live, 'c1#0', { kind: 'approve', by })).toEqual({ status: 'settled', by: 'kim' });
    expect(await give(live, 'c1#0', { kind: 'deny' })).toEqual({
      status: 'already_settled',
      outcome: 'accept',
      by: 'kim',
    });
    expect(await give(live, 'c2', { kind: 'result', result: { content: [] } })).toEqual({ status: 'settled' });
    expect(await codeOf(give(live, 'gone', { kind: 'approve' }))).toBe('E_UNKNOWN_REQUEST');
  });

  test('that is one vote of several leaves it open', async () => {
    const { live } = await opened(asked('tool_confirmation'));
    expect(await give(live, 'c2#policy', { kind: 'approve', by, quorum: 2 })).toEqual({
      status: 'waiting_quorum',
      by: 'kim',
    });
  });

  test('is looked at again where somebody else has written first', async () => {
    const { live, sessions } = await opened(asked('tool_confirmation'));
    once(sessions, () => sessions.theirs(note('between')));
    expect(await give(live, 'c1#0', { kind: 'approve' })).toEqual({ status: 'settled' });
    const second = await opened(asked('tool_confirmation'));
    once(second.sessions, () =>
      second.sessions.theirs(note('ans:c1#0', { actions: { answers: { 'c1#0': { action: 'decline', by: 'eve' } } } })),
    );
    expect(await give(second.live, 'c1#0', { kind: 'approve' })).toEqual({
      status: 'already_settled',
      outcome: 'decline',
      by: 'eve',
    });
    const failing = await opened(asked('tool_confirmation'));
    failing.sessions.before = () => {
      throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
    };
    expect(await codeOf(give(failing.live, 'c1#0', { kind: 'approve' }))).toBe('E_STORE');
  });

  test('by somebody in another process is seen', async () => {
    const { live, sessions } = await opened(asked('tool_confirmation'));
    const other = await LiveSession.open(elsewhere(sessions), key);
    expect(await give(other, 'c1#0', { kind: 'deny', by })).toMatchObject({ status: 'settled' });
    expect(await give(live, 'c1#0', { kind: 'approve' })).toEqual({
      status: 'already_settled',
      outcome: 'decline',
      by: 'kim',
    });
  });

  test('keeps the credential that came with it, and none where it was not taken', async () => {
    const kept = () => credentials.load(key, 'tool c1');
    const yes = { kind: 'elicitation', action: 'accept', content: { credential: 'new' } };
    const late = await opened(asked('auth_required'));
    await credentials.save(key, 'tool c1', 'old');
    once(late.sessions, () =>
      late.sessions.theirs(note('ans:c1#0', { actions: { answers: { 'c1#0': { action: 'decline' } } } })),
    );
    expect(await give(late.live, 'c1#0', yes)).toMatchObject({ outcome: 'decline' });
    expect(await kept()).toBe('old');
    const failing = await opened(asked('auth_required'));
    failing.sessions.before = () => {
      throw new Error('away');
    };
    await expect(give(failing.live, 'c1#0', yes)).rejects.toThrow('away');
    expect(await kept()).toBe('old');
    const { live, log } = await opened(asked('auth_required'));
    expect(await give(live, 'c1#0', yes)).toEqual({ status: 'settled' });
    expect([await kept(), JSON.stringify(await log()).includes('new')]).toEqual(['new', false]);
    await credentials.delete(key, 'tool c1');
  });
});
