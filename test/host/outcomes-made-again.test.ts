import { expect, test } from 'vitest';
import type { OutcomeMessage, SessionPlace } from '../../src/contracts/index.ts';
import type { StandingTurn } from '../../src/host/background/owed.ts';
import { OwedOutcomes } from '../../src/host/background/owed-outcomes.ts';
import { MemoryJournal } from '../../src/session/index.ts';

const place = { agent: 'bot', userId: 'ann', sessionId: 's' };
const base = { id: 'e', timestamp: '2026-11-30T09:00:00.000Z', sessionId: 's', streamId: '' };

/** A turn that somebody is owed the outcome of, in a session that waits for a person. */
async function owing(turnId: string) {
  const sent: OutcomeMessage[] = [];
  const woken: SessionPlace[] = [];
  let now = 0;
  const waits: StandingTurn = { waits: { requestIds: ['c#policy'], at: base.timestamp } };
  const outcomes = new OwedOutcomes(
    {
      app: 'shop',
      turn: async (_, __, look) => {
        look({ ...base, type: 'tool_request', turnId, requestId: 'c', name: 'pay', args: {} } as never);
        return waits;
      },
      wakeAt: async (one) => void woken.push(one),
      warn: () => {},
    },
    {
      names: ['crm'],
      takesAnswer: () => false,
      takesWaits: () => true,
      deliver: async (_, message) => {
        sent.push(message);
        return 'done';
      },
    },
    Object.assign(new MemoryJournal(), { now: async () => now }),
  );
  await outcomes.add(place, 'mine', 'crm');
  now = 60_000;
  // Each look may wake for another one.
  for (const one of woken) if (woken.indexOf(one) < 4) await outcomes.look(one);
  await outcomes.close();
  return sent.map(({ body }) => (JSON.parse(body) as { type: string; data: { turnId: string } }).data.turnId);
}

test('ATK10-08 that a turn waits is sent of that turn alone, and not of one in a session that was made since under its id', async () => {
  expect(await owing('mine')).toEqual(['mine']);
  expect(await owing('another')).toEqual([]);
});
