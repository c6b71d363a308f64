import { expect, test } from 'vitest';
import { checkConfirmation } from '../../src/gate/index.ts';
import { bot, hostOf, ofType, policyOf, say, tool } from '../host/kit.ts';

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a confirmation that expires in %s seconds is refused',
  (expiresIn) => {
    expect(() => checkConfirmation({ expiresIn })).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  },
);

test('the question of a host’s own tool says when it is a no', async () => {
  const pay = tool('pay', (_, context) => context.requestConfirmation({ hint: 'Pay?', expiresIn: 3_600 }));
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }]), { tools: [pay], policy: policyOf({ pay: 'allow' }) });
  const [request] = ofType(await say(await host.open('bot'), 'go'), 'elicitation_request');
  expect(request?.message).toBe('Pay?');
  expect(Date.parse(request?.expiresAt ?? '') - Date.parse(request?.timestamp ?? '')).toBeGreaterThan(3_000_000);
});
