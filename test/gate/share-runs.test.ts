import { expect, test } from 'vitest';
import type { AnyTool } from '../../src/contracts/index.ts';
import type { Flights } from '../../src/gate/index.ts';
import { runHandler, shareRuns } from '../../src/gate/index.ts';
import { approved, contextOf, toolOf } from './kit.ts';

/** A tool whose first run waits to be let go and comes to `first`; later ones come to their number. */
function shared(first: () => unknown) {
  const go = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let runs = 0;
  const tool = toolOf(async () => {
    if (++runs > 1) return runs;
    begun.resolve();
    await go.promise;
    return first();
  });
  const flights: Flights = new Map();
  const made: AnyTool = shareRuns(tool, flights, { keyOf: () => 'same', lookUp: () => undefined });
  const call = async () => runHandler(await approved(), made, contextOf('c1'));
  return { call, begun: begun.promise, go: go.resolve, runs: () => runs, flights };
}

test('identical calls under way share one result', async () => {
  const { call, begun, go, runs, flights } = shared(() => ({ content: [{ type: 'text', text: 'here' }] }));
  const first = call();
  await begun;
  const second = call();
  go();
  expect(await Promise.all([first, second])).toMatchObject([
    { content: [{ text: 'here' }] },
    { content: [{ text: 'here' }] },
  ]);
  expect([runs(), flights.size]).toEqual([1, 0]);
});

test.each<[string, () => unknown]>([
  ['is a failed result', () => ({ content: [{ type: 'text', text: 'away' }], isError: true })],
  [
    'is thrown',
    () => {
      throw new Error('away');
    },
  ],
])('MUT-G13 a failure that %s is shared with nobody: the call that waited runs by itself', async (_, fail) => {
  const { call, begun, go, runs, flights } = shared(fail);
  const first = call().catch((error: unknown) => error);
  await begun;
  const second = call();
  go();
  expect(JSON.stringify(await first, ['isError', 'message', 'content', 'text'])).toContain('away');
  expect([await second, runs(), flights.size]).toEqual([2, 2, 0]);
});
