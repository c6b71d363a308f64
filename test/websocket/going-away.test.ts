import { describe, expect, test } from 'vitest';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, door, hostOf, notingTool, policyOf, slowTool } from '../host/kit.ts';
import { serving } from './kit.ts';
import { endOf, Raw } from './raw.ts';

/** A store whose next lease, or next append, waits until it may go on. */
class SlowStore extends InMemorySessionService {
  #stop: { at: 'acquire' | 'append'; reached(): void; opened: Promise<void> } | undefined;

  stop(at: 'acquire' | 'append') {
    const reached = door();
    const gate = door();
    this.#stop = { at, reached: () => reached.open(), opened: gate.opened };
    return { reached: reached.opened, goOn: () => gate.open() };
  }

  override async acquire(...given: Parameters<InMemorySessionService['acquire']>) {
    await this.#pass('acquire');
    return super.acquire(...given);
  }

  override async append(...given: Parameters<InMemorySessionService['append']>) {
    await this.#pass('append');
    return super.append(...given);
  }

  async #pass(at: 'acquire' | 'append'): Promise<void> {
    const stop = this.#stop;
    if (stop?.at !== at) return;
    this.#stop = undefined;
    stop.reached();
    await stop.opened;
  }
}

describe('what is under way when a server goes away', () => {
  test('WS-70 a stream that is being accepted when the server goes away is answered, and runs to its end', async () => {
    const store = new SlowStore();
    const { host } = hostOf(bot(['done']), { store });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    const going = store.stop('acquire');
    const answer = raw.request('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await going.reached;
    const closing = server.close({ deadlineMs: 20_000 });
    await raw.until(({ method }) => method === 'session/goAway');
    going.goOn();
    expect((await answer).result).toEqual({ streamId: 'a' });
    expect((await raw.until(endOf('a'))).params?.event).toMatchObject({ reason: 'completed' });
    expect(await raw.closed).toMatchObject({ code: 1001 });
    await closing;
  });

  test('WS-70 a server that goes away without a deadline aborts nothing', async () => {
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow']] }, 'done']), { tools: [slow.tool], policy: policyOf({}) });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await slow.started;
    const closing = server.close({ deadlineMs: Number.POSITIVE_INFINITY });
    const { params } = await raw.until(({ method }) => method === 'session/goAway');
    expect(params).toEqual({ deadlineMs: 2 ** 31 - 1 });
    // Timers have their turn between two messages.
    for (let n = 0; n < 20; n++) await raw.ask('ping');
    slow.finish('x');
    expect((await raw.until(endOf('a'))).params?.event).toMatchObject({ reason: 'completed' });
    await closing;
  });

  test('WS-70 WS-51 an approval that is being stored when the server goes away is answered, and its run goes on to its end', async () => {
    const store = new SlowStore();
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      store,
    });
    const server = await serving(host);
    const raw = await Raw.ready(server.url);
    const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot' });
    await raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'go' });
    await raw.until(endOf('a'));
    const [open] = (await raw.ask('approvals/list')).approvals;
    const going = store.stop('append');
    const { requestId } = open.request;
    const answer = raw.request('approvals/decide', { requestId, answer: { kind: 'approve' } });
    await going.reached;
    const closing = server.close({ deadlineMs: 20_000 });
    await raw.until(({ method }) => method === 'session/goAway');
    going.goOn();
    expect((await answer).result).toMatchObject({ status: 'settled' });
    expect(await raw.closed).toMatchObject({ code: 1001 });
    await closing;
    expect(pay.runs).toHaveLength(1);
    expect(raw.frames().at(-1)?.event).toMatchObject({ type: 'stream_end', reason: 'completed' });
  });
});
