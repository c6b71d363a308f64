import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AnyTool, PolicyRequest, SchemaLike } from '../../src/contracts/index.ts';
import { defineTool, InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, ofType, policyOf, say } from './kit.ts';

const command = z.object({
  cmd: z
    .string()
    .trim()
    .transform((text) => text.normalize('NFKC').toLowerCase()),
});
const sent = { cmd: '  ＲＭ -rf /' };
const taken = { cmd: 'rm -rf /' };

const where = [
  ['a tool of the host', (tool: AnyTool) => ({ agent: {}, host: { tools: [tool] } })],
  ["an agent's own tool", (tool: AnyTool) => ({ agent: { tools: [tool] }, host: {} })],
] as const;

describe.each(where)(
  'ATT-B7 what a schema makes of arguments is what is judged, shown, logged and run: %s',
  (_, at) => {
    test('policy sees it', async () => {
      const { tool, runs } = notingTool('sh', { inputSchema: command });
      const policy = policyOf({
        sh: ({ args }: PolicyRequest) => ({ outcome: /^rm/.test(String(args?.cmd)) ? 'deny' : 'allow' }),
      });
      const { agent, host: options } = at(tool);
      const { host } = hostOf(bot([{ calls: [['sh', sent]] }, 'done'], agent), { ...options, policy });
      await say(await host.open('bot'), 'go');
      expect([runs, policy.asked.map(({ args }) => args)]).toEqual([[], [taken]]);
    });

    test('a person sees it, and a host that is started again runs it', async () => {
      const store = new InMemorySessionService();
      const { tool, runs } = notingTool('sh', { inputSchema: command });
      const { agent, host: options } = at(tool);
      const policy = policyOf({ sh: 'ask' });
      const first = hostOf(bot([{ calls: [['sh', sent]] }], agent), { ...options, policy, store });
      const session = await first.host.open('bot');
      await say(session, 'go');
      const [question] = await session.pending();
      expect(question?.args).toEqual(taken);
      await session.respond(question?.requestId ?? '', { kind: 'approve' });
      const again = hostOf(bot(['done'], agent), { ...options, policy, store });
      const resumed = await again.host.open('bot', { sessionId: session.id });
      const events = await say(resumed, { kind: 'continue' });
      expect(runs).toEqual([taken]);
      expect(ofType(events, 'tool_response')).toHaveLength(1);
    });

    test('what a person edits is taken by the schema once, and judged then', async () => {
      const { tool, runs } = notingTool('sh', { inputSchema: command });
      const { agent, host: options } = at(tool);
      const policy = policyOf({
        sh: ({ args }: PolicyRequest) => ({ outcome: /^rm/.test(String(args?.cmd)) ? 'deny' : 'ask' }),
      });
      const { host } = hostOf(bot([{ calls: [['sh', { cmd: 'ls' }]] }, 'done'], agent), { ...options, policy });
      const session = await host.open('bot');
      await say(session, 'go');
      const [question] = await session.pending();
      await session.respond(question?.requestId ?? '', { kind: 'approve', args: sent });
      await say(session, { kind: 'continue' });
      expect(runs).toEqual([]);
    });
  },
);

describe.each(where)('ATT-B7 what a person edits: %s', (_, at) => {
  const lower = z.object({ cmd: z.string().trim().toLowerCase() });

  test('is stored, judged and run as the schema takes it', async () => {
    const { tool, runs } = notingTool('sh', { inputSchema: lower });
    const { agent, host: options } = at(tool);
    const policy = policyOf({ sh: 'ask' });
    const { host } = hostOf(bot([{ calls: [['sh', { cmd: 'ls' }]] }, 'done'], agent), { ...options, policy });
    const session = await host.open('bot');
    await say(session, 'go');
    const [question] = await session.pending();
    await session.respond(question?.requestId ?? '', { kind: 'approve', args: { cmd: '  PWD ' } });
    const events = await say(session, { kind: 'continue' });
    expect(runs).toEqual([{ cmd: 'pwd' }]);
    expect(policy.asked.at(-1)?.args).toEqual({ cmd: 'pwd' });
    expect(ofType(events, 'tool_response').map(({ errorType }) => errorType)).toEqual([undefined]);
  });

  test('ATT-B3 has one allowance a turn, however often it is tried', async () => {
    const pattern = '^(?:[a-f]+[0-9]*|x)*$';
    const items = { type: 'string', pattern };
    const inputSchema = { type: 'object', properties: { q: { type: 'array', items } } };
    const { tool, runs } = notingTool('sh', { inputSchema });
    const { agent, host: options } = at(tool);
    const policy = policyOf({ sh: 'ask' });
    const calls = Array.from({ length: 6 }, () => ['sh', { q: ['a'] }] as const);
    const { host } = hostOf(bot([{ calls }, { calls }], agent), { ...options, policy });
    const session = await host.open('bot');
    const edits = async (most: number) => {
      await say(session, 'go');
      const fates: unknown[] = [];
      for (const { requestId } of (await session.pending()).slice(0, most)) {
        const args = { q: Array.from({ length: 40 }, () => 'abc1'.repeat(2000)) };
        const answer = session.respond(requestId, { kind: 'approve', args });
        fates.push(
          await answer.then(
            ({ status }) => status,
            ({ message }: Error) => /take too long/.test(message),
          ),
        );
      }
      return fates;
    };
    const first = await edits(6);
    expect([first[0], first.at(-1)]).toEqual(['settled', true]);
    await session.abort();
    expect(await edits(1)).toEqual(['settled']);
    expect(runs).toEqual([]);
  });
});

describe.each(where)('REV-F1 a call that its schema refuses does not run: %s', (_, at) => {
  const inputSchema = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] };
  const refuses = (value: unknown) => {
    const { to } = value as { to: string };
    return to.startsWith('eve@') ? { issues: [{ message: 'not to eve', path: ['to'] }] } : { value };
  };
  const standard = (validate: (value: unknown) => unknown) =>
    Object.assign(() => {}, {
      '~standard': { version: 1, vendor: 'by-hand', validate, jsonSchema: { input: () => inputSchema } },
    }) as unknown as SchemaLike;

  test.each([
    ['at once', refuses],
    ['later', async (value: unknown) => refuses(value)],
  ])('%s', async (__, validate) => {
    const runs: unknown[] = [];
    const tool = defineTool({
      name: 'send',
      description: 'sends',
      inputSchema: standard(validate),
      execute: (args) => {
        runs.push(args);
        return 'sent';
      },
    }) as AnyTool;
    const { agent, host: options } = at(tool);
    const model = [{ calls: [['send', { to: 'eve@x' }]] }, { calls: [['send', { to: 'ann@x' }]] }, 'done'] as const;
    const { host } = hostOf(bot(model as never, agent), { ...options, policy: policyOf({}) });
    const events = await say(await host.open('bot'), 'go');
    expect(runs).toEqual([{ to: 'ann@x' }]);
    expect(ofType(events, 'tool_response').map(({ isError }) => isError ?? false)).toEqual([true, false]);
  });
});

test('ATT-B3 the calls of one turn have one allowance, however many a model makes', async () => {
  const { tool, runs } = notingTool('t', {
    inputSchema: {
      type: 'object',
      properties: { q: { type: 'string', pattern: '^(.*)(.*)(.*)a$', default: 'a'.repeat(200_000) } },
    },
  });
  const calls = Array.from({ length: 30 }, () => ['t', {}] as [string, object]);
  const { host } = hostOf(bot([{ calls: calls as never }, 'done'], { tools: [tool] }), { policy: policyOf({}) });
  const events = await say(await host.open('bot'), 'go');
  const refused = ofType(events, 'tool_response').filter(({ isError }) => isError);
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.length + refused.length).toBe(30);
  expect(refused.length).toBeGreaterThan(20);
  expect(JSON.stringify(refused[0])).toContain('would take too long');
});

test('ATT-B3 sibling: what host tools call in turn has one allowance, too', async () => {
  const { tool, runs } = notingTool('t', {
    inputSchema: {
      type: 'object',
      properties: { q: { type: 'string', pattern: '(x|.*)(y|.*)a$', default: 'a'.repeat(150_000) } },
    },
  });
  const lead = defineTool({
    name: 'lead',
    description: 'leads',
    inputSchema: { type: 'object', properties: {} },
    makesTailCalls: true,
    execute: () => ({ content: [], tailCalls: Array.from({ length: 8 }, () => ({ name: 't', args: {} })) }),
  }) as AnyTool;
  const calls = Array.from({ length: 4 }, () => ['lead', {}]) as never;
  const { host } = hostOf(bot([{ calls }, 'done'], {}), { tools: [tool, lead], policy: policyOf({}) });
  const events = await say(await host.open('bot'), 'go');
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.length).toBeLessThan(16);
  expect(JSON.stringify(ofType(events, 'tool_response'))).toContain('would take too long');
});
