import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServeOptions } from '../../src/host/mcp/index.ts';
import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import type { HostOptions, SessionService } from '../../src/index.ts';
import { createHost, InMemorySessionService } from '../../src/index.ts';
import { payTool, puppet, waitTool } from './agents.ts';

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** A host with the puppet, a tool that needs a yes and one that waits, served over HTTP. */
export async function openShop(
  options: {
    store?: SessionService;
    runs?: unknown[];
    mcp?: McpServeOptions;
    host?: Partial<HostOptions>;
    agents?: Parameters<typeof createHost>[0]['agents'];
  } = {},
) {
  const runs = options.runs ?? [];
  const store = options.store ?? new InMemorySessionService();
  const waiting = waitTool();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const host = createHost({
    app: 'shop',
    tools: [payTool(runs), waiting.tool],
    store: store,
    warn,
    ...options.host,
    agents: options.agents ?? [puppet()],
  });
  const http = await serveMcpHttp(host, { warn, ...options.mcp });
  return {
    host,
    store,
    url: http.url,
    runs,
    waiting,
    warnings,
    async [Symbol.asyncDispose]() {
      await http.close();
      await host.close();
    },
  };
}

/** A file that a child writes to, line by line. */
export class Ledger {
  readonly folder = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
  readonly path = join(this.folder, 'ledger.txt');

  constructor() {
    writeFileSync(this.path, '');
  }

  get lines(): string[] {
    return existsSync(this.path) ? readFileSync(this.path, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Resolves when the line is there. */
  async has(line: string): Promise<void> {
    const watcher = watch(this.path);
    try {
      await new Promise<void>((resolve) => {
        const look = () => this.lines.includes(line) && resolve();
        watcher.on('change', look);
        look();
      });
    } finally {
      watcher.close();
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
