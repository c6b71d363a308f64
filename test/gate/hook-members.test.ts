import { expect, test } from 'vitest';
import { decide } from '../../src/gate/index.ts';
import { gateCall, rules } from './kit.ts';

test.each<[object, string]>([
  [{ action: 'proceed', modification: { args: {} } }, 'write modifications'],
  [{ action: 'proceed', modifications: { arg: {} } }, 'write args'],
  [{ action: 'block', modifications: { results: 1 } }, 'write result'],
])('ATK-L1 a callback of the runtime that says %j blocks the call, and the member is named', async (word, reason) => {
  const verdict = await decide(gateCall({ args: { eur: 100 } }), rules({ beforeTool: async () => word }));
  expect(verdict).toMatchObject({
    kind: 'refuse',
    record: { outcome: 'denied', by: 'hook', reason: expect.stringContaining(reason) },
  });
});
