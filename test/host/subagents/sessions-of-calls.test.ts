import { describe, expect, test } from 'vitest';
import type { ReportedRequest } from '../../../src/contracts/index.ts';
import { CoxswainError } from '../../../src/contracts/index.ts';
import type { Handle, Hosted } from '../../../src/host/frame/index.ts';
import { SubagentSessions } from '../../../src/host/subagents/subagent-sessions.ts';
import type { Subagent } from '../../../src/host/tools/index.ts';
import { refusal } from '../kit.ts';

const gone = () => new CoxswainError('NOT_FOUND', 'E_SESSION_NOT_FOUND', 'gone');
const busy = () => new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'busy');
const away = () => new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
const call = (callId: string, more: object = {}) =>
  ({ requestId: callId, callId, kind: 'tool', ...more }) as ReportedRequest;
const agentOf = (capabilities: string[] = [], maxDepth = 8) =>
  ({ descriptor: { name: 'expert', capabilities }, maxDepth }) as unknown as Subagent;
const kept = agentOf(['resume']);

/** The sub-agents' sessions of a session, `there` by call, or why they cannot be opened. */
function sessionsOf(there: Record<string, Error> = {}, depth = 0) {
  const opened: string[] = [];
  const closed: string[] = [];
  const aborted: unknown[] = [];
  const warnings: string[] = [];
  const state: { there: Record<string, Error>; abortFails: Error | undefined } = { there, abortFails: undefined };
  const frame = {
    depth,
    subagentsId: ({ callId }: ReportedRequest, id: string) => `${id}.${callId}`,
    openSubagent: async ({ descriptor }: Subagent, { callId = '' }: ReportedRequest, id: string, create: boolean) => {
      opened.push(`${descriptor.name} ${id} ${callId}${create ? ' new' : ''}`);
      const error = state.there[callId];
      if (error) throw error;
      return {
        id: callId,
        abort: async (target: unknown) => {
          aborted.push(target);
          if (state.abortFails) throw state.abortFails;
        },
        [Symbol.asyncDispose]: async () => void closed.push(callId),
      } as unknown as Handle;
    },
    warn: (message: string) => void warnings.push(message),
  };
  const made = new SubagentSessions({ id: 's', frame } as unknown as Hosted);
  return { made, opened, closed, aborted, warnings, state };
}

describe('MUT-H25 the session of a sub-agent’s call', () => {
  test('is opened once, made where its call begins, and named as the host names it', async () => {
    const { made, opened } = sessionsOf();
    expect([made.opened('a'), await made.running('a'), made.requests]).toEqual([undefined, undefined, []]);
    const child = made.open(kept, call('a'), true);
    expect(made.open(kept, call('a'))).toBe(child);
    expect([made.opened('a') === child, (await made.running('a'))?.id, opened]).toEqual([
      ...[true, 'a', ['expert s a new']],
    ]);
    expect(made.requests).toEqual([call('a', { started: true })]);
    expect(made.idOf(call('a'))).toBe('s.a');
    made.forget('a');
    expect([made.requests, made.opened('a') === child]).toEqual([[], true]);
    made.release('a');
    expect(made.opened('a')).toBeUndefined();
  });

  test('is found where it is kept and its call goes on, and made anew where it is kept nowhere', async () => {
    const { made, opened } = sessionsOf();
    await made.open(kept, call('a'));
    await made.open(agentOf(), call('b'));
    expect(opened).toEqual(['expert s a', 'expert s b new']);
    expect([made.isLost('a'), made.isLost('b')]).toEqual([false, false]);
  });

  test('that is gone is lost until its call begins again; one too deep had none to lose', async () => {
    const { made, state, opened, warnings } = sessionsOf({ a: gone() });
    expect(await refusal(made.open(kept, call('a')))).toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    expect([made.isLost('a'), made.opened('a')]).toEqual([true, undefined]);
    expect([await made.openIfThere(kept, call('a')), await made.stored(kept, call('a')), warnings]).toEqual([
      ...[undefined, undefined, []],
    ]);
    state.there = {};
    await made.open(kept, call('a'), true);
    expect([made.isLost('a'), opened.at(-1)]).toEqual([true, 'expert s a new']);
    made.begun('a');
    expect(made.isLost('a')).toBe(false);
    const deep = sessionsOf({ a: gone() }, 2);
    expect([deep.made.isTooDeep(agentOf([], 3)), deep.made.isTooDeep(agentOf([], 2))]).toEqual([false, true]);
    await refusal(deep.made.open(agentOf(['resume'], 2), call('a')));
    expect(deep.made.isLost('a')).toBe(false);
  });

  test('that others are just finding to be gone does not run; another fault is one', async () => {
    const { made } = sessionsOf({ a: gone(), b: away() });
    const opening = made.open(kept, call('a'));
    const running = made.running('a');
    expect([(await refusal(opening)).code, await running]).toEqual(['E_SESSION_NOT_FOUND', undefined]);
    const broken = made.open(kept, call('b'));
    const other = made.running('b');
    expect([(await refusal(broken)).code, (await refusal(other)).code]).toEqual(['E_STORE', 'E_STORE']);
  });

  test('that cannot be opened is told of, and is asked for again', async () => {
    const { made, warnings, state } = sessionsOf({ a: away() });
    expect(await made.openIfThere(kept, call('a'))).toBeUndefined();
    expect(warnings).toEqual(['the session of sub-agent expert cannot be opened']);
    expect((await refusal(made.stored(kept, call('a')))).code).toBe('E_STORE');
    state.there = {};
    expect((await made.openIfThere(kept, call('a')))?.id).toBe('a');
  });

  test('is ended behind its closed call, and closed again; where it is gone or runs elsewhere nothing is said', async () => {
    const { made, aborted, closed, warnings, state, opened } = sessionsOf();
    await made.endStored(kept, call('a'));
    expect([aborted, closed, opened]).toEqual([[{ reason: 'its call was closed' }], ['a'], ['expert s a']]);
    state.abortFails = busy();
    await made.endStored(kept, call('a'));
    state.there = { a: gone() };
    await made.endStored(kept, call('a'));
    expect([warnings, closed]).toEqual([[], ['a', 'a']]);
    for (const error of [away(), new Error('odd')]) {
      state.there = { a: error };
      await made.endStored(kept, call('a'));
    }
    expect(warnings).toEqual(Array(2).fill('sub-agent expert could not be ended'));
  });

  test('is closed with all others, also where one could not be opened', async () => {
    const { made, closed } = sessionsOf({ b: away() });
    const all = ['a', 'b', 'c'].map((id) => made.open(kept, call(id), true).catch(() => {}));
    await made.dispose();
    await Promise.all(all);
    expect([closed, made.opened('a')]).toEqual([['a', 'c'], undefined]);
    await made.dispose();
    expect(closed).toEqual(['a', 'c']);
  });
});
