import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

export default subject({
  name: 'server-filesystem',
  role: 'MCP server',
  packages: { '@modelcontextprotocol/server-filesystem': '2026.8.31' },
  async run({ bin, check, folder }) {
    const files = join(realpathSync(folder), 'files');
    mkdirSync(files);
    writeFileSync(join(files, 'a.txt'), 'hello');
    const main = bin('@modelcontextprotocol/server-filesystem');
    await using server = underGate({ command: process.execPath, args: [main, files], name: 'files' });
    await check('lists', () => listed(server));
    await check('reads a file', async () => {
      const { text } = await server.call('read_text_file', { path: join(files, 'a.txt') });
      hold(text.includes('hello'), text);
      return '';
    });
    await check('writes a file after a yes, not after a no', async () => {
      const path = join(files, 'b.txt');
      await server.call('write_file', { path, content: 'no' }, { kind: 'deny', reason: 'no' });
      await server.call('write_file', { path, content: 'yes' });
      hold(readFileSync(path, 'utf8') === 'yes', readFileSync(path, 'utf8'));
      return '';
    });
    await check('a path outside is the tool’s own error', async () => {
      const { response, text } = await server.call('read_text_file', { path: '/etc/passwd' });
      hold(response.isError === true && text.includes('denied'), text);
      return '';
    });
    await check('a picture arrives as media', async () => {
      const path = join(files, 'p.png');
      writeFileSync(path, Buffer.alloc(20_000, 7));
      const { response } = await server.call('read_media_file', { path });
      const media = response.content.filter(({ type }) => type === 'media');
      hold(media.length === 1, response.content.map(({ type }) => type).join());
      return '';
    });
  },
});
