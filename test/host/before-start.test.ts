import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../src/index.ts';
import { all, bot, door, endOf, hostOf, policyOf, tool } from './kit.ts';

/** A store in which the next look waits until it is let go. */
class LooksLater extends InMemorySessionService {
  look: { waiting: ReturnType<typeof door<void>>; go: ReturnType<typeof door<void>> } | undefined;

  override async get(...args: Parameters<InMemorySessionService['get']>) {
    const { look } = this;
    this.look = undefined;
    look?.waiting.open();
    await look?.go.opened;
    return super.get(...args);
  }
}

async function paused() {
  const store = new LooksLater();
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), {
    tools: [tool('pay', () => 'paid')],
    policy: policyOf({ pay: 'ask' }),
    store,
  });
  const session = await host.open('bot');
  await all(session.stream('go'));
  const look = { waiting: door(), go: door() };
  const arm = () => {
    store.look = look;
  };
  return { host, session, look, arm };
}

test.each(['stream', 'handle', 'another handle', 'leaving'] as const)(
  'S3-14 F35 an abort by the %s while a stream looks up what it is held to ends that stream',
  async (by) => {
    const { host, session, look, arm } = await paused();
    const other = await host.open('bot', { sessionId: session.id });
    arm();
    const stream = session.stream({ kind: 'continue' });
    const shown = by === 'leaving' ? stream.next() : all(stream);
    await look.waiting.opened;
    const aborting =
      { stream, handle: session, 'another handle': other, leaving: undefined }[by]?.abort() ?? stream.return?.();
    look.go.open();
    await aborting;
    await shown;
    expect(await session.pending()).toEqual([]);
    expect(endOf(await all(session.events())).reason).toBe('aborted');
  },
);

test('F35 a handle that is closed while a stream of it looks up what it is held to begins none', async () => {
  const { session, look, arm } = await paused();
  arm();
  const first = session.stream({ kind: 'continue' }).next();
  await look.waiting.opened;
  const closing = session[Symbol.asyncDispose]();
  look.go.open();
  await expect(first).rejects.toMatchObject({ code: 'E_SESSION_CLOSED' });
  await closing;
});
