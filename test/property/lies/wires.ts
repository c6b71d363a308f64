import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { connect } from '../../../src/adapters/remote/index.ts';
import { executorOn } from '../../../src/conformance/stdio/launch.ts';
import type { AgentSession, AgentSource, RequestAnswer, SessionInput } from '../../../src/contracts/index.ts';
import { isCoxswainError, messageOf } from '../../../src/contracts/index.ts';
import { serveExecutor } from '../../../src/host/websocket/index.ts';
import { isoTime, newId } from '../../../src/session/index.ts';

/** A way from a host to an executor. */
export type Wire = (liar: AgentSource) => Promise<{ sources: readonly AgentSource[]; close(): Promise<void> }>;

export const inProcess: Wire = async (liar) => ({ sources: [liar], close: async () => {} });

/** The liar is a server elsewhere. */
export const overWebSocket: Wire = async (liar) => {
  const server = await serveExecutor({ app: 'far', agents: [liar] }, { warn: () => {} });
  const remote = await connect(server.url, { token: server.token ?? '' });
  return {
    sources: remote.sources,
    async close() {
      await remote[Symbol.asyncDispose]();
      await server.close();
    },
  };
};

/** The liar speaks the executor profile at the other end of two pipes: the bytes of a child, without its start. */
export const overStdio: Wire = async (liar) => {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const served = serveOn(liar, there, back);
  const { rpc, initialize } = executorOn(back, there);
  const { descriptor, open } = await initialize();
  return {
    sources: [{ descriptor, open: async (ref) => open(ref) }],
    async close() {
      rpc.drain();
      there.end();
      await served;
      back.end();
    },
  };
};

interface Asked {
  id: number;
  method: string;
  params: {
    sessionId: string;
    streamId: string;
    ref?: { sessionId?: string };
    input: SessionInput[];
    options: object;
    requestId: string;
    answer: RequestAnswer;
    target: { requestId?: string };
  };
}

/** Answers the requests of the profile for one agent, until there are no more. */
async function serveOn(agent: AgentSource, input: PassThrough, output: PassThrough): Promise<void> {
  const sessions = new Map<string, AgentSession>();
  const write = (frame: object) => void output.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  const show = async (stream: ReturnType<AgentSession['stream']>, sessionId: string, first: IteratorResult<object>) => {
    for (let step = first; !step.done; step = await stream.next()) {
      write({ method: 'event', params: { sessionId, streamId: stream.streamId, event: step.value } });
    }
  };
  const methods: Record<string, (session: AgentSession, params: Asked['params']) => Promise<object>> = {
    async stream(session, { sessionId, streamId, input, options }) {
      const stream = session.stream(input, { ...options, streamId });
      const first = await stream.next();
      // Behind the answer.
      setImmediate(() => {
        show(stream, sessionId, first).catch((error: unknown) => {
          const base = { sessionId, streamId, timestamp: isoTime() };
          const failed = { ...base, id: newId(), type: 'stream_end', reason: 'failed', data: {} };
          const told = { ...base, id: newId(), type: 'error', status: 'INTERNAL', code: 'E_INTERNAL', fatal: true };
          for (const event of [{ ...told, message: messageOf(error), retryable: false }, failed]) {
            write({ method: 'event', params: { sessionId, streamId, event } });
          }
        });
      });
      return {};
    },
    respond: async (session, { requestId, answer }) => session.respond(requestId, answer),
    abort: (session, { target }) => session.abort(target).then(() => ({})),
    async events(session) {
      const events: unknown[] = [];
      for await (const event of session.events()) events.push(event);
      return { events };
    },
    pending: async (session) => ({ pending: await session.pending() }),
    update: (session) => session.update({}),
  };
  const answer = async ({ method, params }: Asked): Promise<object> => {
    if (method === 'initialize') return { protocolVersion: '1.0', descriptor: agent.descriptor };
    if (method === 'open') {
      const session = await agent.open(params.ref ?? {}, { app: 'far' });
      sessions.set(session.id, session);
      return { sessionId: session.id };
    }
    const session = sessions.get(params.sessionId);
    if (!session) throw new Error(`no session ${params.sessionId}`);
    return (await methods[method]?.(session, params)) ?? {};
  };
  for await (const line of createInterface({ input })) {
    const asked = JSON.parse(line) as Asked;
    answer(asked).then(
      (result) => write({ id: asked.id, result }),
      (error: unknown) => {
        const data = isCoxswainError(error) ? { status: error.status, code: error.code } : {};
        write({ id: asked.id, error: { code: -32000, message: messageOf(error), data } });
      },
    );
  }
}
