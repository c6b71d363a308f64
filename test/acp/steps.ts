import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FromAcpOptions } from '../../src/adapters/acp/index.ts';
import { fromAcp } from '../../src/adapters/acp/index.ts';
import type { AgentSource } from '../../src/contracts/index.ts';

/** One thing that the agent of `steps-agent.ts` does. */
export type Step =
  /** Asks whether it may; with a yes it begins, does what is inside, and ends. */
  | { call: string; inside?: Step[] }
  /** Asks about all, and ends them when all are allowed. */
  | { asksAll: string[] }
  /** Begins without a question. */
  | { begin: string }
  | { read: string }
  | { write: string }
  | { all: Step[][] }
  /** Does not wait for these. */
  | { behind: Step[] }
  /** Waits until so many things have been asked for. */
  | { asked: number }
  /** Waits for a cancel. */
  | { cancelled: true }
  | { dies: true };

export interface StepsAgent extends Disposable {
  source: AgentSource;
  /** What the agent has noted, oldest first. */
  journal(): string[];
  /** Files that were written through the host. */
  written: string[];
}

export const script = (...steps: Step[]): string => JSON.stringify(steps);

/** An agent in a child process, with files of the host. */
export function stepsAgent(options: Partial<FromAcpOptions> = {}): StepsAgent {
  const folder = mkdtempSync(join(tmpdir(), 'acp-'));
  const file = join(folder, 'journal');
  const written: string[] = [];
  const source = fromAcp({
    name: 'steps',
    command: process.execPath,
    args: [fileURLToPath(new URL('./steps-agent.ts', import.meta.url)), file],
    cwd: folder,
    files: {
      readTextFile: async ({ path }) => `text of ${path}`,
      writeTextFile: async ({ path }) => {
        written.push(path);
      },
    },
    ...options,
  });
  const journal = () =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as string)
      : [];
  return { source, journal, written, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
