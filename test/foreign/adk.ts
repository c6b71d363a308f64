import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdkAgent, AdkModule, AdkTool } from '../../src/adapters/google-adk/index.ts';
import { installed } from '../installed.ts';

const folder = join(import.meta.dirname, 'google-adk');

/** Why the real package is not here; undefined if it is. */
export const missing = installed(folder);

/** What the tests use of it beside what the adapter uses. */
export interface Adk extends AdkModule {
  LlmAgent: new (config: object) => AdkAgent;
  SequentialAgent: new (config: object) => AdkAgent;
  ParallelAgent: new (config: object) => AdkAgent;
  LoopAgent: new (config: object) => AdkAgent;
  FunctionTool: new (config: object) => AdkTool;
  LongRunningFunctionTool: new (config: object) => AdkTool;
  AgentTool: new (config: object) => AdkTool;
  SecurityPlugin: new (config: object) => object;
  Workflow: new (config: object) => object;
  FunctionNode: new (name: string, run: () => unknown) => object;
  START: unknown;
  EXIT_LOOP: AdkTool;
  BaseLlm: abstract new (config: { model: string }) => object;
  BasePlugin: abstract new (name: string) => object;
  BaseToolset: abstract new (filter: readonly string[]) => object;
  setLogLevel(level: number): void;
  LogLevel: { ERROR: number };
}

export async function loadAdk(): Promise<Adk> {
  const file = join(folder, 'node_modules', '@google', 'adk', 'dist', 'esm', 'index.js');
  const adk = (await import(pathToFileURL(file).href)) as unknown as Adk;
  adk.setLogLevel(adk.LogLevel.ERROR + 1);
  return adk;
}

export interface Step {
  text?: string;
  thought?: string;
  calls?: readonly (readonly [name: string, args?: object])[];
  error?: Error;
  usage?: object;
  finishReason?: string;
}

export interface Request {
  contents: {
    role?: string;
    parts?: {
      text?: string;
      functionResponse?: { id?: string; name?: string; response?: object };
      functionCall?: { id?: string; name?: string };
    }[];
  }[];
  toolsDict: Record<string, unknown>;
}

/** A model that says what was written down; with pieces first where pieces are wanted. */
export function scripted(adk: Adk, steps: readonly (string | Step | ((request: Request) => string | Step))[]) {
  const requests: Request[] = [];
  let at = 0;
  const Base = adk.BaseLlm as new (config: { model: string }) => object;
  class Scripted extends Base {
    async *generateContentAsync(request: Request, stream = false) {
      requests.push({ ...request, contents: structuredClone(request.contents) });
      const next = steps[at++] ?? 'nothing more';
      const given = typeof next === 'function' ? next(request) : next;
      const step: Step = typeof given === 'string' ? { text: given } : given;
      if (step.error) throw step.error;
      const parts: object[] = [];
      if (step.thought !== undefined) parts.push({ text: step.thought, thought: true });
      if (step.text !== undefined) {
        parts.push({ text: step.text });
        if (stream) {
          for (const piece of step.text.split(/(?<= )/)) {
            yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true };
          }
        }
      }
      for (const [name, args = {}] of step.calls ?? []) parts.push({ functionCall: { name, args } });
      yield {
        content: { role: 'model', parts },
        ...(step.usage ? { usageMetadata: step.usage } : {}),
        ...(step.finishReason === undefined ? {} : { finishReason: step.finishReason }),
      };
    }

    async connect(): Promise<never> {
      throw new Error('not live');
    }
  }
  return { model: new Scripted({ model: 'scripted' }), requests, used: () => at };
}
