import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { createHost, LlmAgent, LoopAgent, run } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { client, logOf, serving } from './kit.ts';

const long = 'All about cheese. '.repeat(200);
const compacted = (events: readonly AgentEvent[]) =>
  events.filter((event) => event.type === 'custom' && event.kind === 'compacted');

function shop(...after: string[]) {
  const model = new ScriptedModel([long, long, 'Cheese was explained.', ...after]);
  return {
    model,
    host: createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model, compaction: { keep: 1 } })] }),
  };
}

describe('CMP-12 by hand', () => {
  test('a hosted session: while no turn runs, whatever the window', async () => {
    const { model, host } = shop('You are welcome.');
    await using session = await host.open('clerk');
    expect(await session.compact()).toMatchObject({ compacted: false, reason: 'there is nothing worth leaving out' });
    await run(session, 'Explain.');
    await run(session, 'Again.');
    expect(await session.compact()).toMatchObject({ compacted: true, tokensBefore: expect.any(Number) });
    expect(compacted(await logOf(session))).toHaveLength(1);
    expect(await session.pending()).toEqual([]);
    await run(session, 'Thanks.');
    // The summary, the newest answer and the new message; between them the words of the newest turn.
    expect(model.requests.at(-1)?.contents.map(({ role }) => role)).toEqual(['user', 'user', 'model', 'user']);
    await host.close();
  });

  test('refused while a stream runs, and where no agent has a history of its own', async () => {
    const { host } = shop();
    await using session = await host.open('clerk');
    const stream = session.stream('Explain.');
    await stream.next();
    await expect(session.compact()).rejects.toMatchObject({ code: 'E_SESSION_BUSY' });
    await stream.abort();
    await host.close();
    const loop = new LoopAgent({
      name: 'loop',
      subAgents: [new LlmAgent({ name: 'one', model: new ScriptedModel([]) })],
    });
    const other = createHost({ app: 'shop', agents: [loop] });
    await using its = await other.open('loop');
    await expect(its.compact()).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
    await other.close();
  });

  test('a client over the wire asks for it; every client that watches is told', async () => {
    const { host } = shop();
    const server = await serving(host);
    const one = await client(server);
    const session = await one.open('clerk', { sessionId: 's', create: true });
    await run(session, 'Explain.');
    await run(session, 'Again.');
    const other = await client(server);
    const watching = await other.open('clerk', { sessionId: 's' });
    const seen = (async () => {
      for await (const event of watching.watch())
        if (event.type === 'custom' && event.kind === 'compacted') return event;
      return undefined;
    })();
    expect(await session.compact()).toMatchObject({ compacted: true });
    expect(await seen).toMatchObject({ data: { path: '', by: 'model', summary: 'Cheese was explained.' } });
  });
});
