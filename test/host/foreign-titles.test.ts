import { expect, test } from 'vitest';
import { bot, hostOf, only, policyOf, say, tool } from './kit.ts';

test.each([
  ['mcp:foreign', 'Run wipe?'],
  ['provider:own', 'Run Wipe a disk?'],
])('ATK3-07 the question about a tool of %s is titled %s', async (name, title) => {
  const provider = {
    name: name.replace('provider:', ''),
    getToolsForAgent: () => [
      { name: 'wipe', displayName: 'Wipe a disk', description: 'd', inputSchema: { type: 'object' } },
    ],
    execute: async () => ({ content: [] }),
  };
  const { host } = hostOf(bot([{ calls: [['wipe', {}]] }, 'done']), {
    toolProviders: [provider],
    tools: [tool('other', () => 'ok')],
    policy: policyOf({ wipe: 'ask' }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const { approval, message } = await only(session);
  expect([approval?.title, message]).toEqual([title, title]);
  await host.close();
});
