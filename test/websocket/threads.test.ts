import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { allowAll, ParallelAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot, door, endOf, hostOf, tool } from '../host/kit.ts';
import { all, client, logOf, serving } from './kit.ts';

const placed = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.seq === undefined ? [] : [[event.id, event.threadId, event.agentId]]));

test('threads cross the wire as they are; one of them can be spoken to and ended', async () => {
  const [running, done] = [door(), door<string>()];
  const work = tool('work', () => {
    running.open();
    return done.opened;
  });
  const model = new ScriptedModel({
    byAgent: { left: [{ calls: [['work']] }], right: [{ calls: [['work']] }, 'right'] },
  });
  const pair = new ParallelAgent({
    name: 'pair',
    subAgents: [bot(model, { name: 'left', tools: [work] }), bot(model, { name: 'right', tools: [work] })],
  });
  const { host } = hostOf(pair, { policy: allowAll() });
  const remote = await client(await serving(host));
  const session = await remote.open('pair', { sessionId: 's', create: true });
  const streaming = all(session.stream('go'));
  await running.opened;
  expect(await session.steer({ content: 'right on', threadId: 'pair.right' })).toMatchObject({
    disposition: 'current_turn',
  });
  await session.abort({ threadId: 'pair.left' });
  done.open('done');
  const events = await streaming;
  expect(endOf(events).reason).toBe('completed');
  expect(placed(await logOf(session)).slice(0, -1)).toEqual(placed(events).slice(0, -1));
  const ends = events.flatMap((event) =>
    event.type === 'custom' && event.kind === 'agent_completed' ? [[event.threadId, event.data]] : [],
  );
  expect(ends).toEqual([
    ['pair.left', { agent: 'left', path: '/0', aborted: true }],
    ['pair.right', { agent: 'right', path: '/1' }],
  ]);
  expect(JSON.stringify(model.requests.at(-1))).toContain('right on');
});
