import { expect, onTestFinished, test, vi } from 'vitest';
import { ServeFigures } from '../../src/cli/commands/serve-figures.ts';
import { BusLag } from '../../src/cli/workspace/index.ts';
import type { Bus } from '../../src/contracts/index.ts';
import { bot, hostOf, notingTool, policyOf, say } from '../host/kit.ts';

test('figures of the command: the age of the oldest question, and how long a message is on the bus', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
    tools: [notingTool('pay').tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const sent: string[] = [];
  let hear = (_: string) => {};
  const bus: Bus = {
    publish: (_, mark) => void sent.push(mark),
    subscribe: (_, heard) => {
      hear = heard;
      return () => {};
    },
    close: async () => {},
  };
  const figures = new ServeFigures(host, new BusLag(bus));
  expect(await figures.read()).toEqual({ oldest_question_seconds: 0 });
  await say(await host.open('bot'), 'go');
  // One look counts for ten seconds; a message that does not come back makes the lag grow.
  vi.advanceTimersByTime(4000);
  expect(await figures.read()).toEqual({ oldest_question_seconds: 0, bus_lag_seconds: 4 });
  vi.advanceTimersByTime(8000);
  expect(await figures.read()).toEqual({ oldest_question_seconds: 12, bus_lag_seconds: 12 });
  expect(sent).toHaveLength(2);
  vi.advanceTimersByTime(1000);
  hear(sent[0] ?? '');
  hear(sent[1] ?? '');
  expect(await figures.read()).toMatchObject({ oldest_question_seconds: 13, bus_lag_seconds: 1 });
  // A store that does not answer takes its figure away, and no other.
  host.approvals.list = async () => {
    throw new Error('the database is away');
  };
  vi.advanceTimersByTime(20_000);
  expect(await figures.read()).toEqual({ bus_lag_seconds: 1 });
});
