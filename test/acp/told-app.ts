import * as acp from '@agentclientprotocol/sdk';
import type { AcpPipe } from '../../src/adapters/acp/index.ts';

/** One thing that an agent tells or asks, `of` a session; `all` at the same time. */
export type Frame =
  | { update: acp.SessionUpdate; of?: string }
  | { ask: acp.ToolCallUpdate; of?: string; yes?: readonly Frame[]; no?: readonly Frame[] }
  | { all: readonly (readonly Frame[])[] }
  | { hang: true };

export interface Told {
  connect: () => AcpPipe;
  /** What came of each question. */
  outcomes: string[];
  /** The host has cancelled. */
  cancelled(): boolean;
  /** The last request for a session, and what else was asked for. */
  requests: { method: string; params: unknown }[];
}

export interface ToldOptions {
  answer?: acp.PromptResponse;
  capabilities?: acp.AgentCapabilities;
  agentName?: string;
  /** Only the SDK's own options, as each agent names them. */
  options?: readonly acp.PermissionOption[];
}

const OPTIONS: acp.PermissionOption[] = [
  { optionId: 'approved', name: 'Yes', kind: 'allow_once' },
  { optionId: 'amended', name: 'Always', kind: 'allow_always' },
  { optionId: 'abort', name: 'No', kind: 'reject_once' },
];

/** An agent that plays frames, a list for each prompt, whatever is said to it. */
export function toldAgent(prompts: readonly (readonly Frame[])[], given: ToldOptions = {}): Told {
  const outcomes: string[] = [];
  const requests: Told['requests'] = [];
  let isCancelled = false;
  const stop = Promise.withResolvers<void>();
  let turn = 0;
  const play = async (frames: readonly Frame[], client: acp.AgentContext): Promise<void> => {
    for (const frame of frames) {
      if ('update' in frame)
        await client.notify('session/update', { sessionId: frame.of ?? 's', update: frame.update });
      else if ('all' in frame) await Promise.all(frame.all.map((each) => play(each, client)));
      else if ('hang' in frame) await stop.promise;
      else {
        const { outcome } = await client.request('session/request_permission', {
          sessionId: frame.of ?? 's',
          toolCall: frame.ask,
          options: [...(given.options ?? OPTIONS)],
        });
        const chosen = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
        outcomes.push(chosen);
        await play((chosen === 'approved' ? frame.yes : frame.no) ?? [], client);
      }
    }
  };
  const connect = (): AcpPipe => {
    const there = new TransformStream<Uint8Array, Uint8Array>();
    const back = new TransformStream<Uint8Array, Uint8Array>();
    const note = (method: string, params: unknown) => void requests.push({ method, params });
    const connection = acp
      .agent({ name: 'told' })
      .onRequest('initialize', ({ params }) => {
        note('initialize', params);
        return {
          protocolVersion: acp.PROTOCOL_VERSION,
          agentCapabilities: given.capabilities ?? {},
          agentInfo: { name: given.agentName ?? 'told', version: '1' },
        };
      })
      .onRequest('session/new', ({ params }) => {
        note('session/new', params);
        return { sessionId: 's' };
      })
      .onRequest('session/load', ({ params }) => {
        note('session/load', params);
        return {};
      })
      .onRequest('session/resume', ({ params }) => {
        note('session/resume', params);
        return {};
      })
      .onRequest('session/close', ({ params }) => {
        note('session/close', params);
        return {};
      })
      .onRequest('session/set_mode', ({ params }) => {
        note('session/set_mode', params);
        return {};
      })
      .onNotification('session/cancel', () => {
        isCancelled = true;
        stop.resolve();
      })
      .onRequest('session/prompt', async ({ client }) => {
        await play(prompts[turn++] ?? [], client);
        if (isCancelled) return { stopReason: 'cancelled' };
        return given.answer ?? { stopReason: 'end_turn' };
      })
      .connect(acp.ndJsonStream(back.writable, there.readable));
    const end = async () => connection.close();
    return { input: there.writable, output: back.readable, close: end, kill: () => void end() };
  };
  return { connect, outcomes, requests, cancelled: () => isCancelled };
}
