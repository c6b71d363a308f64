import { expect, test } from 'vitest';
import { EarlyEnds } from '../../src/runtime/run/early-ends.ts';
import { abortIdle } from '../../src/runtime/session/abort-idle.ts';
import { key } from './kit.ts';
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
