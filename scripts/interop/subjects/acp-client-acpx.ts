import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

const root = join(import.meta.dirname, '../../..');
const memory = '@modelcontextprotocol/server-memory';

export default subject({
  name: 'acpx',
  role: 'ACP client',
  packages: { acpx: '0.19.1', [memory]: '2026.8.31' },
  tryMs: 90_000,
  async run({ bin, check, folder }) {
    const main = bin('acpx', 'acpx');
    const cwd = join(folder, 'project');
    mkdirSync(cwd);
    const words = [process.execPath, join(root, 'src/cli.ts'), 'acp', join(root, 'scripts/interop/acp-module.ts')];
    const agent = [...words, '--store', `sqlite:${join(folder, 'store.db')}`].map((word) => `'${word}'`).join(' ');
    const servers = join(folder, 'mcp.json');
    const server = { name: 'memory', type: 'stdio', command: process.execPath, args: [bin(memory)], env: [] };
    writeFileSync(servers, JSON.stringify({ mcpServers: [server] }));
    const acpx = async (...args: string[]) => {
      const env = { ...process.env, HOME: folder, MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
      const all = [main, '--cwd', cwd, '--agent', agent, '--timeout', '60', ...args];
      try {
        const { stdout, stderr } = await promisify(execFile)(process.execPath, all, { cwd, env });
        return `${stdout}${stderr}`;
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
        return `${stdout}${stderr}`;
      }
    };
    const paid = () => existsSync(join(cwd, 'paid.txt'));
    await check('says what the agent says', async () => {
      const said = await acpx('exec', 'good day');
      hold(said.includes('you said good day'), said);
      return '';
    });
    await check('a denied call does not run', async () => {
      const said = await acpx('--deny-all', 'exec', 'call pay');
      hold(!paid(), said);
      return '';
    });
    await check('an editor that approves reads approves a tool that only reads, and no other', async () => {
      const flags = ['--approve-reads', '--non-interactive-permissions', 'deny', 'exec'];
      const [read, other] = [await acpx(...flags, 'call peek'), await acpx(...flags, 'call pay')];
      hold(read.includes('nothing new') && !paid(), `${read}\n${other}`);
      return '';
    });
    await check('an allowed call runs in the folder of the editor', async () => {
      const said = await acpx('--approve-all', 'exec', 'call pay');
      hold(paid(), said);
      return '';
    });
    await check('a tool of the MCP server that the editor gives', async () => {
      const said = await acpx('--approve-all', '--mcp-config', servers, 'exec', 'call read_graph');
      hold(said.includes('entities'), said);
      return '';
    });
    await check('a session is kept over processes, its mode is set, and it is closed', async () => {
      const made = await acpx('sessions', 'new');
      const [first, mode] = [await acpx('prompt', 'one'), await acpx('set-mode', 'plan')];
      const again = await acpx('--approve-all', 'prompt', 'call pay');
      const closed = await acpx('sessions', 'close');
      const all = [made, first, mode, again, closed].join('\n');
      hold(first.includes('you said one') && /plan mode/i.test(again) && !/error/i.test(closed), all);
      return '';
    });
  },
});
