import { expect } from 'vitest';
import type {
  AgentEvent,
  AgentSession,
  ExecutionOptions,
  HostContext,
  PolicyEvaluator,
  SessionInput,
} from '../../src/contracts/index.ts';
import { checkStream } from '../../src/contracts/index.ts';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { dispatchAgent } from '../../src/dispatch/index.ts';
import { fromAgent } from '../../src/index.ts';
import type { Agent, SessionService } from '../../src/runtime/index.ts';
import { collect, tool } from '../runtime/kit.ts';

export const asks: PolicyEvaluator = { evaluate: () => ({ outcome: 'ask' }) };
export const denies: PolicyEvaluator = { evaluate: () => ({ outcome: 'deny', reason: 'not here' }) };

export interface Opening {
  policy?: PolicyEvaluator;
  sessions?: SessionService;
  id?: string;
}

export async function open(agent: Agent, { policy, sessions, id = 's1' }: Opening = {}): Promise<AgentSession> {
  const context: HostContext = { app: 'shop', userId: 'ann', ...(policy ? { policy } : {}) };
  return fromAgent(agent, { ...(sessions ? { store: sessions } : {}) }).open({ sessionId: id, create: true }, context);
}

export const byo = (executor: DispatchAgentOptions['executor'], more: Partial<DispatchAgentOptions> = {}) =>
  dispatchAgent({ name: 'byo', executor, ...more });

const streamed = new WeakSet<AgentSession>();

/** Streams one input; every stream is checked against the grammar. */
export async function say(session: AgentSession, input: string | SessionInput, options?: ExecutionOptions) {
  const openRequests = new Set<string>();
  for await (const event of session.events()) {
    if (event.type === 'tool_request' || event.type === 'elicitation_request') openRequests.add(event.requestId);
    if (event.type === 'tool_response' || event.type === 'elicitation_response') openRequests.delete(event.requestId);
  }
  const events = await collect(session.stream(input, options));
  expect(checkStream(events, { initialized: streamed.has(session), openRequests })).toEqual([]);
  streamed.add(session);
  return events;
}

export const endOf = (events: readonly AgentEvent[]) => events.at(-1);
export const texts = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'message' && !event.partial && event.role === 'agent'
      ? event.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  );
export const types = (events: readonly AgentEvent[]) => events.map(({ type }) => type);
export const responsesOf = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'tool_response');

export function remover() {
  const removed: unknown[] = [];
  const rm = tool('rm', ({ file }) => {
    removed.push(file);
    return { gone: file };
  });
  return { removed, rm };
}
