import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openaiChatModel } from '../../src/adapters/models/index.ts';
import { FileArtifactService } from '../../src/adapters/stores/file-artifacts.ts';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import type { AgentEvent } from '../../src/index.ts';
import { allowAll, createHost, defineTool, LlmAgent } from '../../src/index.ts';
import { CountingServer } from './counting-server.ts';

export interface LongTurn {
  steps: number;
  /** Characters of each result. */
  result: number;
  /** Tokens that the model takes. */
  window: number;
  isCompacted: boolean;
  /** Bytes of a result that stay in the log; the whole goes to a folder. Absent: as a host has it by default. */
  cap?: number;
}

export interface LongTurnFigures {
  reason: string;
  error: string | undefined;
  fetched: number;
  readAgain: number;
  compactions: number;
  server: CountingServer;
  seconds: number;
}

/** One turn of many steps against a model that counts, with the log in a file of SQLite. */
export async function longTurn({ steps, result, window, isCompacted, cap }: LongTurn): Promise<LongTurnFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-long-'));
  const server = new CountingServer({ window, steps });
  const baseUrl = await server.listen();
  const store = openSqlite(join(folder, 'log.db'));
  const line = 'What a page says. ';
  const fetch = defineTool({
    name: 'fetch',
    description: 'Fetches a page.',
    inputSchema: { type: 'object', properties: { page: { type: 'integer' } } },
    annotations: { readOnly: true },
    execute: ({ page }) =>
      `Page ${page}. ${line.repeat(Math.ceil(result / line.length)).slice(0, result)} End ${page}.`,
  });
  const agent = new LlmAgent({
    name: 'reader',
    model: openaiChatModel('counting', { apiKey: 'none', baseUrl }),
    instruction: 'Read what there is.',
    tools: [fetch],
    compaction: isCompacted ? { window } : false,
    maxIterations: steps + 10,
  });
  const host = createHost({
    app: 'long',
    agents: [agent],
    agentOptions: {
      limits: { maxLlmCalls: 0 },
      services: { artifacts: new FileArtifactService(join(folder, 'artifacts')) },
    },
    store,
    policy: allowAll(),
    ...(cap === undefined ? {} : { maxResultBytes: cap }),
  });
  const start = performance.now();
  const seen = { reason: '', error: undefined as string | undefined, fetched: 0, readAgain: 0, compactions: 0 };
  try {
    for await (const event of (await host.open('reader')).stream('Read all pages.')) note(event, seen);
    return { ...seen, server, seconds: (performance.now() - start) / 1000 };
  } finally {
    await host.close();
    await store.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function note(event: AgentEvent, seen: Omit<LongTurnFigures, 'server' | 'seconds'>): void {
  if (event.type === 'tool_response' && !event.isError) {
    if (event.name === 'fetch') seen.fetched++;
    else if (event.name === 'read_result') seen.readAgain++;
  } else if (event.type === 'custom' && event.kind === 'compacted') seen.compactions++;
  else if (event.type === 'error') seen.error ??= event.message;
  else if (event.type === 'stream_end') seen.reason = event.reason;
}
