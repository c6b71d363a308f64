import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

export default subject({
  name: 'server-sequential-thinking',
  role: 'MCP server',
  packages: { '@modelcontextprotocol/server-sequential-thinking': '2026.8.31' },
  async run({ bin, check }) {
    const main = bin('@modelcontextprotocol/server-sequential-thinking');
    await using server = underGate({ command: process.execPath, args: [main], name: 'thinking' });
    await check('lists', () => listed(server));
    await check('takes two thoughts in one process', async () => {
      const thought = (n: number) => ({
        thought: `t${n}`,
        nextThoughtNeeded: n < 2,
        thoughtNumber: n,
        totalThoughts: 2,
      });
      await server.call('sequentialthinking', thought(1));
      const { response } = await server.call('sequentialthinking', thought(2));
      const { thoughtHistoryLength } = Object(response.structuredContent) as { thoughtHistoryLength?: number };
      hold(thoughtHistoryLength === 2, JSON.stringify(response).slice(0, 300));
      return '';
    });
  },
});
