import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { SessionService, StoredEvent } from '../../src/runtime/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { collect, host, key, llm, streamAll } from './kit.ts';

/** The store as another process has it; counts how often somebody looks whose turn an event is of. */
function watched(store: SessionService) {
  const looked = { times: 0 };
  const seen = (event: StoredEvent): StoredEvent => {
    const look = () => {
      looked.times++;
      return event.turnId;
    };
    return Object.defineProperty({ ...event }, 'turnId', { get: look, enumerable: true });
  };
  const get: SessionService['get'] = async (...asked) => {
    const record = await store.get(...asked);
    return record && { ...record, events: record.events.map(seen) };
  };
  const own = (value: unknown) => (typeof value === 'function' ? value.bind(store) : value);
  const view = new Proxy(store, { get: (_, name) => (name === 'get' ? get : own(Reflect.get(store, name))) });
  return { view, looked };
}

const schema = { type: 'object', properties: { n: { type: 'number' } } };

/** Looks at events, to show a session of so many turns. */
async function looksFor(turns: number, outputSchema?: typeof schema): Promise<number> {
  const store = new InMemorySessionService();
  const { view, looked } = watched(store);
  const model = new ScriptedModel(Array.from({ length: turns }, (_, n) => JSON.stringify({ n })));
  const source = fromAgent(llm('bot', model, outputSchema ? { outputSchema } : {}));
  const ref = { sessionId: key.id, create: true };
  const first = await source.open(ref, { ...host, store });
  for (let turn = 0; turn < turns; turn++) await streamAll(first, 'hi');
  await first[Symbol.asyncDispose]();
  const session = await source.open(ref, { ...host, store: view });
  await session.pending();
  const before = looked.times;
  const ends = (await collect(session.events())).filter((event) => event.type === 'stream_end');
  expect(ends.map(({ data }) => data.output)).toEqual(
    Array.from({ length: turns }, (_, n) => (outputSchema ? { n } : undefined)),
  );
  await session[Symbol.asyncDispose]();
  return looked.times - before;
}

test.each([
  ['words', undefined],
  ['an output', schema],
])('ATK3-11 to show a session with %s takes work in proportion to its turns', async (_, outputSchema) => {
  const few = await looksFor(10, outputSchema);
  const many = await looksFor(40, outputSchema);
  expect(many).toBeLessThanOrEqual(4 * few);
});
