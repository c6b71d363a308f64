/** A server for tests that kill it: `node task-server.ts DATABASE FOLDER`. It says where it listens. */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import type { Model } from '../../src/index.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { payTool, puppet } from './agents.ts';

const [database = '', folder = ''] = process.argv.slice(2);

/** Thinks until there is a file, in whichever process: each that begins to is noted. */
const slow: Model = {
  name: 'slow',
  async *generate() {
    appendFileSync(join(folder, 'begun'), '.');
    while (!existsSync(join(folder, 'enough'))) await new Promise((resolve) => setTimeout(resolve, 20));
    yield {
      content: { role: 'model', parts: [{ type: 'text', text: 'enough' }] },
      turnComplete: true,
      finishReason: 'stop',
    };
  },
};

const host = createHost({
  app: 'shop',
  agents: [puppet(), new LlmAgent({ name: 'slow', description: 'Thinks for long.', model: slow })],
  tools: [payTool([], join(folder, 'paid'))],
  store: openSqlite(database),
  warn: () => {},
});
const { url } = await serveMcpHttp(host, {
  warn: () => {},
  tasks: { support: { puppet: 'required', slow: 'required' } },
});
process.stdout.write(`${url}\n`);
