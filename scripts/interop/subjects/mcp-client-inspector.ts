import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openShop } from '../shop.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

export default subject({
  name: 'inspector',
  role: 'MCP client',
  packages: { '@modelcontextprotocol/inspector': '2.12.0' },
  tryMs: 180_000,
  async run({ bin, check, folder }) {
    const main = bin('@modelcontextprotocol/inspector');
    await using shop = await openShop();
    const inspect = async (...args: string[]) => {
      // It keeps a catalog of its own in the home folder.
      const env = { ...process.env, HOME: folder };
      return run(process.execPath, [main, '--cli', ...args], { cwd: folder, env });
    };
    for (const era of ['legacy', 'modern']) {
      const over = [shop.url, '--transport', 'http', '--protocol-era', era];
      await check(`HTTP, ${era}: lists the agent without a finding`, async () => {
        const { stdout, stderr } = await inspect(...over, '--method', 'tools/list', '--strict');
        const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
        hold(stderr === '' && tools.some(({ name }) => name === 'clerk'), `${stdout}${stderr}`);
        return `${tools.length} tools`;
      });
      await check(`HTTP, ${era}: calls it`, async () => {
        const call = ['--method', 'tools/call', '--tool-name', 'clerk', '--tool-arg', 'prompt=say hello'];
        const { stdout } = await inspect(...over, ...call);
        hold(stdout.includes('hello'), stdout);
        return '';
      });
    }
    await check('stdio: lists the agent of coxswain mcp', async () => {
      const agent = join(root, 'examples/workspace/agent.ts');
      const server = [process.execPath, join(root, 'src/cli.ts'), 'mcp', agent, '--store', 'memory'];
      const { stdout } = await inspect(...server, '--connect-timeout', '120000', '--method', 'tools/list');
      hold(stdout.includes('session_id'), stdout);
      return '';
    });
  },
});
