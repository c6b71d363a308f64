import { expect, test } from 'vitest';
import { LiveSession, ParallelAgent } from '../../src/runtime/index.ts';
import { EarlyEnds } from '../../src/runtime/run/early-ends.ts';
import { abortIdle } from '../../src/runtime/session/abort-idle.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Flow, settled } from './flow.ts';
import { gate, key, llm, tool } from './kit.ts';
import { opened } from './shared-store.ts';

test('MUT-R22 a run is waited for until what was ended early has ended, and not longer', async () => {
  let lets = 0;
  const ends = new EarlyEnds({ letIn: () => void lets++ });
  const [ended, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reasons: unknown[] = [];
  const over = ends.branch('th', { stop: (reason) => void reasons.push(reason), ended: ended.promise });
  const waits = [ends.abortBranch('th', 'enough'), ends.await(failed.promise)];
  expect([reasons, lets, ends.areWaitedFor]).toEqual([['enough'], 2, true]);
  ended.resolve();
  await waits[0];
  expect(ends.areWaitedFor).toBe(true);
  failed.reject(new Error('away'));
  await expect(waits[1]).rejects.toThrow('away');
  expect(ends.areWaitedFor).toBe(false);
  over();
  expect(ends.abortBranch('th', 'again')).toBeUndefined();
});

test('MUT-R23 a session that is over is aborted without being taken, whoever has it', async () => {
  const { live, sessions, log } = await opened((f) => f.act({ end: { reason: 'completed' } }));
  await sessions.acquire(key);
  const before = (await log()).length;
  await abortIdle(live, 'bot', 'enough');
  expect(await log()).toHaveLength(before);
});

test('MUT-R33 a call that has ended is ended at once by who asks for it, while others of its batch run', async () => {
  const slow = gate();
  const tools = [tool('quick', () => 1), tool('slow', () => slow.opened)];
  const model = new ScriptedModel([{ calls: [['quick'], ['slow']] }, 'done']);
  const flow = await Flow.open(llm('bot', model, { tools }));
  const { end } = await flow.stream('hi', {
    watch: (event) => {
      if (event.type !== 'tool_response') return;
      const { requestId } = event;
      // Not amid the event that has its response: it runs until that is taken.
      void settled().then(async () => {
        await flow.session.abort({ requestId, reason: 'enough' });
        slow.open();
      });
    },
  });
  expect(end.reason).toBe('completed');
  expect(await flow.outcomes()).toEqual(['quick: ok', 'slow: ok']);
});

test('MUT-R34 what waits in memory in a branch is let go with it, and nothing beside it', async () => {
  const begun = gate();
  const work = tool('work', () => {
    begun.open();
    return new Promise(() => {});
  });
  const left = llm('left', new ScriptedModel([{ calls: [['work']] }]), { tools: [work] });
  const pair = new ParallelAgent({ name: 'pair', subAgents: [left, llm('right', new ScriptedModel(['done']))] });
  const flow = await Flow.open(pair);
  const streaming = flow.stream('go');
  await begun.opened;
  const live = await LiveSession.open(flow.sessions, flow.key);
  const released: string[] = [];
  for (const path of ['/0', '/0/deep', '/1']) {
    live.held.set(path, { release: (reason) => void released.push(`${path} ${String(reason)}`) });
  }
  await flow.session.abort({ threadId: 'pair.left', reason: 'enough' });
  expect(released).toEqual(['/0', '/0/deep'].map((path) => expect.stringMatching(`^${path} .*enough`)));
  expect((await streaming).end.reason).toBe('completed');
});
