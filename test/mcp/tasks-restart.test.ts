import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';
import { ask, get, once, task, toAll, update } from './task-client.ts';

/** How often the server is killed: `COXSWAIN_TASK_RESTARTS=100 npx vitest test/mcp/tasks-restart`. */
const ROUNDS = Number(process.env.COXSWAIN_TASK_RESTARTS ?? 1);

test(
  `MCT-20 the server is killed between poll and poll, ${ROUNDS} times: a task that works goes on, one that waits waits, and each ends once`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-tasks-'));
    let child: Child | undefined;
    onTestFinished(async () => {
      await child?.kill();
      rmSync(folder, { recursive: true });
    });
    const read = (name: string) => readFileSync(join(folder, name), { encoding: 'utf8', flag: 'a+' });
    const start = async () => {
      child = startChild(join('..', 'mcp', 'task-server.ts'), join(folder, 'shop.db'), folder);
      return (await child.next()) ?? '';
    };
    const begun = async (times: number) => {
      while (read('begun').length < times) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    let url = await start();
    const waiting = await task(url, 'call pay {"amount": 5}');
    const asked = await once(url, waiting.taskId, 'input_required');
    const made = await ask(url, 'tools/call', { name: 'slow', arguments: { prompt: 'think' } });
    const working = String(made.result?.taskId);
    await begun(1);
    for (let round = 1; round <= ROUNDS; round++) {
      await child?.kill();
      url = await start();
      expect(await get(url, waiting.taskId)).toEqual(asked);
      expect(await get(url, working)).toMatchObject({ taskId: working, status: 'working' });
      // Nobody but the poll has woken it.
      await begun(round + 1);
    }
    writeFileSync(join(folder, 'enough'), '');
    const done = await once(url, working, 'completed');
    expect(done.result?.content[0]?.text).toBe('enough');
    expect(done.createdAt).toBe(made.result?.createdAt);
    await update(url, waiting.taskId, toAll(asked, 'allow'));
    const paid = await once(url, waiting.taskId, 'completed');
    await child?.kill();
    url = await start();
    expect(await get(url, waiting.taskId)).toEqual(paid);
    expect(await get(url, working)).toEqual(done);
    expect(read('paid')).toBe('5\n');
    expect(read('begun')).toHaveLength(ROUNDS + 1);
  },
  60_000 + ROUNDS * 10_000,
);
