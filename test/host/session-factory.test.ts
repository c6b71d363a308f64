import { expect, test } from 'vitest';
import { describeAgent } from '../../src/adapters/adk/index.ts';
import type { AgentSource, HostContext } from '../../src/contracts/index.ts';
import { createSessionFactory } from '../../src/host/index.ts';
import { createHost, fromAgent, run } from '../../src/index.ts';
import { bot, refusal } from './kit.ts';

test('S3-57 S3-02 a factory picks the creator by the descriptor’s executor key', async () => {
  const factory = createSessionFactory();
  const agent = bot(['hi']);
  const descriptor = describeAgent(agent);
  expect(factory.has('adk')).toBe(false);
  expect(await refusal(factory.create(descriptor, { app: 'shop' }))).toMatchObject({
    status: 'NOT_FOUND',
    code: 'E_NO_EXECUTOR',
    message: expect.stringContaining('none'),
  });
  const contexts: HostContext[] = [];
  factory.register('adk', (_, context) => {
    contexts.push(context);
    return fromAgent(agent).open({}, context);
  });
  factory.register('other', () => Promise.reject(new Error('wrong one')));
  expect([factory.has('adk'), factory.has('toString'), factory.has('__proto__')]).toEqual([true, false, false]);
  const session = await factory.create(descriptor, { app: 'shop', userId: 'ann' });
  expect(contexts).toEqual([{ app: 'shop', userId: 'ann' }]);
  expect((await run(session, 'hello')).text).toBe('hi');
  expect(await refusal(factory.create({ ...descriptor, executor: 'acp' }, { app: 'shop' }))).toMatchObject({
    code: 'E_NO_EXECUTOR',
    message: expect.stringContaining('adk, other'),
  });
});

test('S3-57 S3-02 a host takes any source, whatever runs behind it', async () => {
  const factory = createSessionFactory();
  const agent = bot(['from the factory']);
  factory.register('adk', (_, context) => fromAgent(agent).open({}, context));
  const descriptor = { ...describeAgent(agent), name: 'made' };
  const source: AgentSource = { descriptor, open: (_, context) => factory.create(descriptor, context) };
  const host = createHost({ app: 'shop', agents: [source] });
  expect((await run(await host.open('made'), 'hi')).text).toBe('from the factory');
  expect((await refusal((async () => host.sessions())())).code).toBe('E_UNSUPPORTED');
});
