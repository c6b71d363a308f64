import { syncBuiltinESMExports } from 'node:module';
import type { Writable } from 'node:stream';
import { warnWith } from '../../../base/index.ts';
import type { AgentHost } from '../../index.ts';
import type { McpStdioOptions } from '../turn/index.ts';
import { factoryOptions, loadStdioSdk, mcpInput } from '../turn/index.ts';
import { paced } from './paced.ts';
import { createMcpFactory } from './server.ts';
import { Strangers } from './strangers.ts';

export interface McpStdioServer {
  /**
   * Resolves when the client has closed either end, when it has sent what no message can be (a line of more than
   * 10 MB), when it has read nothing for 30 s while a thousand answers, or 16 MiB, wait for it, or when `close` was called. What it was
   * asked stays open.
   */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves the agents of a host to one client over stdio: 2026-07-28 and the 2025 versions.
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { serveMcpStdio } from 'coxswain/server/mcp';
 *
 * const clerk = new LlmAgent({ name: 'clerk', description: 'Answers questions about orders.', model: 'gpt-5' });
 * await serveMcpStdio(createHost({ app: 'shop', agents: [clerk] }));
 * ```
 */
export async function serveMcpStdio(host: AgentHost, options: McpStdioOptions = {}): Promise<McpStdioServer> {
  mcpInput.stdio(host, options);
  const { input = process.stdin, output = claimStdout() } = options;
  const [factory, { serveStdio, StdioServerTransport }] = await Promise.all([
    createMcpFactory(host, factoryOptions(options)),
    loadStdioSdk(),
  ]);
  const transport = new StdioServerTransport(input, output);
  let end = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const warn = warnWith(options.warn);
  const pace = paced(transport, { input, output }, () => {
    warn('the client has taken nothing of what it was sent for 30 s: the server ends');
    void transport.close();
  });
  const strangers = new Strangers(warn);
  const handle = serveStdio(factory, { transport, onerror: ({ message }) => strangers.note(message) });
  const { onclose } = transport;
  transport.onclose = () => {
    pace.end();
    onclose?.();
    end();
  };
  return {
    closed,
    async close() {
      await handle.close();
      end();
    },
  };
}

let claimed: Writable | undefined;

/**
 * Stdout for the protocol alone: what anybody else in this process prints goes to stderr from now on. Call it before
 * user code is loaded. What is written to file descriptor 1 itself, and by child processes that inherit it, is out of
 * its reach: `coxswain mcp` keeps that off too.
 */
export function claimStdout(): Writable {
  if (claimed) return claimed;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  claimed = Object.create(stdout, { write: { value: write } }) as Writable;
  // For whoever has it already, as console does.
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => stderr });
  syncBuiltinESMExports();
  // Nobody has to read what is printed.
  stderr.on('error', () => {});
  return claimed;
}
