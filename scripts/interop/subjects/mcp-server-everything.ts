import { spawn } from 'node:child_process';
import { freePort } from '../../../test/adapters/servers.ts';
import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

export default subject({
  name: 'server-everything',
  role: 'MCP server',
  packages: { '@modelcontextprotocol/server-everything': '2026.8.31' },
  async run({ bin, check }) {
    const main = bin('@modelcontextprotocol/server-everything');
    await using stdio = underGate({ command: process.execPath, args: [main, 'stdio'], name: 'everything' });
    await check('stdio: lists', () => listed(stdio, /task/));
    await check('stdio: echo, after a yes', async () => {
      const { asked, text } = await stdio.call('echo', { message: 'ümlaut 😀' });
      hold(asked === 1 && text.includes('ümlaut 😀'), `asked ${asked}, ${text}`);
      return '';
    });
    await check('stdio: a picture arrives as media', async () => {
      const { response } = await stdio.call('get-tiny-image', {});
      hold(
        response.content.some(({ type }) => type === 'media'),
        JSON.stringify(response.content).slice(0, 200),
      );
      return '';
    });
    await check('stdio: structured content', async () => {
      const { response } = await stdio.call('get-structured-content', { location: 'New York' });
      hold(typeof response.structuredContent === 'object', JSON.stringify(response).slice(0, 200));
      return '';
    });
    await check('stdio: a denied call does not run', async () => {
      const { response } = await stdio.call('echo', { message: 'no' }, { kind: 'deny', reason: 'no' });
      hold(response.errorType === 'denied', JSON.stringify(response).slice(0, 200));
      return '';
    });
    await check('stdio: it asks in the midst of a call, and is answered through the host', async () => {
      const { text } = await stdio.call('trigger-elicitation-request', {});
      hold(stdio.questions.length === 1 && text.includes('Anna'), `${stdio.questions.join()} ${text}`);
      return '';
    });
    await check('stdio: what a link names is read', async () => {
      const { response } = await stdio.call('get-resource-links', { count: 1 });
      const link = response.content.find(({ type }) => type === 'reference') as { uri?: string } | undefined;
      const { response: read, text } = await stdio.call('everything_read_resource', { uri: link?.uri ?? '' });
      hold(read.isError !== true && text !== '', `${link?.uri} ${text}`);
      return '';
    });
    const port = await freePort();
    const child = spawn(process.execPath, [main, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      await new Promise<void>((resolve, reject) => {
        child.stderr.on('data', (chunk: Buffer) => /listening|running|port/i.test(String(chunk)) && resolve());
        child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
      });
      await using http = underGate({ url: `http://127.0.0.1:${port}/mcp`, name: 'everything' });
      await check('HTTP: lists', () => listed(http, /task/));
      await check('HTTP: adds two numbers', async () => {
        const { text } = await http.call('get-sum', { a: 2, b: 3 });
        hold(text.includes('5'), text);
        return '';
      });
    } finally {
      child.kill();
    }
  },
});
