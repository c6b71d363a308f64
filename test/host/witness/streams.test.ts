import { describe, expect, test } from 'vitest';
import type { AgentEvent, AgentSession, AgentSource } from '../../../src/contracts/index.ts';
import { checkStream } from '../../../src/contracts/index.ts';
import { createHost } from '../../../src/index.ts';
import { agentStream } from '../../../src/session/index.ts';
import { all, endOf } from '../kit.ts';

const descriptor = {
  name: 'own',
  description: '',
  executor: 'own',
  capabilities: {},
  requiredTools: [],
  subAgents: [],
  ownTools: [],
};
const base = { timestamp: new Date().toISOString(), sessionId: 's', streamId: 't' };
const said = (text: string): AgentEvent =>
  ({ ...base, id: `e${text}`, type: 'message', role: 'agent', content: [{ type: 'text', text }] }) as AgentEvent;
const ended = (reason: string): AgentEvent =>
  ({ ...base, id: `end.${reason}`, type: 'stream_end', reason, data: {} }) as AgentEvent;
const begun = { ...base, id: 'i', type: 'initialize', agentId: 'own', interfaceVersion: '1' } as AgentEvent;

/** A host of an executor that streams, and keeps, these events. */
async function hosting(source: () => AsyncIterable<AgentEvent>) {
  const warnings: string[] = [];
  const session = {
    id: 's',
    descriptor,
    stream: () => agentStream(source),
    abort: async () => {},
    pending: async () => [],
    events: source,
    async [Symbol.asyncDispose]() {},
  } as unknown as AgentSession;
  const agents = [{ descriptor, open: async () => session } as unknown as AgentSource];
  const host = createHost({ app: 'demo', agents, warn: (message) => warnings.push(message) });
  return { session: await host.open('own'), warnings };
}

const shown = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'message'
      ? event.content.map((part) => (part.type === 'text' ? `${event.id}:${part.text}` : ''))
      : [],
  );

describe('the stream of another executor', () => {
  test('CASE-S2 the first stream_end stands, and nothing comes after it', async () => {
    const { session, warnings } = await hosting(async function* () {
      yield begun;
      yield said('1');
      yield ended('completed');
      yield ended('failed');
      yield said('2');
    });
    const events = await all(session.stream('go'));
    expect(endOf(events).reason).toBe('completed');
    expect(shown(events)).toEqual(['e1:1']);
    expect(warnings).toEqual([expect.stringContaining('continued after stream_end')]);
  });

  test('CASE-S2 one that throws after its end has ended', async () => {
    const { session, warnings } = await hosting(async function* () {
      yield begun;
      yield ended('completed');
      throw new Error('too late');
    });
    expect(endOf(await all(session.stream('go'))).reason).toBe('completed');
    expect(warnings).toEqual([expect.stringContaining('too late')]);
  });

  test.each<[string, () => AsyncIterable<AgentEvent>, object]>([
    [
      'throws',
      async function* () {
        yield begun;
        yield said('1');
        throw new Error('broken');
      },
      { status: 'INTERNAL', code: 'E_INTERNAL', message: expect.stringContaining('its executor failed: broken') },
    ],
    [
      'ends without stream_end',
      async function* () {
        yield begun;
        yield said('1');
      },
      { status: 'DATA_LOSS', code: 'E_INTERNAL', message: expect.stringContaining('without stream_end') },
    ],
    [
      'yields what is no JSON',
      async function* () {
        yield begun;
        yield { ...said('1'), _meta: { at: new Date() } } as never;
      },
      { status: 'INVALID_ARGUMENT', code: 'E_NOT_JSON' },
    ],
  ])('CASE-S2 one that %s amid it ends as failed, typed', async (_, source, error) => {
    const { session, warnings } = await hosting(source);
    const events = await all(session.stream('go'));
    expect(checkStream(events)).toEqual([]);
    expect(events.at(-2)).toMatchObject({ type: 'error', fatal: true, ...error });
    expect(endOf(events)).toMatchObject({ reason: 'failed', data: { pending: [] } });
    expect(warnings).toHaveLength(1);
  });

  test('CASE-S2 one that throws before it has said anything is refused', async () => {
    // biome-ignore lint/correctness/useYield: it throws first
    const { session } = await hosting(async function* () {
      throw new Error('broken');
    });
    await expect(all(session.stream('go'))).rejects.toThrow('broken');
  });

  test('CASE-F3 what it has said does not change afterwards, live or read again', async () => {
    const { session } = await hosting(async function* () {
      yield begun;
      const event = said('') as { id: string; content: { text: string }[] } & AgentEvent;
      for (const text of ['1', '2', '3']) {
        event.id = `e${text}`;
        (event.content[0] as { text: string }).text = text;
        yield event;
      }
      yield ended('completed');
    });
    expect(shown(await all(session.stream('go')))).toEqual(['e1:1', 'e2:2', 'e3:3']);
    expect(shown(await all(session.events()))).toEqual(['e1:1', 'e2:2', 'e3:3']);
  });
});
