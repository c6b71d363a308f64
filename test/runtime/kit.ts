import type {
  AgentCallContext,
  AgentEvent,
  AgentSession,
  AnyAgentTool,
  AnyTool,
  Content,
  ContentPart,
  HostContext,
  SessionInput,
  ToolContract,
} from '../../src/contracts/index.ts';
import type {
  Agent,
  LlmAgentOptions,
  Model,
  Plugin,
  RunnerOptions,
  RunRequest,
  SessionService,
  StoredEvent,
} from '../../src/runtime/index.ts';
import { LlmAgent, Runner } from '../../src/runtime/index.ts';

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export interface Bench {
  runner: Runner;
  sessions: SessionService;
  warnings: string[];
  /** Runs one invocation; the events that were stored. */
  say(input: RunRequest['input'], options?: Partial<RunRequest>): Promise<StoredEvent[]>;
  /** All events, partial ones too. */
  frames(input: RunRequest['input'], options?: Partial<RunRequest>): Promise<StoredEvent[]>;
  log(): Promise<readonly StoredEvent[]>;
  state(): Promise<Readonly<Record<string, unknown>>>;
}

export const key = { app: 'shop', userId: 'ann', id: 's1' };

/** A runner with one session. */
export function bench(agent: Agent, options: Partial<RunnerOptions> = {}): Bench {
  const warnings: string[] = [];
  const runner = new Runner({ app: key.app, agent, warn: (message) => warnings.push(message), ...options });
  const frames = (input: RunRequest['input'], more: Partial<RunRequest> = {}) =>
    collect(runner.run({ userId: key.userId, sessionId: key.id, input, ...more }));
  const record = () => runner.store.get(key);
  return {
    runner,
    sessions: runner.store,
    warnings,
    frames,
    say: async (input, more) => (await frames(input, more)).filter((event) => !event.partial),
    log: async () => (await record())?.events ?? [],
    state: async () => (await record())?.state ?? {},
  };
}

/** An LLM agent; without tools, instruction and the rest unless they are given. */
export function llm(name: string, model: Model | undefined, options: Omit<LlmAgentOptions, 'name'> = {}): LlmAgent {
  return new LlmAgent({ name, ...(model ? { model } : {}), ...options });
}

/** A tool that takes anything. */
export function tool(
  name: string,
  execute: ToolContract['execute'],
  extra: Partial<Omit<ToolContract, 'name' | 'execute'>> = {},
): AnyTool {
  const shape = { description: `does ${name}`, inputSchema: { type: 'object' }, ...extra, name };
  return execute ? { ...shape, execute } : shape;
}

type OwnTool = ToolContract<Record<string, unknown>, AgentCallContext>;

/** A tool of an agent that takes anything, and uses what belongs to the agent's session. */
export function ownTool(
  name: string,
  execute: OwnTool['execute'],
  extra: Partial<Omit<OwnTool, 'name' | 'execute'>> = {},
): AnyAgentTool {
  return { ...tool(name, undefined, extra), ...(execute ? { execute } : {}) };
}

/** Contents, one line each. */
export function brief(contents: readonly Content[] | undefined): string[] {
  return (contents ?? []).map(({ role, parts }) => `${role}: ${parts.map(briefPart).join(' | ')}`);
}

function briefPart(part: ContentPart): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'function_call') return `call ${part.name}(${JSON.stringify(part.args)})`;
  if (part.type === 'function_response') return `${part.name} = ${JSON.stringify(part.response)}`;
  return part.type;
}

/** Events that say something, one line each. */
export function said(events: readonly StoredEvent[]): string[] {
  return events.flatMap((event) =>
    event.content && event.content.parts.length > 0
      ? [`${event.author}: ${event.content.parts.map(briefPart).join(' | ')}`]
      : [],
  );
}

/** Why the turn ended; undefined while it waits. */
export function endOf(events: readonly StoredEvent[]): string | undefined {
  return events.at(-1)?.actions.end?.reason;
}

export function errorOf(events: readonly StoredEvent[]): { code: string; message: string } | undefined {
  const event = events.find(({ errorCode }) => errorCode !== undefined);
  return event && { code: event.errorCode ?? '', message: event.errorMessage ?? '' };
}

/** Every response in the events, by tool name. */
export function responses(events: readonly StoredEvent[]): Record<string, Record<string, unknown>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const event of events) {
    for (const part of event.content?.parts ?? []) {
      if (part.type === 'function_response') found[part.name] = part.response;
    }
  }
  return found;
}

/** Ids of calls and responses, in order. */
export function callIds(events: readonly StoredEvent[]): string[] {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  return parts.flatMap((part) => (part.type === 'function_call' || part.type === 'function_response' ? [part.id] : []));
}

export function text(words: string): Content {
  return { role: 'model', parts: [{ type: 'text', text: words }] };
}

export const user = (words: string): Content => ({ role: 'user', parts: [{ type: 'text', text: words }] });

/** A promise and its handle. */
export function gate<T = void>(): { opened: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}

/** Notes, by name, every hook that is called. */
export function tracer(name: string, trace: string[]): Required<Omit<Plugin, 'name' | 'policy'>> & { name: string } {
  const note = (point: string) => () => {
    trace.push(`${point} ${name}`);
    return undefined;
  };
  return {
    name,
    onUserMessage: note('on_user_message'),
    beforeRun: note('before_run'),
    afterRun: note('after_run'),
    onEvent: note('on_event'),
    beforeAgent: note('before_agent'),
    afterAgent: note('after_agent'),
    beforeModel: note('before_model'),
    afterModel: note('after_model'),
    beforeTool: note('before_tool'),
    afterTool: note('after_tool'),
    onModelError: note('on_model_error'),
    onToolError: note('on_tool_error'),
  };
}

/** The same for the hooks that an agent may have of its own. */
export function callbackTracer(name: string, trace: string[]) {
  const { beforeAgent, afterAgent, beforeModel, afterModel, beforeTool, afterTool, onModelError, onToolError } = tracer(
    name,
    trace,
  );
  return { beforeAgent, afterAgent, beforeModel, afterModel, beforeTool, afterTool, onModelError, onToolError };
}

export const host: HostContext = { app: key.app, userId: key.userId };

export function streamAll(session: AgentSession, input: string | SessionInput): Promise<AgentEvent[]> {
  return collect(session.stream(input));
}

/** A store whose process can die: from then on nothing is written any more. */
export function mortal(store: SessionService, dies: (events: readonly StoredEvent[]) => boolean): SessionService {
  let dead = false;
  return {
    create: (given, options) => store.create(given, options),
    get: (given, options) => store.get(given, options),
    list: (scope, options) => store.list(scope, options),
    delete: (given) => store.delete(given),
    fork: (source, options) => store.fork(source, options),
    openCalls: (scope) => store.openCalls(scope),
    openTurns: (scope) => store.openTurns(scope),
    acquire: (given) => store.acquire(given),
    holder: (given) => store.holder(given),
    close: () => store.close(),
    append: async (given, events, options) => {
      dead ||= dies(events);
      if (dead) throw new Error('the process is gone');
      return store.append(given, events, options);
    },
  };
}
