import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

const program = `
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
const server = new FastMCP({ name: 'adder', version: '1.0.0' });
server.addTool({
  name: 'add', description: 'Adds.', parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }, { reportProgress }) => {
    await reportProgress({ progress: 1, total: 1 });
    return String(a + b);
  },
});
server.addTool({ name: 'break', description: 'Breaks.', execute: async () => { throw new Error('it broke'); } });
await server.start({ transportType: 'stdio' });
`;

export default subject({
  name: 'fastmcp',
  role: 'MCP server',
  packages: { fastmcp: '4.20.16', zod: '4.6.7' },
  async run({ check, folder }) {
    const file = join(folder, 'server.mjs');
    writeFileSync(file, program);
    await using server = underGate({ command: process.execPath, args: [file], name: 'adder' });
    await check('lists', () => listed(server));
    await check('adds', async () => {
      const { text } = await server.call('add', { a: 2, b: 3 });
      hold(text === '5', text);
      return '';
    });
    await check('what a tool throws is its error', async () => {
      const { response, text } = await server.call('break', {});
      hold(response.errorType === 'failed' && text.includes('it broke'), JSON.stringify(response).slice(0, 200));
      return '';
    });
  },
});
