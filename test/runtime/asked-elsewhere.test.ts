import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import { createEvent, InMemorySessionService, LiveSession } from '../../src/runtime/index.ts';
import { endElsewhere, heedLog, wish } from '../../src/runtime/session/abort-elsewhere.ts';
import { EndsGivenBack } from '../../src/runtime/session/given-back.ts';
import { settled } from './flow.ts';
import { key } from './kit.ts';
import { codeOf, conflict, exists, note, once, opened } from './shared-store.ts';

const busy = () => new CoxswainError('ABORTED', 'E_SESSION_BUSY', 'it is run', { details: { epoch: 7 } });

describe('what runs in another process', () => {
  /** No time passes: nobody is too late. */
  const unhurried = () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  test('is asked to end by the log, once, and is waited for', async () => {
    unhurried();
    const { live, sessions, log } = await opened();
    const theirs = await sessions.acquire(key);
    let tries = 0;
    const work = async () => {
      if (++tries < 4) throw busy();
    };
    await endElsewhere(live, { reason: 'enough', threadId: 'th' }, 1, work);
    const asked = (await log()).flatMap(({ actions }) => actions.abort ?? []);
    expect(asked).toEqual([{ reason: 'enough', threadId: 'th', epoch: theirs.epoch }]);
    expect(tries).toBe(4);
    await theirs.release();
  });

  test('is told to whoever asked where it does not end in time', async () => {
    const { live, sessions } = await opened();
    await sessions.acquire(key);
    const never = () => Promise.reject(busy());
    await expect(endElsewhere(live, {}, 1, never)).rejects.toMatchObject({
      code: 'E_SESSION_BUSY',
      retryable: true,
      details: { epoch: 7 },
      message: expect.stringContaining('within 10 ms'),
    });
  });

  test('is not asked where nobody holds it, its turn is over, or the fault is another', async () => {
    unhurried();
    const { live, log } = await opened();
    let tries = 0;
    await endElsewhere(live, {}, 1, async () => {
      if (++tries < 3) throw busy();
    });
    expect((await log()).some(({ actions }) => actions.abort)).toBe(false);
    const over = await opened((f) => f.act({ end: { reason: 'completed' } }));
    await over.sessions.acquire(key);
    let again = 0;
    await endElsewhere(over.live, {}, 1, async () => {
      if (++again < 3) throw busy();
    });
    expect((await over.log()).some(({ actions }) => actions.abort)).toBe(false);
    expect(await codeOf(endElsewhere(live, {}, 1, () => Promise.reject(exists())))).toBe('E_EVENT_EXISTS');
  });

  test('is left alone where another turn runs by now', async () => {
    unhurried();
    const { live, sessions } = await opened();
    let tries = 0;
    await endElsewhere(live, {}, 1, async () => {
      if (++tries === 2) await sessions.theirs(note('next', { turnId: 'u', actions: { turn: { start: 'bot' } } }));
      throw busy();
    });
    expect(tries).toBe(2);
  });

  test('is asked though somebody else writes in the same moment', async () => {
    unhurried();
    const { live, sessions, log } = await opened();
    await sessions.acquire(key);
    once(sessions, () => sessions.theirs(note('between')));
    let tries = 0;
    await endElsewhere(live, {}, 1, async () => {
      if (++tries < 3) throw busy();
    });
    expect((await log()).filter(({ actions }) => actions.abort)).toHaveLength(1);
    const lying = await opened();
    await lying.sessions.acquire(key);
    lying.sessions.before = () => {
      throw conflict();
    };
    expect(await codeOf(endElsewhere(lying.live, {}, 1, () => Promise.reject(busy())))).toBe('E_SESSION_CONFLICT');
  });

  test('is not asked again where the store fails while somebody else writes', async () => {
    const { live, sessions, log } = await opened();
    await sessions.acquire(key);
    once(sessions, async () => {
      await sessions.theirs(note('between'));
      throw new CoxswainError('UNAVAILABLE', 'E_STORE', 'away');
    });
    expect(await codeOf(endElsewhere(live, {}, 1, () => Promise.reject(busy())))).toBe('E_STORE');
    expect((await log()).some(({ actions }) => actions.abort)).toBe(false);
  });

  test('is wished to end in part, or whole', () => {
    expect(wish({})).toStrictEqual({ reason: 'aborted' });
    expect(wish({ reason: 'r', requestId: 'c', threadId: 't' })).toStrictEqual({
      reason: 'r',
      requestId: 'c',
      threadId: 't',
    });
  });
});

describe('what other processes do to a turn that runs here', () => {
  test('is told: an end that is meant for this run, answers and results', async () => {
    const { live, sessions } = await opened((f) => void f.call(['c1']));
    const heard: unknown[] = [];
    const stop = heedLog(live, (told) => heard.push(told), {});
    const lease = await live.lease();
    const write = async (more: object) => {
      await sessions.theirs(createEvent({ author: 'user', turnId: 't', ...more }));
      await live.catchUp();
      return heard.splice(0);
    };
    const abort = { reason: 'r', epoch: lease.epoch };
    expect(await write({ actions: { abort } })).toEqual([{ abort: { reason: 'r' } }]);
    expect(await write({ actions: { abort: { reason: 'r', requestId: 'c1' } } })).toEqual([
      { abort: { reason: 'r', requestId: 'c1' } },
    ]);
    expect(await write({ actions: { abort: { reason: 'r', epoch: lease.epoch + 1 } } })).toEqual([]);
    expect(await write({ actions: { abort }, turnId: 'other' })).toEqual([]);
    expect(await write({ actions: { abort }, streamId: 'own' })).toEqual([]);
    expect(await write({ actions: { answers: { 'c1#0': { action: 'accept' } } } })).toEqual([{}]);
    expect(await write({ content: { role: 'user', parts: [] } })).toEqual([{}]);
    expect(await write({})).toEqual([]);
    expect(await write({ actions: { end: { reason: 'completed' } } })).toEqual([]);
    expect(await write({ actions: { abort } })).toEqual([]);
    stop?.();
    expect(await write({ content: { role: 'user', parts: [] } })).toEqual([]);
    await lease.release();
  });

  test('is nothing where nobody else writes', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key);
    expect(heedLog(await LiveSession.open(sessions, key), () => {}, {})).toBeUndefined();
  });
});

describe('an end that is shown once its session is given back', () => {
  const end = (streamId: string) => note(`end ${streamId}`, { streamId, actions: { end: { reason: 'completed' } } });

  function showing(holders: (number | undefined | Error)[]) {
    const shown: string[] = [];
    const warnings: string[] = [];
    const holder = async () => {
      const next = holders.length > 1 ? holders.shift() : holders[0];
      if (next instanceof Error) throw next;
      return next;
    };
    const ends = new EndsGivenBack(
      { holder, key } as never,
      ({ id }) => shown.push(id),
      (message) => warnings.push(message),
    );
    return { shown, warnings, ends };
  }
  const until = async (is: () => boolean) => {
    for (let turn = 0; turn < 500 && !is(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(is()).toBe(true);
  };

  test('waits as long as the same holder has it, and what belongs to it waits behind', async () => {
    const { shown, ends } = showing([1, 1, 1, undefined]);
    ends.show(note('a', { streamId: 'x' }));
    ends.show(end('x'));
    ends.show(note('b', { streamId: 'x' }));
    ends.show(note('c'));
    expect(shown).toEqual(['a']);
    await until(() => shown.length === 4);
    expect(shown).toEqual(['a', 'end x', 'b', 'c']);
  });

  test('is shown where another has it, or another stream has begun', async () => {
    const { shown, ends } = showing([1, 2]);
    ends.show(end('x'));
    await until(() => shown.length === 1);
    const next = showing([1]);
    next.ends.show(end('x'));
    next.ends.show(note('a', { streamId: 'y' }));
    expect(next.shown).toEqual(['end x', 'a']);
    next.ends.stop();
  });

  test('is shown where nobody can say, and not at all where nobody reads', async () => {
    const { shown, warnings, ends } = showing([new Error('away')]);
    ends.show(end('x'));
    await until(() => shown.length === 1);
    expect(warnings).toEqual([expect.stringContaining('could not be read')]);
    const left = showing([undefined]);
    left.ends.show(end('x'));
    left.ends.stop();
    await settled();
    expect(left.shown).toEqual([]);
  });
});
