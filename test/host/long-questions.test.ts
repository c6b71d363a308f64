import { expect, test } from 'vitest';
import { bot, endOf, hostOf, ofType, policyOf, say, tool } from './kit.ts';

test.each([
  ['message', { message: 'z'.repeat(100_001) }],
  [
    'form',
    { message: 'Which?', requestedSchema: { type: 'object', description: 'z'.repeat(100_000), properties: {} } },
  ],
])(
  'ATK3-14 a question of a handler whose %s is too long is cancelled with a warning, and kept nowhere',
  async (_, long) => {
    const replies: unknown[] = [];
    const ask = tool('ask', async (_args, context) => {
      replies.push(await context.elicit?.(long), await context.elicit?.({ message: 'z'.repeat(50_000) }));
      return 'done';
    });
    const { host, warnings } = hostOf(bot([{ calls: [['ask', {}]] }, 'done']), {
      tools: [ask],
      policy: policyOf({}),
      onElicitation: () => ({ kind: 'elicitation', action: 'decline' }),
    });
    const events = await say(await host.open('bot'), 'go');
    expect(endOf(events).reason).toBe('completed');
    expect(replies).toEqual([{ action: 'cancel' }, { action: 'decline' }]);
    expect(ofType(events, 'elicitation_request').map(({ message }) => message.length)).toEqual([50_000]);
    expect(warnings.join()).toContain('may have 100000');
    await host.close();
  },
);
