import { expect, test } from 'vitest';
import { mcpToolset } from '../../src/adapters/tools/mcp.ts';
import type { McpServeOptions } from '../../src/host/mcp/index.ts';
import { createMcpHttp, serveMcpHttp } from '../../src/host/mcp/index.ts';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { puppet } from './agents.ts';
import { connect, textOf } from './clients.ts';
import { Foreign, serveForeign } from './foreign.ts';
import { openShop } from './kit.ts';
import { json, RawServer, said } from './raw-server.ts';

/** A timer that is set further off than 24 days fires at once; what it would cut short takes longer than that. */
const MONTH = 30 * 86_400_000;
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 30));

test.each(['v2-2025', 'v1'] as const)('%s: whoever gives people a month waits for them', async (kind) => {
  await using shop = await openShop({ mcp: { answerMs: MONTH, progressMs: MONTH } });
  const onElicit = async () => {
    await aWhile();
    return { action: 'accept', content: { decision: 'allow' } } as const;
  };
  const heard: number[] = [];
  await using client = await connect(kind, shop, { onElicit });
  const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
  const result = await client.call('puppet', { prompt: 'call pay {"amount": 5}' }, { onprogress });
  expect(textOf(result)).toBe('got {"content":"paid 5"}');
  // At the start, at the call and at the question.
  expect(heard).toEqual([1, 2, 3]);
});

test.each([MONTH, Number.POSITIVE_INFINITY])('a server is given %s ms to be silent, or to connect', async (ms) => {
  await using server = await RawServer.start({
    behaviours: [
      (response, { id }) => void aWhile().then(() => json(response, { jsonrpc: '2.0', id, result: said('paid') })),
    ],
  });
  await using toolset = mcpToolset({ url: server.url, idleMs: ms, connectMs: ms });
  await toolset.tools();
  const result = await toolset.execute({ callId: 'c', name: 'pay', args: {} }, new AbortController().signal);
  expect(result).toEqual(said('paid'));
});

test.each([MONTH, Number.POSITIVE_INFINITY, 60_000.5])(
  'ATK7-14 people who are asked by a server are given %s ms to answer',
  async (answerMs) => {
    await using served = await serveForeign(new Foreign());
    await using toolset = mcpToolset({ url: served.url, answerMs });
    // As a host does, whose people can be asked.
    await toolset.getToolsForAgent('bot');
    const elicit = async (_: unknown, signal: AbortSignal) => {
      await aWhile();
      signal.throwIfAborted();
      return { action: 'accept', content: { name: 'Ann' } } as const;
    };
    const call = { callId: 'c', name: 'ask', args: {} };
    const result = await toolset.execute(call, new AbortController().signal, { elicit, progress: () => {} } as never);
    expect(result).toMatchObject({ content: [{ text: 'accept {"name":"Ann"}' }] });
  },
);

test.each([{ idleMs: 0 }, { idleMs: Number.NaN }, { connectMs: -1 }])('mcpToolset refuses %j', (wrong) => {
  expect(() => mcpToolset({ url: 'http://localhost:1/', ...wrong })).toThrow(
    expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining('it is a number above 0') }),
  );
});

const closed = () => createHost({ app: 'shop', agents: [puppet()], tools: [], store: new InMemorySessionService() });

test.each<[McpServeOptions, string]>([
  [{ answerMs: 0 }, 'answerMs is 0'],
  [{ answerMs: Number.POSITIVE_INFINITY }, 'answerMs is without end'],
  [{ progressMs: Number.NaN }, 'progressMs is NaN'],
  [{ maxSessions: 0 }, 'maxSessions is 0'],
  [{ stateKey: 'short' }, 'stateKey has 5 bytes'],
  [{ path: 'mcp' }, 'path is "mcp"; it begins with /'],
  [{ port: 70_000 }, 'port 70000'],
  [{ allowedHosts: ['https://agents.example'] }, 'allowedHosts has "https://agents.example"'],
  [{ allowedHosts: ['agents.example:8443'] }, 'allowedHosts has "agents.example:8443"'],
  [{ allowedOrigins: ['https://app.example/page'] }, 'allowedOrigins has "https://app.example/page"'],
])('what cannot be served with is refused: %j', async (options, words) => {
  await expect(serveMcpHttp(closed(), options)).rejects.toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringContaining(words),
  });
});

test('a page is let in by its whole origin, or by the name of its host', async () => {
  const allowedOrigins = ['https://app.example', 'Other.example'];
  const mcp = await createMcpHttp(closed(), { allowedHosts: ['Agents.example'], allowedOrigins });
  const statusFor = async (origin: string) => {
    const headers = { host: 'agents.example:8443', origin };
    return (await mcp.fetch(new Request('http://agents.example:8443/mcp', { headers }))).status;
  };
  // 400: it was let in, and had no session.
  expect(await statusFor('https://app.example')).toBe(400);
  expect(await statusFor('http://other.example:81')).toBe(400);
  for (const origin of ['http://app.example', 'https://app.example:444', 'https://app.example.evil.test', 'null']) {
    expect(await statusFor(origin), origin).toBe(403);
  }
  await mcp.close();
});
