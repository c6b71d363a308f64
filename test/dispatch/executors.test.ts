import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { minimalExecutor } from '../../examples/executors/minimal.ts';
import { stubExecutor } from '../../examples/executors/stub.ts';
import { toolCapableExecutor } from '../../examples/executors/tool-capable.ts';
import type { DispatchExecutorFn } from '../../src/dispatch/index.ts';
import { dispatchAgent, SpooledArtifact, Tool, toolCallChecksum } from '../../src/dispatch/index.ts';
import { fromAgent } from '../../src/index.ts';
import { collect } from '../runtime/kit.ts';
import { root } from '../structure/source.ts';
import type { Reply } from './chat-server.ts';
import { asks, ChatServer, delta, sse, words } from './chat-server.ts';
import { conversation, desk, message } from './kit.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function serve(...replies: Reply[]): Promise<ChatServer> {
  const server = await ChatServer.start(...replies);
  vi.stubEnv('CHAT_COMPLETIONS_ENDPOINT', server.endpoint);
  vi.stubEnv('API_KEY', 'sk-test');
  vi.stubEnv('MODEL_ID', 'small');
  return server;
}

const hello = () => conversation(message('u', 'Hello?', 'user'));
const clock = new Tool({ name: 'clock', description: 'Tells the time.', handler: () => 'noon' });
const add = new Tool({
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  handler: (args) => ({ sum: Number(args.a) + 1 }),
});

test('S4-27 the stub completes a turn', async () => {
  expect((await desk(stubExecutor).runner.run()).status).toBe('ack');
});

describe('the minimal executor', () => {
  test('S4-28 streams an answer whose lines are cut anywhere', async () => {
    const whole = words('Hel', 'lo ü').join('');
    const pieces = Array.from({ length: Math.ceil(whole.length / 7) }, (_, n) => whole.slice(n * 7, n * 7 + 7));
    await using server = await serve([': comment\n', ...pieces]);
    const { runner, records, seen } = desk(minimalExecutor, {}, hello());
    expect((await runner.run()).status).toBe('ack');
    expect([...records.message].at(-1)).toMatchObject({ role: 'assistant', content: 'Hello ü' });
    expect(seen.message.map(({ aDelta }) => aDelta)).toEqual(['Hel', 'lo ü', '']);
    expect(seen.message.at(-1)).toMatchObject({ full: 'Hello ü', isComplete: true });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-test');
    expect(server.requests[0]?.body).toEqual({
      model: 'small',
      stream: true,
      messages: [{ role: 'user', content: 'Hello?' }],
    });
  });

  test('S4-28 a status that is no success is a nack', async () => {
    await using _ = await serve({ status: 503 });
    expect(await desk(minimalExecutor, {}, hello()).runner.run()).toMatchObject({
      status: 'nack',
      error: { message: expect.stringContaining('503') },
    });
  });

  test('S4-41 an abort closes the connection', async () => {
    await using server = await serve('hangs');
    const turnAbortController = new AbortController();
    const run = desk(minimalExecutor, {}, hello()).runner.run({ turnAbortController });
    const { left } = await server.hanging.opened;
    turnAbortController.abort();
    expect((await run).status).toBe('aborted');
    await left;
  });
});

describe('the executor with tools', () => {
  test('S4-22 S4-29 calls in pieces, out of order, are joined by index, run, stored and sent back', async () => {
    const piece = (index: number, more: Record<string, unknown>) => delta({ tool_calls: [{ index, ...more }] });
    await using server = await serve(
      [
        piece(1, { id: 'c2', function: { name: 'clock', arguments: '' } }),
        piece(0, { id: 'c1', function: { name: 'add', arguments: '{"a"' } }),
        piece(0, { function: { arguments: ':2}' } }),
        sse('[DONE]'),
      ],
      words('Three, at noon.'),
    );
    const { runner, records, seen } = desk(toolCapableExecutor, { tools: [clock, add] }, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 1 });
    const second = server.requests[1]?.body.messages;
    expect(second?.slice(1)).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"sum":3}' },
      { role: 'tool', tool_call_id: 'c2', content: 'noon' },
    ]);
    const checksum = toolCallChecksum('add', { a: 2 });
    const [sum, time] = records.toolCall;
    expect(sum).toMatchObject({
      id: 'c1',
      checksum,
      tool: 'add',
      args: { a: 2 },
      results: { sum: 3 },
      isComplete: true,
    });
    expect(time?.results).toBeInstanceOf(SpooledArtifact);
    expect(seen.toolCall.map(({ id, isComplete }) => [id, isComplete])).toEqual([
      ['c1', false],
      ['c1', true],
      ['c2', false],
      ['c2', true],
    ]);
    expect(seen.toolExecutionStart[0]?.callId).toBe(checksum);
    expect([...records.message].at(-1)?.content).toBe('Three, at noon.');
  });

  test('S4-30 S4-31 tools are declared by their schemas', async () => {
    await using server = await serve(words('ok'));
    await desk(toolCapableExecutor, { tools: [add] }, hello()).runner.run();
    expect(server.requests[0]?.body.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'add',
          description: 'Adds.',
          parameters: expect.objectContaining({ properties: { a: { type: 'number' } }, required: ['a'] }),
        },
      },
    ]);
  });

  test('a tool that is not there is a nack', async () => {
    await using _ = await serve(asks(['c', 'none', '{}']));
    expect(await desk(toolCapableExecutor, {}, hello()).runner.run()).toMatchObject({ status: 'nack' });
  });

  test('the same function as an agent: policy, approval, and the answer after it', async () => {
    await using server = await serve(
      [delta({ content: 'Let me look.' }), ...asks(['c1', 'clock', '{}'])],
      words('It is ', 'noon.'),
    );
    const agent = dispatchAgent({ name: 'byo', executor: toolCapableExecutor, tools: [clock] });
    const policy = { evaluate: () => ({ outcome: 'ask' as const }) };
    const session = await fromAgent(agent).open({ sessionId: 's', create: true }, { app: 'a', policy });
    const first = await collect(session.stream('What time is it?'));
    expect(first.at(-1)).toMatchObject({ reason: 'input_required' });
    expect(server.requests).toHaveLength(1);
    const [request] = await session.pending();
    await session.respond(request?.requestId ?? '', { kind: 'approve' });
    const second = await collect(session.stream({ kind: 'continue' }));
    expect(second.at(-1)).toMatchObject({ reason: 'completed' });
    expect(second.filter((event) => event.type === 'message' && event.partial)).toHaveLength(2);
    expect(server.requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'noon' });
  });
});

test('S4-03 a remote agent as an executor', async () => {
  await using server = await serve(words('from afar'));
  const remote: DispatchExecutorFn = async (ctx) => {
    const body = JSON.stringify({ messages: [] });
    const answer = await fetch(server.endpoint, { method: 'POST', body, signal: ctx.abortSignal });
    await ctx.storeMessage(message('m', (await answer.text()).includes('afar') ? 'ok' : ''));
    ctx.ack();
  };
  const { runner, records } = desk(remote);
  expect((await runner.run()).status).toBe('ack');
  expect(records.message.size).toBe(1);
});

test('the command runs as its page says', async () => {
  await using server = await serve(asks(['c1', 'clock', '{}']), words('Now.'));
  const script = join(root, 'examples', 'executors', 'main.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', './scripts/from-source.ts', script, 'When?'],
    { cwd: root, env: process.env },
  );
  expect(stdout).toBe('Now.\n');
  expect(server.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'When?' }]);
});
