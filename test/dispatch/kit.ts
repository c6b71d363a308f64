import type {
  DispatchExecutorFn,
  FunctionalEvents,
  ObservabilityEvents,
  TurnRunnerConfig,
} from '../../src/dispatch/index.ts';
import {
  inMemoryCallbacks,
  Message,
  Records,
  ToolCall,
  TurnRunner,
  toolCallChecksum,
} from '../../src/dispatch/index.ts';

const functional = ['message', 'thought', 'toolCall'] as const;
const observed = [
  'turnStart',
  'turnEnd',
  'dispatchStart',
  'dispatchEnd',
  'iterationStart',
  'iterationEnd',
  'toolExecutionStart',
  'toolExecutionEnd',
  'log',
  'generationStats',
  'violation',
  'error',
] as const;

type Seen = { [K in keyof FunctionalEvents]: FunctionalEvents[K][] } & {
  [K in keyof ObservabilityEvents]: ObservabilityEvents[K][];
};

export interface Desk {
  runner: TurnRunner;
  records: Records;
  /** Every event by name. */
  seen: Seen;
  /** Names of all observability events, in order; `log` left out. */
  order: string[];
}

/**
 * A runner over a conversation in memory, with everything it says written down. An expectation that fails inside of the
 * executor fails the run: the runner takes it for the executor's own failure, and the test would pass.
 */
export function desk(
  executor: DispatchExecutorFn,
  config: Partial<TurnRunnerConfig> = {},
  records = new Records(),
): Desk {
  let failure: Error | undefined;
  const executorCallback: DispatchExecutorFn = async (ctx, helpers) => {
    try {
      await executor(ctx, helpers);
    } catch (error) {
      if (error instanceof Error && error.name === 'AssertionError') failure = error;
      throw error;
    }
  };
  const runner = new TurnRunner({ ...inMemoryCallbacks(records), executorCallback, ...config });
  const run = runner.run.bind(runner);
  runner.run = async (...given) => {
    const outcome = await run(...given);
    if (failure) throw failure;
    return outcome;
  };
  const seen = {} as Record<string, unknown[]>;
  const order: string[] = [];
  for (const name of functional) {
    const list: unknown[] = [];
    seen[name] = list;
    runner.on(name, (event) => list.push(event));
  }
  for (const name of observed) {
    const list: unknown[] = [];
    seen[name] = list;
    runner.observe(name, (event) => {
      list.push(event);
      if (name !== 'log') order.push(name);
    });
  }
  return { runner, records, seen: seen as unknown as Seen, order };
}

export function message(id: string, content: string, role: 'user' | 'assistant' = 'assistant'): Message {
  return new Message({ id, role, content, createdAt: 1000, updatedAt: 1000 });
}

export function call(id: string, tool: string, args: unknown, results?: unknown, isComplete = true): ToolCall {
  const times = { createdAt: 1000, updatedAt: 1000, ...(isComplete ? { completedAt: 1000 } : {}) };
  return new ToolCall({ id, checksum: toolCallChecksum(tool, args), tool, args, results, isComplete, ...times });
}

export function conversation(...messages: Message[]): Records {
  const records = new Records();
  for (const value of messages) records.apply({ op: 'store', kind: 'message', value });
  return records;
}

/** What was thrown, by code. */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'nothing was thrown';
}
