import { anthropicModel } from '../../src/adapters/models/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import type { ConformanceTarget, RunningExecutor } from '../../src/conformance/index.ts';
import { DECOY_KEY, ModelServer, targetOfSource } from '../../src/conformance/index.ts';
import type { AnyAgentTool } from '../../src/contracts/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import { allowAll, createHost, fromAgent, InMemorySessionService, LlmAgent } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { dispatching } from './dispatch-fixture.ts';
import { fixtureModel } from './fixture-model.ts';

/** The agent's own way to ask its user. */
export const askUser: AnyAgentTool = {
  name: 'ask_person',
  description: 'Asks the user.',
  inputSchema: { type: 'object' },
  async execute({ message, kind, expiresInMs }, context) {
    if (context.confirmation) return context.confirmation.confirmed ? 'yes' : 'no';
    const hint = String(message);
    if (kind === 'auth_required') {
      const key = context.callId;
      if (await context.getAuthResponse(key)) return 'yes';
      context.requestCredential({ key, hint });
    } else {
      const expires = expiresInMs === undefined ? {} : { expiresIn: Number(expiresInMs) / 1000 };
      context.requestConfirmation({ hint, ...expires });
    }
    return undefined;
  },
};

const bot = () => new LlmAgent({ name: 'bot', model: fixtureModel(), tools: [askUser] });

/** A store with executors over it that share no memory: a crash is to be forgotten, as nothing here runs any more. */
function overStore(start: (sessions: SessionService) => RunningExecutor): RunningExecutor {
  const sessions = new InMemorySessionService();
  const next = (): RunningExecutor => {
    return { ...start(elsewhere(sessions)), again: async () => next(), kill: async () => {} };
  };
  return next();
}

/** The runtime, with nobody between. */
export const local: ConformanceTarget = {
  name: 'runtime',
  start: async ({ policy } = {}) =>
    overStore((sessions) => {
      const source = fromAgent(bot(), { store: sessions });
      const context = { app: 'conformance', ...(policy ? { policy } : {}) };
      return { governed: policy !== undefined, open: (ref = {}) => source.open(ref, context) };
    }),
};

/** The runtime under a host that allows everything. */
export const hosted: ConformanceTarget = {
  name: 'hosted runtime',
  start: async ({ policy } = {}) =>
    overStore((sessions) => {
      const options = { app: 'conformance', agents: [bot()], store: sessions, warn: () => {} };
      const host = createHost({ ...options, policy: policy ?? allowAll() });
      return { governed: policy !== undefined, open: (ref = {}) => host.open('bot', ref), close: () => host.close() };
    }),
};

/** The runtime with its model on the other side of a socket; `send` changes what it is asked. */
export const overHttp = (send: (body: string) => string): ConformanceTarget => ({
  name: 'runtime over HTTP',
  async start() {
    const models = await ModelServer.start();
    const model = anthropicModel('cx', {
      baseUrl: models.url,
      apiKey: DECOY_KEY,
      provider: 'anthropic',
      // What is judged is the end of it, not the waits before.
      retry: { retries: 0 },
      fetch: (url, init) => fetch(url, { ...init, body: send(String(init?.body)) }),
    });
    const source = fromAgent(new LlmAgent({ name: 'bot', model, tools: [askUser] }));
    return {
      models,
      open: (ref = {}) => source.open(ref, { app: 'conformance' }),
      close: () => models[Symbol.asyncDispose](),
    };
  },
});

/** An executor of somebody else's making, as an agent of the runtime. */
export const dispatched: ConformanceTarget = targetOfSource('dispatchAgent', () => fromAgent(dispatching([askUser])));

/** A hosted runtime over a real connection: the server keeps policy, and lets this client bring tools. */
const overWire = (name: string, addressOf: (url: string) => string): ConformanceTarget => ({
  name,
  async start({ policy } = {}) {
    const options = { app: 'conformance', agents: [bot()], warn: () => {} };
    const host = createHost({ ...options, policy: policy ?? allowAll() });
    const server = await serve(host, { http: true, ceiling: { clientTools: true, config: true }, warn: () => {} });
    const remote = await connect(addressOf(server.url), { token: String(server.token) });
    return {
      governed: policy !== undefined,
      open: (ref = {}) => remote.open('bot', ref),
      async close() {
        await remote.close();
        await server.close({ deadlineMs: 0 });
        await host.close();
      },
    };
  },
});

export const overWebSocket = overWire('hosted runtime over WebSocket', (url) => url);

/** Requests, and one event stream. */
export const overPlainHttp = overWire('hosted runtime over plain HTTP', (url) => url.replace('ws', 'http'));

/** A bare executor over a real socket: this side is the host. */
export const executorOverWebSocket: ConformanceTarget = {
  name: 'executor over WebSocket',
  async start() {
    const server = await serveExecutor({ app: 'conformance', agents: [fromAgent(bot())] }, { warn: () => {} });
    const remote = await connect(server.url, { token: String(server.token) });
    const [source] = remote.sources;
    return {
      open: (ref = {}) => (source ? source.open(ref, { app: 'conformance' }) : Promise.reject(new Error('no agent'))),
      async close() {
        await remote.close();
        await server.close({ deadlineMs: 0 });
      },
    };
  },
};
