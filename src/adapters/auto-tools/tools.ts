import type { AnyTool, FunctionResponsePart, SchemaLike, ToolCallContext, ToolReturn } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { describeTool } from '../../gate/index.ts';
import { bag, checkIs, fn } from '../../session/index.ts';
import type { ChatCall } from './chat.ts';
import { executeCalls } from './execute-calls.ts';
import type { ExecuteOptions } from './options.ts';
import { runnable } from './runnable.ts';

/** A function as models are told of it. */
export interface FunctionDeclaration extends Omit<AnyTool, 'execute' | 'inputSchema' | 'parametersSchema'> {
  /** Schema of the arguments: JSON Schema or zod. Absent: it takes none. */
  readonly parameters?: SchemaLike;
}

export type ToolFunction = (args: Record<string, never>, context: ToolCallContext<never>) => ToolReturn;

/** Functions by name, for models to call. */
export class FunctionTools implements Iterable<AnyTool> {
  readonly #tools = new Map<string, AnyTool>();

  /**
   * Registers a function under its declaration, or a tool as it is.
   * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA | E_BAD_INPUT` (no function)
   */
  register(tool: AnyTool): this;
  register<Args = Record<string, unknown>>(
    declaration: FunctionDeclaration,
    run: (args: Args, context: ToolCallContext<never>) => ToolReturn,
  ): this;
  register(declaration: AnyTool | FunctionDeclaration, run?: ToolFunction): this {
    checkIs(declaration, 'register: tool', bag);
    if (run !== undefined) checkIs(run, 'register: function', fn);
    const tool = run === undefined ? (declaration as AnyTool) : asTool(declaration, run);
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

  get(name: string): AnyTool | undefined {
    return this.#tools.get(name);
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  [Symbol.iterator](): Iterator<AnyTool> {
    return this.#tools.values();
  }

  /** Runs calls side by side, each through the gate; their results in the order of the calls. */
  executeCalls(calls: readonly ChatCall[], options: ExecuteOptions = {}): Promise<FunctionResponsePart[]> {
    return executeCalls(calls, { ...options, tools: this });
  }
}

function asTool(declaration: AnyTool | FunctionDeclaration, run: ToolFunction): AnyTool {
  const { parameters, ...rest } = declaration as FunctionDeclaration;
  return { ...rest, ...(parameters === undefined ? {} : { inputSchema: parameters }), execute: run } as AnyTool;
}
