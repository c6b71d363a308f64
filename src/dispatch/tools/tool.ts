import type {
  AgentCallContext,
  AnyAgentTool,
  ArgsOf,
  JsonSchema,
  SchemaLike,
  ToolContract,
  ToolDescriptor,
} from '../../contracts/index.ts';
import { describeTool } from '../../gate/index.ts';
import { bag, checkIs, fn } from '../../session/index.ts';
import type { SpooledArtifactConstructor } from '../records/index.ts';

/** Key of what runs a tool for a context: the gate directly, or the runtime's scheduler. */
export const runToolKey: unique symbol = Symbol('coxswain.dispatch.runTool');

const adopted = Symbol('adopted');

export interface ToolRunOptions {
  /**
   * Id of this very call, say the model's own. The same id again in one turn is the same call: it gets the result
   * that is known, and nothing runs twice. Default: every run is a new call.
   */
  callId?: string | undefined;
  /**
   * Fires when nobody wants the call any more: as long as it has not begun, it is cancelled, and whoever was asked about
   * it need not answer.
   */
  signal?: AbortSignal | undefined;
  /** The handler only waits for what runs elsewhere: it takes none of the places of `toolConcurrency`. Default false. */
  elsewhere?: boolean | undefined;
}

/** Whatever can run a tool: a DispatchContext. */
export interface ToolRunner {
  [runToolKey](tool: Tool, args: unknown, options: ToolRunOptions): Promise<unknown>;
}

export interface TypedTool<S extends SchemaLike, Deps = unknown>
  extends Omit<ToolContract<ArgsOf<S>, AgentCallContext<Deps>>, 'inputSchema' | 'parametersSchema' | 'execute'> {
  inputSchema?: S;
  /** Absent: only a host can run it. */
  handler?(args: ArgsOf<S>, context: AgentCallContext<Deps>): unknown;
  /** What text and bytes are wrapped in. Default: SpooledArtifact. */
  artifactConstructor?: (() => SpooledArtifactConstructor) | undefined;
  /** Its text and artifacts may stand as if the operator had written them. Never said of media. Default false. */
  trusted?: boolean | undefined;
}

/** Arguments are not typed; {@link Tool.define} infers them. */
export interface RawTool extends Omit<TypedTool<JsonSchema>, 'inputSchema'> {
  inputSchema?: SchemaLike;
}

/** A tool as an executor sees it. Its handler runs behind the gate, always. */
export class Tool {
  readonly name: string;
  readonly description: string;
  readonly trusted: boolean;
  readonly artifactConstructor: (() => SpooledArtifactConstructor) | undefined;
  /** The tool as the rest of the package knows it. */
  readonly contract: AnyAgentTool;
  /** Its handler may return Media: it was made here, not adopted. */
  readonly returnsMedia: boolean;
  readonly #described: ToolDescriptor;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` */
  constructor(raw: RawTool) {
    checkIs(raw, 'Tool', bag);
    if (raw.handler !== undefined) checkIs(raw.handler, 'Tool: handler', fn);
    const { handler, artifactConstructor, trusted, ...rest } = raw;
    const own = (raw as { [adopted]?: AnyAgentTool })[adopted];
    this.contract = own ?? { inputSchema: { type: 'object' }, ...rest, ...(handler ? { execute: handler } : {}) };
    this.returnsMedia = own === undefined && handler !== undefined;
    this.name = this.contract.name;
    this.description = this.contract.description;
    this.trusted = trusted ?? false;
    this.artifactConstructor = artifactConstructor;
    this.#described = describeTool(this.contract);
  }

  /** Infers the handler's arguments from the schema. */
  static define<const S extends SchemaLike, Deps = unknown>(raw: TypedTool<S, Deps>): Tool {
    return new Tool(raw as unknown as RawTool);
  }

  /** A tool of the rest of the package, kept as the object it is. */
  static from(contract: AnyAgentTool, more: Pick<RawTool, 'artifactConstructor' | 'trusted'> = {}): Tool {
    checkIs(contract, 'Tool.from: tool', bag);
    checkIs(more, 'Tool.from: options', bag);
    return new Tool({
      ...more,
      name: contract.name,
      description: contract.description,
      [adopted]: contract,
    } as RawTool);
  }

  /** Name, description, JSON Schema of the arguments, annotations. */
  describe(): ToolDescriptor {
    return this.#described;
  }

  /**
   * Runs the tool for a context: `await tool.executor(ctx)(args)`. By itself it gives what the handler returned;
   * in an agent, what the log has of it, and an error or a refusal as a ToolResult with `isError`.
   * @throws CoxswainError by itself `INVALID_ARGUMENT / E_INVALID_TOOL_ARGS`, `INTERNAL / E_TOOL_DOWNSTREAM_ERROR`;
   *   in an agent only the reason of an abort
   */
  executor(context: ToolRunner, options: ToolRunOptions = {}): (args: unknown) => Promise<unknown> {
    return (args) => context[runToolKey](this, args, options);
  }
}
