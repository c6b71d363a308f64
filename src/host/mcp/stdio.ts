import type { Readable, Writable } from 'node:stream';
import type { AgentHost } from '../host.ts';
import type { McpOptions } from './options.ts';
import { loadStdioSdk } from './sdk.ts';
import { createMcpFactory, warnOnStderr } from './server.ts';

export interface McpStdioOptions extends McpOptions {
  /** Default: stdin. */
  input?: Readable;
  /** Where the protocol goes. Default: stdout, which nothing else in the process can write to from then on. */
  output?: Writable;
}

export interface McpStdioServer {
  /**
   * Resolves when the client has closed either end, when it has sent what no message can be (a line of more than
   * 10 MB), or when `close` was called. What it was asked stays open.
   */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves the agents of a host to one client over stdio: 2026-07-28 and the 2025 versions. */
export async function serveMcpStdio(host: AgentHost, options: McpStdioOptions = {}): Promise<McpStdioServer> {
  const { input = process.stdin, output = claimStdout() } = options;
  const [factory, { serveStdio, StdioServerTransport }] = await Promise.all([
    createMcpFactory(host, options),
    loadStdioSdk(),
  ]);
  const transport = new StdioServerTransport(input, output);
  let end = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const warn = options.warn ?? warnOnStderr;
  const handle = serveStdio(factory, { transport, onerror: (error) => warn('MCP over stdio', error) });
  const { onclose } = transport;
  transport.onclose = () => {
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
 * user code is loaded. Child processes that inherit stdout are out of its reach.
 */
export function claimStdout(): Writable {
  if (claimed) return claimed;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  claimed = Object.create(stdout, { write: { value: write } }) as Writable;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return claimed;
}
