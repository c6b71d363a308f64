import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openShop } from '../shop.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

export default subject({
  name: 'mcporter',
  role: 'MCP client',
  packages: { mcporter: '0.12.3' },
  async run({ bin, check, folder }) {
    const main = bin('mcporter', 'mcporter');
    await using shop = await openShop();
    const config = join(folder, 'mcporter.json');
    const agent = join(root, 'examples/workspace/agent.ts');
    const stdio = { command: process.execPath, args: [join(root, 'src/cli.ts'), 'mcp', agent, '--store', 'memory'] };
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: { url: shop.url }, workspace: stdio }, imports: [] }));
    const mcporter = async (...args: string[]) => {
      const env = { ...process.env, HOME: folder };
      const all = [main, '--config', config, '--log-level', 'error', ...args];
      return (await run(process.execPath, all, { cwd: folder, env })).stdout;
    };
    await check('HTTP: lists the agent', async () => {
      const said = await mcporter('list', 'shop', '--schema');
      hold(said.includes('clerk') && said.includes('prompt'), said);
      return '';
    });
    await check('HTTP: calls it', async () => {
      const said = await mcporter('call', 'shop.clerk', 'prompt=say hello');
      hold(said.includes('hello'), said);
      return '';
    });
    await check('HTTP: it cannot ask its user, so that a payment does not run and says where it waits', async () => {
      const said = await mcporter('call', 'shop.clerk', 'prompt=pay 5').catch(
        (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
      );
      hold(said.includes('approvals approve') && shop.paid.length === 0, said);
      return '';
    });
    await check('stdio: lists the agent of coxswain mcp', async () => {
      const said = await mcporter('list', 'workspace');
      hold(said.includes('session_id'), said);
      return '';
    });
  },
});
