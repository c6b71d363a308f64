import type {
  AgentSource,
  AnyTool,
  LifecycleInterceptor,
  Limits,
  PolicyEvaluator,
  PriceTable,
  ToolProvider,
} from '../contracts/index.ts';
import type { Agent, Model } from '../runtime/index.ts';

/** What the command line gives an agent module whose default export is a function. */
export interface AgentModuleContext {
  /** `--workspace`, as an absolute path; undefined if it was not given. */
  readonly workspace: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * The model that `--model` or the environment asks for; undefined if neither does. An agent without a model of its
   * own is given it anyway.
   */
  readonly model: Model | undefined;
  /** Why it is that one, or none: in a few words, for people. */
  readonly modelWhy: string;
  /** The command runs at a terminal, with a person. */
  readonly interactive: boolean;
  /** Makes and returns a folder for files of the module; version control ignores it. */
  dataFolder(): string;
  /** Writes one line for the user to stderr. */
  note(text: string): void;
}

/**
 * What a module that `coxswain run` loads exports: by name, as members of its default export, or as the result of a
 * function that is its default export.
 */
export interface AgentModule {
  readonly agent: Agent | AgentSource;
  /** Tools that the host runs: every call passes the policy. */
  readonly tools?: readonly AnyTool[];
  readonly toolProviders?: readonly ToolProvider[];
  /** Default: read-only tools run, other calls need approval. `--policy` replaces it. */
  readonly policy?: PolicyEvaluator;
  readonly hooks?: LifecycleInterceptor;
  /** Given to tools, never logged. */
  readonly deps?: unknown;
  readonly models?: (name: string) => Model | undefined;
  /** USD per million tokens, for `--max-usd`. */
  readonly prices?: PriceTable;
  /** Limits of each turn; where a flag gives one too, the lower one counts. */
  readonly limits?: Limits;
  /** Example prompts: the first one is shown at the start of a conversation, and `--demo` runs it. */
  readonly examples?: readonly string[];
  /** Called once before the command ends. */
  close?(): void | Promise<void>;
}
