import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { subject } from '../subject.ts';
import { hold, listed, underGate } from '../under-gate.ts';

export default subject({
  name: '@cyanheads/git-mcp-server',
  role: 'MCP server',
  packages: { '@cyanheads/git-mcp-server': '2.15.3' },
  async run({ bin, check, folder }) {
    const repository = join(realpathSync(folder), 'repository');
    mkdirSync(repository);
    execFileSync('git', ['init', '-q', repository]);
    const main = bin('@cyanheads/git-mcp-server');
    const env = { GIT_BASE_DIR: realpathSync(folder), MCP_LOG_LEVEL: 'error', LOGS_DIR: join(folder, 'logs') };
    await using server = underGate({ command: process.execPath, args: [main], env, name: 'git' });
    await check('lists', () => listed(server));
    await check('tells the state of a repository', async () => {
      const { text, response } = await server.call('git_status', { path: repository });
      hold(response.isError !== true && text !== '', text.slice(0, 300));
      return '';
    });
    await check('an error of the tool is one', async () => {
      const { response } = await server.call('git_status', { path: join(repository, 'nowhere') });
      hold(response.errorType === 'failed', JSON.stringify(response).slice(0, 200));
      return '';
    });
  },
});
