import { join } from 'node:path';
import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

export default subject({
  name: 'server-memory',
  role: 'MCP server',
  packages: { '@modelcontextprotocol/server-memory': '2026.8.31' },
  async run({ bin, check, folder }) {
    const main = bin('@modelcontextprotocol/server-memory');
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
    const anna = { name: 'Anna', entityType: 'person', observations: ['likes tea'] };
    await using server = underGate({ command: process.execPath, args: [main], env, name: 'memory' });
    await check('lists', () => listed(server));
    await check('keeps an entity', async () => {
      await server.call('create_entities', { entities: [anna] });
      const { text, response } = await server.call('read_graph', {});
      hold(text.includes('likes tea') && response.structuredContent !== undefined, text);
      return '';
    });
    await check('arguments that do not fit are told to the model, and not sent', async () => {
      const { response, asked } = await server.call('create_entities', { entities: [{ name: 5 }] });
      hold(response.errorType === 'invalid_args' && asked === 0, JSON.stringify(response).slice(0, 200));
      return '';
    });
    await server.toolset.close();
    await using again = underGate({ command: process.execPath, args: [main], env, name: 'memory' });
    await check('a second process knows it', async () => {
      const { text } = await again.call('search_nodes', { query: 'tea' });
      hold(text.includes('Anna'), text);
      return '';
    });
  },
});
