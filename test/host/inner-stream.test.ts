import { afterEach, expect, test, vi } from 'vitest';
import type { AgentEvent, AgentSession, AgentSource } from '../../src/contracts/index.ts';
import { createHost, run } from '../../src/index.ts';
import { agentStream } from '../../src/session/index.ts';
import { door } from './kit.ts';

afterEach(() => vi.useRealTimers());

const descriptor = {
  name: 'own',
  description: '',
  executor: 'own',
  capabilities: [],
  requiredTools: [],
  subAgents: [],
  ownTools: [],
};

test('an executor that does not close a stream after its end holds up nobody', async () => {
  const hangs = door();
  const base = { sessionId: 's', streamId: 't', turnId: 'u', timestamp: new Date().toISOString() };
  let ended = 0;
  async function* source(): AsyncGenerator<AgentEvent> {
    yield { ...base, id: `i${ended}`, type: 'initialize', agentId: 'own', interfaceVersion: '1' } as AgentEvent;
    yield { ...base, id: `m${ended}`, type: 'message', role: 'agent', content: [{ type: 'text', text: 'hi' }] };
    yield { ...base, id: `e${ended++}`, type: 'stream_end', reason: 'completed', data: {} } as AgentEvent;
    hangs.open();
    await new Promise(() => {});
  }
  let aborts = 0;
  const session = {
    id: 's',
    descriptor,
    stream: () => agentStream(() => source(), { streamId: 't' }),
    abort: async () => void aborts++,
    pending: async () => [],
    async *events() {},
    async [Symbol.asyncDispose]() {},
  } as unknown as AgentSession;
  const warnings: string[] = [];
  const host = createHost({
    app: 'shop',
    agents: [{ descriptor, open: async () => session } as unknown as AgentSource],
    warn: (message) => warnings.push(message),
  });
  const opened = await host.open('own');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const running = run(opened, 'go');
  await hangs.opened;
  await vi.advanceTimersByTimeAsync(6000);
  expect(await running).toMatchObject({ reason: 'completed', text: 'hi' });
  expect(warnings).toEqual([expect.stringContaining('has not closed a stream 5000 ms after its end')]);
  expect(aborts).toBe(0);
});
