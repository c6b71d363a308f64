import { expect, test } from 'vitest';
import { fromAgent, InMemorySessionService } from '../../../src/index.ts';
import { all, bot, door, endOf } from '../../host/kit.ts';

const pay = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };

/** A store that another process keeps busy: who acquires waits until the door opens. */
class BusyStore extends InMemorySessionService {
  busy = door();

  override async acquire(...args: Parameters<InMemorySessionService['acquire']>) {
    await this.busy.opened;
    return super.acquire(...args);
  }
}

test.each(['abort', 'respond'] as const)(
  'F35 F23 %s of a call while a stream has not begun: what is stored of that stream is what it shows',
  async (way) => {
    const sessions = new BusyStore();
    sessions.busy.open();
    const source = fromAgent(
      bot([
        {
          calls: [
            ['pay', {}],
            ['pay', {}],
          ],
        },
        'done',
      ]),
      { store: sessions },
    );
    const session = await source.open({}, { app: 'shop' });
    const asked = await all(session.stream('go', { hostToolExecution: true, tools: [pay] }));
    const [first] = endOf(asked).data.pending ?? [];
    const requestId = first?.requestId ?? '';
    sessions.busy = door();
    const stream = session.stream({ kind: 'continue' }, { hostToolExecution: true, tools: [pay] });
    const shown = all(stream);
    if (way === 'abort') await session.abort({ requestId });
    else await session.respond(requestId, { kind: 'result', result: { content: [] } });
    sessions.busy.open();
    const ids = new Set((await shown).map(({ id }) => id));
    const stored = await all(session.events());
    expect(stored.some((event) => event.type === 'tool_response' && event.requestId === requestId)).toBe(true);
    expect(stored.filter((event) => event.streamId === stream.streamId && !ids.has(event.id))).toEqual([]);
  },
);
