import { anthropicModel } from '../../src/adapters/models/index.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { DECOY_KEY, ModelServer, targetOfSource } from '../../src/conformance/index.ts';
import type { AnyTool } from '../../src/contracts/index.ts';
import { serve, serveExecutor } from '../../src/host/websocket/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent } from '../../src/index.ts';
import { dispatching } from './dispatch-fixture.ts';
import { fixtureModel } from './fixture-model.ts';

/** The agent's own way to ask its user. */
export const askUser: AnyTool = {
  name: 'ask_user',
  description: 'Asks the user.',
  inputSchema: { type: 'object' },
  execute(args, context) {
    if (context.confirmation) return context.confirmation.confirmed ? 'yes' : 'no';
    context.requestConfirmation({ hint: String(args.message) });
    return undefined;
  },
};

const bot = () => new LlmAgent({ name: 'bot', model: fixtureModel(), tools: [askUser] });

/** The runtime, with nobody between. */
export const local: ConformanceTarget = targetOfSource('runtime', () => fromAgent(bot()));

/** The runtime under a host that allows everything. */
export const hosted: ConformanceTarget = {
  name: 'hosted runtime',
  async start() {
    const host = createHost({ app: 'conformance', agents: [bot()], policy: allowAll(), warn: () => {} });
    return { open: (ref = {}) => host.open('bot', ref), close: () => host.close() };
  },
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

/** A hosted runtime over a real socket: the server keeps policy, and lets this client bring tools. */
export const overWebSocket: ConformanceTarget = {
  name: 'hosted runtime over WebSocket',
  async start() {
    const host = createHost({ app: 'conformance', agents: [bot()], policy: allowAll(), warn: () => {} });
    const server = await serve(host, { ceiling: { clientTools: true, config: true }, warn: () => {} });
    const remote = await connect(server.url, { token: String(server.token) });
    return {
      open: (ref = {}) => remote.open('bot', ref),
      async close() {
        await remote.close();
        await server.close({ deadlineMs: 0 });
        await host.close();
      },
    };
  },
};

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
