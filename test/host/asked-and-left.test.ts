import { expect, test } from 'vitest';
import type { RunReply, ToolCallContext } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/index.ts';
import { bot, door, endOf, follow, hostOf, ofType, refusal, results, say, tool } from './kit.ts';

const accept = { kind: 'elicitation', action: 'accept' } as const;

test.each(['before anybody sees it', 'once somebody sees it'])(
  'ATK-16 a question that a handler does not wait for ends with its handler: %s',
  async (when) => {
    const seen = door();
    const left: Promise<RunReply | undefined>[] = [];
    const asks = tool('asks', async (_, context) => {
      left.push(Promise.resolve(context?.elicit?.({ message: 'Which account?' })));
      if (when.startsWith('once')) await seen.opened;
      return 'done';
    });
    const { host } = hostOf(bot([{ calls: [['asks']] }, 'end', 'again']), { tools: [asks], policy: allowAll() });
    const session = await host.open('bot');
    const going = follow(session, 'go');
    if (when.startsWith('once')) {
      const { requestId } = await going.seen('elicitation_request');
      expect((await session.pending()).map((request) => request.requestId)).toContain(requestId);
      seen.open();
    }
    const events = await going.ended;
    expect([endOf(events).reason, results(events).asks]).toEqual(['completed', 'done']);
    expect(await left[0]).toEqual({ action: 'cancel' });
    expect(await session.pending()).toEqual([]);
    for (const { requestId } of ofType(events, 'elicitation_request')) {
      expect((await refusal(session.respond(requestId, accept))).code).toBe('E_REQUEST_CLOSED');
    }
    expect(endOf(await say(session, 'go on')).reason).toBe('completed');
    await host.close();
  },
);

test('ATK-16 who asks, or shows progress, when its call is over is not heard, whether a run is live or not', async () => {
  const kept = door<ToolCallContext>();
  const busy = door();
  const first = tool('first', (_, context) => {
    kept.open(context as ToolCallContext);
    return 'done';
  });
  const second = tool('second', async () => {
    await busy.opened;
    return 'done, too';
  });
  const model = bot([{ calls: [['first']] }, { calls: [['second']] }, 'end']);
  const { host } = hostOf(model, { tools: [first, second], policy: allowAll() });
  const session = await host.open('bot');
  const going = follow(session, 'go');
  const context = await kept.opened;
  await going.seen('tool_request', ({ name }) => name === 'second');
  const late = async () => {
    context.progress({ status: 'started', progress: 1 });
    expect(await context.elicit?.({ message: 'late' })).toEqual({ action: 'cancel' });
    expect((await session.pending()).filter(({ kind }) => kind === 'elicitation')).toEqual([]);
  };
  await late();
  busy.open();
  const events = await going.ended;
  expect(ofType(events, 'tool_update').filter(({ progress }) => progress === 1)).toEqual([]);
  expect(ofType(events, 'elicitation_request')).toEqual([]);
  await late();
  await host.close();
});
