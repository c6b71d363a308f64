import { expect, test } from 'vitest';
import type { FromAcpOptions } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { endOf, say, texts } from '../dispatch/agent-kit.ts';
import type { Frame, Told, ToldOptions } from './told-app.ts';
import { toldAgent } from './told-app.ts';

const words = (text: string): Frame => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
});
const open = (told: Told, sessions: InMemorySessionService, more: Partial<FromAcpOptions> = {}) =>
  fromAcp({ name: 'told', connect: told.connect, cwd: '/work', store: sessions, ...more }).open(
    { sessionId: 's1', create: true },
    { app: 'desk' },
  );
const methodsOf = ({ requests }: Told) => requests.map(({ method }) => method);

test('EDGE-A1 what an agent says of another session is not heard in this one, and nothing is allowed there', async () => {
  const rm = { toolCallId: 'c1', kind: 'execute' as const, title: 'rm', rawInput: { command: 'rm' } };
  const told = toldAgent([
    [
      { ...words('of somebody else'), of: 'other' } as Frame,
      { ask: rm, of: 'other', yes: [words('allowed')], no: [words('refused')] },
    ],
  ]);
  const source = fromAcp({ name: 'told', connect: told.connect, cwd: '/work' });
  const asked: string[] = [];
  const host = createHost({
    app: 'desk',
    agents: [source],
    onApproval: async ({ name = '' }) => {
      asked.push(name);
      return { kind: 'approve' };
    },
  });
  const session = await host.open('told');
  const events = await say(session, 'go');
  expect(texts(events)).toEqual(['refused']);
  expect(told.outcomes).toEqual(['cancelled']);
  expect(asked).toEqual([]);
  await session[Symbol.asyncDispose]();
});

test('IOP-A6 tokens that an agent tells at the end of a prompt stand in the log', async () => {
  const answer = {
    stopReason: 'end_turn',
    usage: {
      inputTokens: 10,
      outputTokens: 3,
      totalTokens: 13,
      cachedReadTokens: 4,
      cachedWriteTokens: 0,
      thoughtTokens: null,
    },
  };
  const told = toldAgent([[words('hi')], [words('ho')]], { answer: answer as ToldOptions['answer'] & object });
  const session = await open(told, new InMemorySessionService());
  const events = await say(session, 'go');
  expect(endOf(events)).toMatchObject({ data: { usage: { inputTokens: 10, outputTokens: 3, cachedReadTokens: 4 } } });
  expect(endOf(await say(session, 'go'))).toMatchObject({ data: { usage: { inputTokens: 10, outputTokens: 3 } } });
  await session[Symbol.asyncDispose]();
});

test.each([
  ['nothing', undefined],
  ['nonsense', { inputTokens: 'many', outputTokens: -1, totalTokens: Number.NaN }],
])('IOP-A6 an agent that tells %s of its tokens has none in the log', async (_, usage) => {
  const told = toldAgent([[words('hi')]], {
    answer: { stopReason: 'end_turn', usage } as ToldOptions['answer'] & object,
  });
  const session = await open(told, new InMemorySessionService());
  expect(endOf(await say(session, 'go'))).toMatchObject({ reason: 'completed', data: { usage: {} } });
  await session[Symbol.asyncDispose]();
});

test.each([
  ['resumed, where it can be', { sessionCapabilities: { resume: {}, close: {} }, loadSession: true }, 'session/resume'],
  ['loaded, where it can be', { loadSession: true }, 'session/load'],
  ['begun anew, where it can be neither', {}, 'session/new'],
])('IOP-A6 a known session is %s; its mode is set each time', async (_, capabilities, way) => {
  const sessions = new InMemorySessionService();
  const first = await open(toldAgent([[words('hi')]], { capabilities }), sessions, { mode: 'ask' });
  await say(first, 'go');
  await first[Symbol.asyncDispose]();
  const told = toldAgent([[words('again')]], { capabilities });
  const second = await open(told, sessions, { mode: 'ask' });
  expect(texts(await say(second, 'go on'))).toEqual(['again']);
  await second[Symbol.asyncDispose]();
  const closes = 'sessionCapabilities' in capabilities ? ['session/close'] : [];
  expect(methodsOf(told)).toEqual(['initialize', way, 'session/set_mode', ...closes]);
});
