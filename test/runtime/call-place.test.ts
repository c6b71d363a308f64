import { describe, expect, test } from 'vitest';
import { assertCallOfAgent, checkEdited, placeOfCall } from '../../src/runtime/agent/index.ts';
import type { CallState } from '../../src/runtime/index.ts';
import { AgentTree, agentTool } from '../../src/runtime/index.ts';
import { Folding } from './folding.ts';
import { llm, tool } from './kit.ts';

const pay = tool('tool c2', () => 1, {
  inputSchema: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
});
const clerk = llm('clerk', undefined, {
  description: 'a clerk',
  subAgents: [llm('till', undefined, { tools: [pay] })],
});
const caller = Object.assign(agentTool(clerk), { name: 'tool c1' });
const tree = new AgentTree(llm('bot', undefined, { tools: [caller], subAgents: [llm('helper', undefined)] }));

const callOf = (f: Folding, id: string) => f.fold.callOf(id) as CallState;
const placeOf = (f: Folding, id: string) => {
  const { path, agent } = placeOfCall(tree, f.fold, callOf(f, id));
  return [path, agent?.name];
};

describe('MUT-R28 where a call was made', () => {
  test('is the place of its agent in the tree, and of one that is gone its name', () => {
    const f = new Folding();
    f.call(['c1']);
    f.call(['c2'], { author: 'helper' });
    f.call(['c3'], { author: 'gone' });
    expect(['c1', 'c2', 'c3'].map((id) => placeOf(f, id))).toEqual([
      [['bot'], 'bot'],
      [['bot', 'helper'], 'helper'],
      [['gone'], undefined],
    ]);
  });

  test('of an agent that is run as a tool goes on from its caller', () => {
    const f = new Folding();
    f.call(['c1', 'c9']);
    f.call(['c2'], { author: 'till', iso: '/c1', path: '/c1' });
    f.call(['c3'], { author: 'till', iso: '/c9', path: '/c9' });
    f.call(['c4'], { author: 'till', iso: '/lost', path: '/lost' });
    expect(['c2', 'c3', 'c4'].map((id) => placeOf(f, id))).toEqual([
      [['bot', 'clerk', 'till'], 'till'],
      [['bot', 'till'], undefined],
      [['bot', 'till'], undefined],
    ]);
  });

  test('of a turn of another agent is that one’s, and nothing is asked of it here', () => {
    const f = new Folding();
    f.act({ turn: { start: 'other' } }, { turnId: 'u' });
    f.call(['c1'], { author: 'other', turnId: 'u' });
    f.call(['c2'], { author: 'till', turnId: 'u' });
    expect(['c1', 'c2'].map((id) => placeOf(f, id))).toEqual([
      [['other'], undefined],
      [['other', 'till'], undefined],
    ]);
    const diverged = expect.objectContaining({ code: 'E_REPLAY_DIVERGED', details: { agent: 'bot' } });
    expect(() => assertCallOfAgent(tree, f.fold, 'c1')).toThrow(diverged);
    expect(() => assertCallOfAgent(tree, f.fold, 'nothing')).not.toThrow();
    const own = new Folding();
    own.call(['c1']);
    expect(() => assertCallOfAgent(tree, own.fold, 'c1')).not.toThrow();
  });

  test('says by which schema edited arguments are looked at; without one they are as they were given', async () => {
    const f = new Folding();
    f.call(['c1', 'c9']);
    f.call(['c2'], { author: 'till', iso: '/c1', path: '/c1' });
    const edit = (id: string, args: Record<string, unknown>) => checkEdited(tree, f.fold, callOf(f, id), args);
    expect(await edit('c2', { euros: 3 })).toEqual({ euros: 3 });
    expect(await edit('c9', { anything: 1 })).toEqual({ anything: 1 });
    await expect(edit('c2', { euros: [] })).rejects.toMatchObject({
      code: 'E_WRONG_ANSWER',
      message: expect.stringContaining('the edited arguments do not fit'),
    });
  });
});
