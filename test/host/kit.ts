import { expect } from 'vitest';
import type { FromAgentOptions } from '../../src/adapters/adk/index.ts';
import type {
  AgentCallContext,
  AgentEvent,
  AgentSession,
  AnyAgentTool,
  AnyTool,
  ExecutionOptions,
  PolicyDecision,
  PolicyEvaluator,
  PolicyRequest,
  ReportedRequest,
  Session,
  SessionInput,
  ToolCallContext,
  ToolContract,
} from '../../src/contracts/index.ts';
import { checkStream, createGrammarChecker } from '../../src/contracts/index.ts';
import { HostedSession } from '../../src/host/hosted/index.ts';
import type { Agent, AgentHost, HostOptions, SessionService } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import type { LlmAgentOptions, Model } from '../../src/runtime/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

export type EventOf<T extends string> = Extract<AgentEvent, { type: T }>;
type Input = string | SessionInput | readonly SessionInput[];

/** A promise and its handle. */
export function door<T = void>(): { opened: Promise<T>; open(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { opened: promise, open: resolve };
}

/** A tool that takes anything. */
export function tool(
  name: string,
  execute?: ToolContract['execute'],
  extra: Partial<Omit<ToolContract, 'name' | 'execute'>> = {},
): AnyTool {
  return {
    description: `does ${name}`,
    inputSchema: { type: 'object' },
    ...extra,
    name,
    ...(execute ? { execute } : {}),
  };
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

/** A host's session with what is the host's own of it. */
export function whole(session: Session): HostedSession {
  if (session instanceof HostedSession) return session;
  throw new Error('no session of a host');
}

export const readOnly = { annotations: { readOnly: true } };

/** A tool that notes each run and waits until it is let go. */
export function slowTool(name: string, extra: Partial<Omit<ToolContract, 'name' | 'execute'>> = {}) {
  const started = door<ToolCallContext>();
  const result = door<unknown>();
  const runs: unknown[] = [];
  const made = tool(
    name,
    (args, context) => {
      runs.push(args);
      started.open(context as ToolCallContext);
      return result.opened;
    },
    extra,
  );
  return { tool: made, started: started.opened, finish: result.open, runs };
}

/** A tool that notes each run and returns at once. */
export function notingTool(name: string, extra: Partial<Omit<ToolContract, 'name' | 'execute'>> = {}) {
  const runs: Record<string, unknown>[] = [];
  const made = tool(
    name,
    (args) => {
      runs.push(args as Record<string, unknown>);
      return `${name} done`;
    },
    extra,
  );
  return { tool: made, runs };
}

export function bot(model: Model | readonly Script[], options: Omit<LlmAgentOptions, 'name'> & { name?: string } = {}) {
  const made = 'generate' in model ? model : new ScriptedModel(model);
  return new LlmAgent({ name: 'bot', model: made, ...options });
}

/** A policy made of outcomes by tool name; what it was asked is kept. */
export function policyOf(
  outcomes: Record<string, PolicyDecision | PolicyDecision['outcome'] | ((request: PolicyRequest) => PolicyDecision)>,
): PolicyEvaluator & { asked: PolicyRequest[] } {
  const asked: PolicyRequest[] = [];
  return {
    asked,
    evaluate(request) {
      asked.push(request);
      const word = outcomes[request.action] ?? 'allow';
      if (typeof word === 'function') return word(request);
      return typeof word === 'string' ? { outcome: word } : word;
    },
  };
}

export interface Bench {
  host: AgentHost;
  store: SessionService;
  warnings: string[];
}

/** A host with one agent over an in-memory store, or the store that is given: a restart is a second bench. */
export function hostOf(
  agent: Agent,
  options: Partial<Omit<HostOptions, 'agents' | 'store' | 'sessions'>> & {
    store?: SessionService;
    from?: FromAgentOptions;
  } = {},
): Bench {
  const { store = new InMemorySessionService(), from, ...rest } = options;
  const warnings: string[] = [];
  const host = createHost({
    app: 'shop',
    agents: [fromAgent(agent, from)],
    store: store,
    warn: (message) => warnings.push(message),
    ...rest,
  });
  return { host, store, warnings };
}

/** What a session handle has shown so far: the next stream is judged against it. */
const shown = new WeakMap<AgentSession, { initialized: boolean; open: ReadonlySet<string> }>();

/** Judges the events of one stream by the grammar. */
export function judged(session: AgentSession, events: readonly AgentEvent[], openBefore: readonly string[]): void {
  const before = shown.get(session);
  const initialized = before?.initialized ?? false;
  const openRequests = new Set([...openBefore, ...(before?.open ?? [])]);
  expect(checkStream(events, { openRequests, initialized, immutability: true })).toEqual([]);
  const checker = createGrammarChecker({ openRequests, initialized });
  for (const event of events) checker.push(event);
  shown.set(session, { initialized: checker.initialized, open: checker.openRequests });
}

/** Ids of the requests that are open before a stream: those of the log, and the host's questions. */
export async function openIds(session: AgentSession): Promise<string[]> {
  const open = new Set((await session.pending()).map(({ requestId }) => requestId));
  for await (const event of session.events()) {
    if (event.type === 'tool_request' || event.type === 'elicitation_request') open.add(event.requestId);
    if (event.type === 'tool_response' || event.type === 'elicitation_response') open.delete(event.requestId);
  }
  return [...open];
}

/** Runs one stream to its end; its events obey the grammar. */
export async function say(
  session: AgentSession,
  input: Input,
  options: ExecutionOptions & { onEvent?: (event: AgentEvent) => unknown } = {},
): Promise<AgentEvent[]> {
  const { onEvent, ...execution } = options;
  const before = await openIds(session);
  const events: AgentEvent[] = [];
  for await (const event of session.stream(input, execution)) {
    events.push(event);
    await onEvent?.(event);
  }
  judged(session, events, before);
  return events;
}

/** A stream that runs by itself; `events` grows, `ended` is all of them. */
export function follow(session: AgentSession, input: Input, options: ExecutionOptions = {}) {
  const events: AgentEvent[] = [];
  const waiting: {
    fits: (event: AgentEvent) => boolean;
    resolve: (event: AgentEvent) => void;
    end: () => void;
  }[] = [];
  let isOver = false;
  const missing = (type: string) => new Error(`the stream has ended without ${type}: ${brief(events).join(', ')}`);
  const stream = session.stream(input, options);
  const ended = (async () => {
    try {
      const before = await openIds(session);
      for await (const event of stream) {
        events.push(event);
        for (const wait of waiting.filter(({ fits }) => fits(event))) wait.resolve(event);
      }
      judged(session, events, before);
      return events;
    } finally {
      isOver = true;
      for (const { end } of waiting) end();
    }
  })();
  return {
    stream,
    events,
    ended,
    /** The first event of this kind, now or later; rejects where the stream ends without one. */
    seen<T extends AgentEvent['type']>(
      type: T,
      fits: (event: EventOf<T>) => boolean = () => true,
    ): Promise<EventOf<T>> {
      const matches = (event: AgentEvent) => event.type === type && fits(event as EventOf<T>);
      const known = events.find(matches);
      if (known) return Promise.resolve(known as EventOf<T>);
      if (isOver) return Promise.reject(missing(type));
      return new Promise((resolve, reject) => {
        const end = () => reject(missing(type));
        waiting.push({ fits: matches, resolve: resolve as (event: AgentEvent) => void, end });
      });
    },
  };
}

export function ofType<T extends string>(events: readonly AgentEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

export function endOf(events: readonly AgentEvent[]): EventOf<'stream_end'> {
  const end = events.at(-1);
  if (end?.type !== 'stream_end') throw new Error(`the stream ends with ${end?.type}`);
  return end as EventOf<'stream_end'>;
}

/** Every event in short. */
export function brief(events: readonly AgentEvent[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'message':
        return `${event.role}${event.partial ? '~' : ''}: ${event.content.map(briefPart).join('|')}`;
      case 'tool_request':
        return `call ${event.name}`;
      case 'tool_response':
        return `${event.name} = ${event.errorType ?? textOfContent(event.content)}`;
      case 'tool_update':
        return `update ${event.status ?? 'progress'}`;
      case 'elicitation_request':
        return `ask ${event.kind}`;
      case 'elicitation_response':
        return `answer ${event.action}`;
      case 'custom':
        return `custom ${event.kind}`;
      case 'stream_end':
        return `end ${event.reason}`;
      default:
        return event.type;
    }
  });
}

function briefPart(part: { type: string }): string {
  return 'text' in part ? String(part.text) : part.type;
}

export function textOfContent(content: readonly { type: string }[]): string {
  return content.map((part) => ('text' in part ? String(part.text) : `<${part.type}>`)).join('');
}

/** Results by tool name, as a person reads them. */
export function results(events: readonly AgentEvent[]): Record<string, string> {
  return Object.fromEntries(
    ofType(events, 'tool_response').map(({ name, content, errorType = '' }) => {
      const text = textOfContent(content);
      return [name, text.startsWith(errorType) ? text : `${errorType}: ${text}`];
    }),
  );
}

export async function only(session: AgentSession): Promise<ReportedRequest> {
  const pending = await session.pending();
  expect(pending).toHaveLength(1);
  return pending[0] as ReportedRequest;
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a promise is rejected with. */
export async function refusal(work: Promise<unknown>): Promise<{ status: string; code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    const { status, code, message } = error as { status: string; code: string; message: string };
    return { status, code, message };
  }
  throw new Error('it was not refused');
}

/** The first `next()` of a stream, for refusals. */
export function firstOf(session: AgentSession, input: Input, options: ExecutionOptions = {}): Promise<unknown> {
  return session.stream(input, options).next();
}
