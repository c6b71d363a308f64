import { expect, test } from 'vitest';
import type { Agent } from '../../src/index.ts';
import { agentTool, fromAgent, ParallelAgent, run, SequentialAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bot } from '../host/kit.ts';

const say = (name: string, ...words: string[]) => bot(words, { name });
const line = (name: string, ...subAgents: Agent[]) => new SequentialAgent({ name, subAgents });
const wide = (name: string, ...subAgents: Agent[]) => new ParallelAgent({ name, subAgents });
const answer = async (agent: Agent) => {
  const session = await fromAgent(agent).open({}, { app: 'shop' });
  return (await run(session, 'go')).text;
};

test('an agent that only has branches says what they say, in the order of the tree, each its last words', async () => {
  const slow = new ScriptedModel([{ calls: [['ask', { request: 'q' }]] }, 'left after all']);
  const left = bot(slow, { name: 'left', tools: [agentTool(say('helper', 'not heard'), { name: 'ask' })] });
  expect(await answer(wide('pair', left, say('right', 'right')))).toBe('left after all\n\nright');
  const deep = wide(
    'outer',
    line('one', wide('inner', say('a', 'a'), say('b', 'b')), say('sum', 'a and b')),
    say('c', 'c'),
  );
  expect(await answer(deep)).toBe('a and b\n\nc');
  const split = wide(
    'outer',
    line('one', say('first', 'first'), wide('inner', say('a', 'a'), say('b', 'b'))),
    say('c', 'c'),
  );
  expect(await answer(split)).toBe('a\n\nb\n\nc');
});

test('what it says itself is its answer', async () => {
  expect(await answer(line('all', wide('pair', say('a', 'a'), say('b', 'b')), say('sum', 'both')))).toBe('both');
});
