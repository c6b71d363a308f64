import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import { agentTool, ParallelAgent, SequentialAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { llm, tool } from './kit.ts';

const askedFor = (name: string) => ({ calls: [[name, { request: 'go' }] as const] });

test('S3-65 a question inside of agents run as tools names every agent above it, for host and runtime alike', async () => {
  const asked: string[] = [];
  const team = () => {
    const model = new ScriptedModel({
      byAgent: {
        left: [askedFor('ask_outer')],
        outer: [askedFor('inner')],
        desk: [{ calls: [['transfer_to_agent', { agent_name: 'clerk' }]] }],
        clerk: [{ calls: [['pay', { n: 1 }]] }, 'paid'],
      },
    });
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const pay = tool('pay', () => 'paid', { inputSchema: schema });
    const desk = llm('desk', model, { subAgents: [llm('clerk', model, { tools: [pay] })] });
    const inner = new SequentialAgent({ name: 'inner', subAgents: [desk] });
    const outer = llm('outer', model, { tools: [agentTool(inner)] });
    const left = llm('left', model, { tools: [agentTool(outer, { name: 'ask_outer' })] });
    return new SequentialAgent({ name: 'all', subAgents: [new ParallelAgent({ name: 'both', subAgents: [left] })] });
  };
  const path = ['all', 'both', 'left', 'outer', 'inner', 'desk', 'clerk'];
  const policy = {
    evaluate: ({ action, principalPath }: { action: string; principalPath?: string[] }) => {
      if (action === 'pay') asked.push(principalPath?.join('/') ?? '');
      return { outcome: action === 'pay' ? ('ask' as const) : ('allow' as const) };
    },
  };
  const session = await fromAgent(team()).open({}, { app: 'shop', policy });
  await run(session, 'pay');
  const [question] = await session.pending();
  expect(question?.agentPath).toEqual(path);
  expect(asked).toEqual([path.join('/')]);
  // Its tool is known there too: F23 arguments that a person edits are checked before they are stored, however they come.
  const edited = session.respond(String(question?.requestId), { kind: 'approve', args: { n: 'one' } });
  await expect(edited).rejects.toMatchObject({ code: 'E_WRONG_ANSWER' });
  const streamed = run(session, {
    kind: 'tool_approval',
    requestId: String(question?.requestId),
    args: { n: 'one' },
  });
  await expect(streamed).rejects.toMatchObject({ code: 'E_WRONG_ANSWER' });
  // Nothing was stored: the question is still open.
  expect(await session.pending()).toEqual([question]);
});
