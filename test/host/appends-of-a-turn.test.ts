import { expect, test } from 'vitest';
import { allowAll, InMemorySessionService } from '../../src/index.ts';
import type { AppendOptions, SessionKey, StoredEvent } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { all, bot, endOf, hostOf, say, tool } from './kit.ts';

/** Notes what each append stored, in a word an event. */
class Noting extends InMemorySessionService {
  readonly appends: string[] = [];
  reads = 0;
  /** Another process writes this before the next append of a start. */
  meanwhile: (() => Promise<unknown>) | undefined;

  override async get(key: SessionKey, options?: Parameters<InMemorySessionService['get']>[1]) {
    this.reads++;
    return super.get(key, options);
  }

  override async append(key: SessionKey, events: readonly StoredEvent[], options?: AppendOptions) {
    if (events.some(({ actions }) => actions.started)) {
      const write = this.meanwhile;
      this.meanwhile = undefined;
      await write?.();
    }
    const stored = await super.append(key, events, options);
    this.appends.push(stored.map(wordOf).join('+'));
    return stored;
  }
}

function wordOf({ actions, content }: StoredEvent): string {
  if (actions.turn) return 'input';
  if (actions.end) return `end:${actions.end.reason}`;
  if (actions.started) return 'start';
  if (actions.config) return 'update';
  if (actions.questions) return 'question';
  const [part] = content?.parts ?? [];
  if (part?.type === 'function_call') return 'call';
  return part?.type === 'function_response' ? 'result' : 'answer';
}

test('a turn without tools is two appends: its input, and its answer with its end', async () => {
  const store = new Noting();
  const { host } = hostOf(bot(['hello']), { store });
  const session = await host.open('bot');
  expect(endOf(await say(session, 'hi')).reason).toBe('completed');
  expect(store.appends).toEqual(['input', 'answer+end:completed']);
});

test('a step of a hosted tool loop is a call, its start and its result, each stored before what follows', async () => {
  const store = new Noting();
  const before: string[][] = [];
  const look = tool('look', () => {
    before.push([...store.appends]);
    return 'seen';
  });
  const { host } = hostOf(bot([{ calls: [['look', {}]] }, { calls: [['look', {}]] }, 'done']), {
    store,
    policy: allowAll(),
    tools: [look],
  });
  const session = await host.open('bot');
  const events = await say(session, 'hi');
  expect(store.appends).toEqual([
    'input',
    'call',
    'start',
    'result',
    'call',
    'start',
    'result',
    'answer+end:completed',
  ]);
  expect(before.map((appends) => appends.at(-1))).toEqual(['start', 'start']);
  // The decision is shown before the result, in the order of the log.
  const seqs = events.flatMap((event) => ('seq' in event && event.seq !== undefined ? [event.seq] : []));
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(new Set(seqs).size).toBe(9);
});

test('a further step of a hosted tool loop reads the log once', async () => {
  const reads = async (steps: number) => {
    const store = new Noting();
    const script = [...Array.from({ length: steps }, (): Script => ({ calls: [['look', {}]] })), 'done'];
    const { host } = hostOf(bot(script), { store, policy: allowAll(), tools: [tool('look', () => 'seen')] });
    const session = await host.open('bot');
    expect(endOf(await say(session, 'hi')).reason).toBe('completed');
    return store.reads;
  };
  expect((await reads(5)) - (await reads(2))).toBe(3);
});

test('a turn that pauses for a person reads the log when it begins, and when it has let the session go', async () => {
  const store = new Noting();
  const asked = tool('pay', () => 'paid', { needsApproval: true });
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }]), { store, policy: allowAll(), tools: [asked] });
  const session = await host.open('bot');
  const before = store.reads;
  expect(endOf(await all(session.stream('hi'))).reason).toBe('input_required');
  expect(store.reads - before).toBe(2);
  expect(store.appends).toEqual(['input', 'call', 'question']);
});

test('a start that others have written before is stored behind what they wrote, and both are shown', async () => {
  const store = new Noting();
  const runs: string[] = [];
  const { host } = hostOf(bot([{ calls: [['look', {}]] }, 'done']), {
    store,
    policy: allowAll(),
    tools: [tool('look', () => void runs.push('look'))],
  });
  const session = await host.open('bot');
  const other = await hostOf(bot(['unused']), { store }).host.open('bot', { sessionId: session.id });
  store.meanwhile = () => other.update({ title: 'seen' });
  const events = await say(session, 'hi');
  expect(endOf(events).reason).toBe('completed');
  expect(runs).toEqual(['look']);
  expect(store.appends.slice(0, 4)).toEqual(['input', 'call', 'update', 'start']);
  expect(events.map(({ type }) => type)).toContain('session_update');
});
