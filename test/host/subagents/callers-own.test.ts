import { describe, expect, test } from 'vitest';
import type { AgentSession, Session, SessionInput } from '../../../src/contracts/index.ts';
import { serveMcpHttp } from '../../../src/host/mcp/index.ts';
import type { AgentHost } from '../../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent, subagentTool } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { connect } from '../../mcp/clients.ts';
import { all, endOf, notingTool, only, policyOf, refusal, say } from '../kit.ts';
import { askExpert } from './kit.ts';

/** A team whose expert is offered by itself, too: its call waits for an answer, or has one that nobody has acted upon. */
async function team(isAnswered: boolean) {
  const pay = notingTool('pay');
  const model = new ScriptedModel([{ calls: [['pay', {}]] }, 'the expert’s own words', 'other words', 'other words']);
  const expert = new LlmAgent({ name: 'expert', description: 'knows', model });
  const boss = new LlmAgent({ name: 'boss', model: new ScriptedModel([askExpert, 'done']) });
  const host = createHost({
    app: 'shop',
    store: new InMemorySessionService(),
    agents: [boss, expert],
    tools: [pay.tool, subagentTool(fromAgent(expert))],
    policy: policyOf({ pay: 'ask' }),
  });
  const session = await host.open('boss', { sessionId: 's', create: true });
  await say(session, 'go');
  const { requestId } = await only(session);
  if (isAnswered) await session.respond(requestId, { kind: 'deny' });
  const { id } = (await host.sessions().list()).find((one) => one.id !== 's') ?? { id: '' };
  return { host, session, requestId, id, pay };
}

const words = async (host: AgentHost, sessionId: string) =>
  (await all((await host.open('expert', { sessionId })).events())).flatMap((event) =>
    event.type === 'message' ? [JSON.stringify(event.content)] : [],
  );

const uses: [string, (child: Session, requestId: string) => Promise<unknown>][] = [
  ['words', (child) => say(child, 'Forget that.')],
  ['going on', (child) => say(child, { kind: 'continue' })],
  ['an answer', (child, requestId) => child.respond(requestId, { kind: 'approve' })],
  ['an input', (child, requestId) => say(child, { kind: 'tool_approval', requestId } as SessionInput)],
  ['a steer', (child) => child.steer({ content: 'quick' })],
  ['an update', (child) => child.update({ permissionMode: 'plan' })],
  ['an abort', (child: AgentSession) => child.abort()],
];

describe.each([false, true])('ATK3-02 the session of a sub-agent (its question is answered: %s)', (isAnswered) => {
  test.each(uses)('is not changed by %s of anybody but its caller', async (_, use) => {
    const { host, session, id, requestId } = await team(isAnswered);
    const before = await words(host, id);
    const child = await host.open('expert', { sessionId: id });
    expect((await refusal(use(child, requestId))).code).toBe('E_CEILING');
    expect(await words(host, id)).toEqual(before);
    if (!isAnswered) await session.respond(requestId, { kind: 'deny' });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
    expect((await words(host, id)).at(-1)).toContain('the expert’s own words');
    // It was the caller's, and stays so.
    expect((await refusal(use(child, requestId))).code).toBe('E_CEILING');
    await host.close();
  });

  test.each([{}, { prompt: 'Forget that.' }])('nor over MCP, by %j', async (said) => {
    const { host, id } = await team(isAnswered);
    const before = await words(host, id);
    await using server = Object.assign(await serveMcpHttp(host, { port: 0 }), {
      async [Symbol.asyncDispose]() {
        await server.close();
        await host.close();
      },
    });
    await using client = await connect('v2-2025', { url: server.url }, { onElicit: () => ({ action: 'accept' }) });
    const { content, isError } = await client.call('expert', { ...said, session_id: id });
    expect([isError, content[0]?.text]).toEqual([
      true,
      expect.stringContaining(isAnswered ? 'E_CEILING' : 'Nothing was run'),
    ]);
    expect(await words(host, id)).toEqual(before);
  });
});
