import { expect, test } from 'vitest';
import type { SessionSummary } from '../../src/contracts/index.ts';
import { findSessions } from '../../src/host/operator/find-sessions.ts';

const listed = (id: string, more: Partial<SessionSummary>): SessionSummary => ({
  ...{ id, app: 'shop', userId: 'anna', createdAt: '', updatedAt: '2026-11-30T12:00:00.000Z', length: 1, pending: 0 },
  ...more,
});

test('INS-21 what runs is found as such though its calls are open, what asks somebody as what waits, and of a store that does not say which, as before', async () => {
  const sessions = [
    listed('running-tool', { pending: 1, unfinished: true, running: true }),
    listed('asking', { pending: 1, unfinished: true, running: false }),
    listed('unknown', { pending: 1, unfinished: true }),
    listed('thinking', { unfinished: true }),
    listed('over', { running: false }),
  ];
  const found = async (state: 'waits' | 'runs' | 'rests') => {
    const searched = {
      page: async () => sessions,
      placeOf: ({ id }: SessionSummary) => id,
      isTheirs: () => true,
      seesContent: true,
    };
    return (await findSessions(searched, { state, limit: 10 })).sessions.map(({ id }) => id);
  };
  expect(await found('runs')).toEqual(['running-tool', 'thinking']);
  expect(await found('waits')).toEqual(['asking', 'unknown']);
  expect(await found('rests')).toEqual(['over']);
});
