import type { FromAgentOptions } from '../../src/adapters/adk/index.ts';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type {
  AgentEvent,
  AgentSession,
  AnyTool,
  ExecutorStreamOptions,
  PolicyEvaluator,
  ReportedRequest,
  SessionInput,
} from '../../src/contracts/index.ts';
import type { StoredEvent, Toolset } from '../../src/runtime/index.ts';
import { InMemorySessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { Folding } from './folding.ts';
import { collect, host, key, llm, tool } from './kit.ts';

export interface Resumed {
  session: AgentSession;
  sessions: InMemorySessionService;
  model: ScriptedModel;
  warnings: string[];
  /** Arguments of each run of the tool. */
  ran: unknown[];
  go(input?: SessionInput | SessionInput[] | string, options?: ExecutorStreamOptions): Promise<AgentEvent[]>;
  /** Responses in the log: `content` or `error` of each, by call id. */
  responses(): Promise<Record<string, unknown>>;
  pending(): Promise<ReportedRequest[]>;
  log(): Promise<readonly StoredEvent[]>;
}

/** A session whose log a process that is gone has left: its agent `bot` has called `tool c1`, and more. */
export async function resumed(
  left: (folding: Folding) => void,
  options: {
    tool?: Partial<AnyTool>;
    tools?: readonly AnyTool[];
    policy?: PolicyEvaluator;
    script?: string[];
    source?: FromAgentOptions;
    toolsets?: readonly Toolset[];
    /** Its log has nothing at all. */
    empty?: boolean;
  } = {},
): Promise<Resumed> {
  const folding = new Folding();
  left(folding);
  const sessions = new InMemorySessionService();
  await sessions.create(key);
  if (!options.empty) await sessions.append(key, folding.events);
  const ran: unknown[] = [];
  const warnings: string[] = [];
  const execute = (args: unknown) => {
    ran.push(args);
    return 'ran';
  };
  const own = { ...tool('tool c1', execute), ...options.tool } as AnyTool;
  const model = new ScriptedModel(options.script ?? ['done', 'done', 'done']);
  const agent = llm('bot', model, { tools: options.tools ?? [own], toolsets: options.toolsets ?? [] });
  const source = fromAgent(agent, { store: sessions, warn: (message) => warnings.push(message), ...options.source });
  const session = await source.open({ sessionId: key.id }, options.policy ? { ...host, policy: options.policy } : host);
  const log = async () => (await sessions.get(key))?.events ?? [];
  return {
    session,
    sessions,
    model,
    warnings,
    ran,
    go: (input = { kind: 'continue' }, execution = {}) => collect(session.stream(input as SessionInput, execution)),
    responses: async () => {
      const parts = (await log()).flatMap(({ content }) => content?.parts ?? []);
      return Object.fromEntries(
        parts.flatMap((part) =>
          part.type === 'function_response' ? [[part.id, part.response.content ?? part.response.error]] : [],
        ),
      );
    },
    pending: () => session.pending(),
    log,
  };
}

/** Why the stream ended. */
export function reasonOf(events: readonly AgentEvent[]): string {
  const end = events.at(-1);
  return end?.type === 'stream_end' ? end.reason : 'none';
}
