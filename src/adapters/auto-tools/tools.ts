import type {
  AgentCallContext,
  AnyAgentTool,
  FunctionResponsePart,
  SchemaLike,
  ToolReturn,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { describeTool } from '../../gate/index.ts';
import { bag, checkIs, fn } from '../../session/index.ts';
import type { ChatCall } from './chat.ts';
import { executeCalls } from './execute-calls.ts';
import type { ExecuteOptions } from './options.ts';
import { runnable } from './runnable.ts';

/** A function as models are told of it. */
export interface FunctionDeclaration extends Omit<AnyAgentTool, 'execute' | 'inputSchema' | 'parametersSchema'> {
  /** Schema of the arguments: JSON Schema or zod. Absent: it takes none. */
  readonly parameters?: SchemaLike;
}

export type ToolFunction = (args: Record<string, never>, context: AgentCallContext<never>) => ToolReturn;

/** Functions by name, for models to call. */
export class FunctionTools implements Iterable<AnyAgentTool> {
  readonly #tools = new Map<string, AnyAgentTool>();

  /**
   * Registers a function under its declaration, or a tool as it is.
   * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA | E_BAD_INPUT` (no function)
   */
  register(tool: AnyAgentTool): this;
  register<Args = Record<string, unknown>>(
    declaration: FunctionDeclaration,
    run: (args: Args, context: AgentCallContext<never>) => ToolReturn,
  ): this;
  register(declaration: AnyAgentTool | FunctionDeclaration, run?: ToolFunction): this {
    checkIs(declaration, 'register: tool', bag);
    if (run !== undefined) checkIs(run, 'register: function', fn);
    const tool = run === undefined ? (declaration as AnyAgentTool) : asTool(declaration, run);
    runnable(tool);
    if (this.#tools.has(tool.name)) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_DUPLICATE_TOOL',
        `a tool named ${tool.name} is registered already; unregister it first, or give this one another name`,
      );
    }
    describeTool(tool);
    this.#tools.set(tool.name, tool);
    return this;
  }

  /** True if there was one. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  get(name: string): AnyAgentTool | undefined {
    return this.#tools.get(name);
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  [Symbol.iterator](): Iterator<AnyAgentTool> {
    return this.#tools.values();
  }

  /** Runs calls side by side, each through the gate; their results in the order of the calls. */
  executeCalls(calls: readonly ChatCall[], options: ExecuteOptions = {}): Promise<FunctionResponsePart[]> {
    return executeCalls(calls, { ...options, tools: this });
  }
}

function asTool(declaration: AnyAgentTool | FunctionDeclaration, run: ToolFunction): AnyAgentTool {
  const { parameters, ...rest } = declaration as FunctionDeclaration;
  return { ...rest, ...(parameters === undefined ? {} : { inputSchema: parameters }), execute: run } as AnyAgentTool;
}
