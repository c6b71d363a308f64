/** An executor of its own, whose turns ask one thing, pause for the answer, work for a second, and say what it was. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentSource,
  ReportedRequest,
} from '../../../src/contracts/index.ts';
import { agentStream } from '../../../src/session/index.ts';

const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

interface Kept {
  events: AgentEvent[];
  turnId: string;
  open: ReportedRequest | undefined;
  answer: unknown;
}

export function askingAgent(name: string): AgentSource {
  const descriptor: AgentDescriptor = {
    ...{ name, description: `Plays ${name}.`, executor: 'asking', capabilities: ['resume', 'elicitation'] },
    ...{ requiredTools: [], subAgents: [], ownTools: [], inputSchema: { type: 'object', properties: {} } },
  };
  const sessions = new Map<string, Kept>();
  return {
    descriptor,
    open: async ({ sessionId: id = randomUUID() }) => {
      const kept = sessions.get(id) ?? { events: [], turnId: '', open: undefined, answer: undefined };
      sessions.set(id, kept);
      return sessionOf(id, descriptor, kept);
    },
  };
}

function sessionOf(id: string, descriptor: AgentDescriptor, kept: Kept): AgentSession {
  const event = (streamId: string, more: object): AgentEvent => {
    const base = { id: randomUUID(), timestamp: new Date().toISOString(), sessionId: id, streamId };
    const made = { ...base, turnId: kept.turnId, cursor: String(kept.events.length), ...more } as AgentEvent;
    kept.events.push(made);
    return made;
  };
  const ask = (): ReportedRequest => ({
    ...{
      requestId: randomUUID(),
      sessionId: id,
      turnId: kept.turnId,
      kind: 'elicitation',
      message: 'What is your name?',
    },
    ...{ elicitation: 'clarification', agentPath: [descriptor.name], requestedAt: new Date().toISOString() },
    ...{ path: descriptor.name, started: false, requestedSchema },
  });
  return {
    id,
    descriptor,
    stream(_, options = {}) {
      const streamId = options.streamId ?? randomUUID();
      return agentStream(
        async function* (signal) {
          if (kept.answer === undefined) {
            kept.turnId = randomUUID();
            const open = ask();
            kept.open = open;
            const { requestId, message = '' } = open;
            yield event(streamId, { type: 'message', role: 'user', content: [{ type: 'text', text: 'go' }] });
            yield event(streamId, {
              type: 'elicitation_request',
              requestId,
              kind: 'clarification',
              message,
              requestedSchema,
            });
            yield event(streamId, {
              type: 'stream_end',
              reason: 'input_required',
              data: { usage: {}, pending: [open] },
            });
            return;
          }
          await pause(1000, undefined, { signal });
          const text = `It was ${JSON.stringify(kept.answer)}`;
          yield event(streamId, { type: 'message', role: 'agent', content: [{ type: 'text', text }] });
          yield event(streamId, { type: 'stream_end', reason: 'completed', data: { usage: {} } });
        },
        { streamId, ...(options.signal ? { signal: options.signal } : {}) },
      );
    },
    async respond(requestId, answer) {
      if (kept.open?.requestId !== requestId || answer.kind !== 'elicitation') throw new Error('it asked nothing');
      const { action, content } = answer;
      kept.open = undefined;
      kept.answer = content ?? action;
      event(randomUUID(), { type: 'elicitation_response', requestId, action, ...(content ? { content } : {}) });
      return { status: 'settled' };
    },
    pending: async () => (kept.open ? [kept.open] : []),
    async *events({ after } = {}) {
      yield* kept.events.slice(after === undefined ? 0 : Number(after) + 1);
    },
    steer: () => Promise.reject(new Error('it cannot be steered')),
    update: async () => ({ effective: 'next_step' }),
    abort: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
