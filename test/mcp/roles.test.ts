import { expect, test } from 'vitest';
import { connect, kinds, textOf } from './clients.ts';
import { openShop } from './kit.ts';

test.each(kinds)('ATK9-01 %s: an answer is decided by the roles that its client has when it answers', async (kind) => {
  const roles = new Set(['boss']);
  const answered: string[] = [];
  await using shop = await openShop({
    host: {
      policy: {
        evaluate: ({ action }) =>
          action === 'pay' ? { outcome: 'ask', approvers: { roles: ['boss'] } } : { outcome: 'allow' },
      },
    },
    mcp: { authenticate: () => ({ id: 'anna', roles: [...roles] }) },
  });
  await using client = await connect(
    kind,
    { url: shop.url },
    {
      onElicit() {
        roles.delete('boss');
        answered.push('allow');
        return { action: 'accept', content: { decision: 'allow' } };
      },
    },
  );
  const result = await client.call('puppet', { prompt: 'call pay {"amount": 5}' });
  expect([result.isError, shop.runs, answered]).toEqual([true, [], ['allow']]);
  expect(textOf(result)).toContain('boss');
  // Nothing is lost: it is open for those who may answer it.
  const [open] = await shop.host.approvals.list();
  const by = { id: 'bert', roles: ['boss'] };
  await shop.host.approvals.decide(open?.request.requestId ?? '', { kind: 'approve' }, { by });
  await shop.host.idle();
  expect(shop.runs).toEqual([5]);
});
