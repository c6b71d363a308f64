import { describe, expect, test } from 'vitest';
import type { RunSink } from '../../src/runtime/agent/index.ts';
import { createEngine, createEvent } from '../../src/runtime/index.ts';
import { Invocation } from '../../src/runtime/run/index.ts';
import { Marks } from '../../src/runtime/run/marks.ts';
import { key, llm } from './kit.ts';
import { opened } from './shared-store.ts';

const DONE = { kind: 'done' } as const;
const began = (path: string, more: object = {}) => ({ path, agent: 'a', thread: '', ...more });
const completed = (path: string, more: object = {}) => ({ path, agent: 'a', thread: '', outcome: DONE, ...more });
const event = (more: object = {}) => createEvent({ author: 'bot', turnId: 't', ...more });

/** What the next event takes along. */
function taken(marks: Marks, more: object = {}) {
  const next = event(more);
  marks.putOn(next);
  return next.actions;
}

const pathsOf = (records: readonly { path: string }[] | undefined) => records?.map(({ path }) => path);

describe('MUT-R27 what a run has to tell of its tree', () => {
  test('goes with the next event, and with no other one', () => {
    const marks = new Marks();
    marks.began(began('/0'));
    marks.began(began('/1'));
    marks.completed(completed('/0'));
    marks.completed(completed('/1'));
    for (const path of ['/2', '/3']) marks.ran(path, 'entered');
    for (const path of ['/4', '/5']) marks.ran(path, 'exited');
    const actions = taken(marks);
    expect([actions.began, actions.completed].map(pathsOf)).toEqual([
      ['/0', '/1'],
      ['/0', '/1'],
    ]);
    expect([actions.entered, actions.exited]).toEqual([
      ['/2', '/3'],
      ['/4', '/5'],
    ]);
    const { began: b, completed: c, entered, exited } = taken(marks);
    expect([b, c, entered, exited]).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('is told once: an iteration by its number', () => {
    const marks = new Marks();
    marks.began(began('/0'));
    marks.completed(completed('/0'));
    taken(marks);
    marks.began(began('/0'));
    marks.completed(completed('/0'));
    marks.began(began('/0', { iteration: 1 }));
    marks.began(began('/0', { iteration: 2 }));
    const actions = taken(marks);
    expect(actions.began?.map(({ iteration }) => iteration)).toEqual([1, 2]);
    expect(actions.completed).toBeUndefined();
  });

  test('stands beside what the event says by itself', () => {
    const marks = new Marks();
    marks.completed(completed('/0'));
    marks.ran('/0', 'entered');
    marks.ran('/0', 'exited');
    const own = { completed: [completed('/9')], entered: ['/9'], exited: ['/9'] };
    const actions = taken(marks, { actions: own });
    expect(pathsOf(actions.completed)).toEqual(['/0', '/9']);
    expect([actions.entered, actions.exited]).toEqual([
      ['/9', '/0'],
      ['/9', '/0'],
    ]);
  });

  test('names a thread only where it is not that of its event', () => {
    const marks = new Marks();
    marks.began(began('/0', { thread: 'left' }));
    marks.began(began('/1', { thread: 'right' }));
    marks.completed(completed('/0', { thread: 'left' }));
    marks.completed(completed('/1', { thread: 'right' }));
    const actions = taken(marks, { branch: 'left' });
    expect(actions.began?.map(({ thread }) => thread)).toEqual([undefined, 'right']);
    expect(actions.completed?.map(({ thread }) => thread)).toEqual([undefined, 'right']);
  });

  test('is known before any event has taken it, and after that', () => {
    const marks = new Marks();
    marks.ran('/0', 'entered');
    marks.completed(completed('/1'));
    const known = () => [
      marks.has('/0', 'entered'),
      marks.has('/0', 'exited'),
      marks.has('/1', 'completed'),
      marks.has('/0', 'completed'),
    ];
    expect(known()).toEqual([true, false, true, false]);
    taken(marks);
    expect(known()).toEqual([true, false, true, false]);
  });

  test.each(['entered', 'exited'] as const)('where hooks have %s it is untold until an event takes it', (point) => {
    const marks = new Marks();
    expect(marks.hooksAreUntold).toBe(false);
    marks.began(began('/0'));
    marks.completed(completed('/0'));
    expect(marks.hooksAreUntold).toBe(false);
    marks.ran('/0', point);
    expect(marks.hooksAreUntold).toBe(true);
    taken(marks);
    expect(marks.hooksAreUntold).toBe(false);
  });

  test('is nothing any more of a slot that was ended: what is within it, however deep, and nothing beside it', () => {
    const marks = new Marks();
    marks.forgetWithin('/0');
    for (const path of ['/0', '/0/1', '/0~c', '/01', '/1']) {
      marks.began(began(path));
      marks.completed(completed(path));
    }
    marks.forgetWithin('/0');
    const actions = taken(marks);
    expect([actions.began, actions.completed].map(pathsOf)).toEqual([
      ['/01', '/1'],
      ['/01', '/1'],
    ]);
    marks.began(began('/2'));
    marks.completed(completed('/2'));
    marks.forgetWithin('/2');
    const { began: b, completed: c } = taken(marks);
    expect([b, c]).toEqual([undefined, undefined]);
  });
});

const nowhere: RunSink = {
  accepted() {},
  event() {},
  delta() {},
  toolUpdate() {},
  room: () => undefined,
  letIn() {},
  release() {},
};

describe('MUT-R27 a run', () => {
  const running = async () => {
    const { live, log } = await opened();
    const agent = llm('bot', undefined);
    const invocation = new Invocation(live, createEngine({ agent }, key), { streaming: false }, nowhere);
    const told = async (work: () => unknown) => {
      await invocation.beside(agent, async () => {
        await work();
        await invocation.commit([invocation.rootEvent({ author: 'bot', turnId: 't' })]);
      });
      return (await log()).at(-1)?.actions;
    };
    return { invocation, told, log };
  };

  test('tells nothing more of a slot that is ended by itself', async () => {
    const { invocation, told } = await running();
    const actions = await told(() => {
      for (const path of ['/0', '/1']) {
        invocation.began(began(path));
        invocation.completed(completed(path));
      }
      invocation.forgetWithin('/0');
    });
    expect([actions?.began, actions?.completed].map(pathsOf)).toEqual([['/1'], ['/1']]);
  });

  test('tells of a child and of an iteration where the log does not know it yet', async () => {
    const { invocation, told } = await running();
    await told(() => {
      invocation.began(began('/0'));
      invocation.began(began('/1', { iteration: 2 }));
    });
    expect(await told(() => invocation.began(began('/0')))).not.toHaveProperty('began');
    const later = await running();
    const known = await later.told(() => {
      later.invocation.fold.activation('/0').began = { agent: 'a', thread: '' };
      later.invocation.fold.activation('/1').iteration = 2;
      later.invocation.began(began('/0'));
      for (const iteration of [1, 2, 3]) later.invocation.began(began('/1', { iteration }));
      later.invocation.began(began('/2', { iteration: 0 }));
    });
    expect(known?.began?.map(({ path, iteration }) => [path, iteration])).toEqual([
      ['/1', 3],
      ['/2', 0],
    ]);
  });

  test('knows by itself and by the log which hooks have run', async () => {
    const { invocation, told, log } = await running();
    invocation.hooksRan('/0', 'entered');
    expect([invocation.haveHooksRun('/0', 'entered'), invocation.haveHooksRun('/0', 'exited')]).toEqual([true, false]);
    invocation.fold.activation('/1').exited = true;
    expect([invocation.haveHooksRun('/1', 'entered'), invocation.haveHooksRun('/1', 'exited')]).toEqual([false, true]);
    await told(() => invocation.tellHooks());
    await told(() => invocation.tellHooks());
    expect((await log()).slice(-3).map(({ actions }) => actions.entered)).toEqual([['/0'], undefined, undefined]);
  });
});
