import { describe } from 'vitest';
import type { AcpPipe } from '../../src/adapters/acp/index.ts';
import { fromAcp, serveAcp } from '../../src/adapters/acp/index.ts';
import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { createHost, fromAgent, LlmAgent } from '../../src/index.ts';
import { fixtureModel } from '../conformance/fixture-model.ts';
import { askUser } from '../conformance/targets.ts';
import { asks } from '../dispatch/agent-kit.ts';
import { conforms } from '../foreign/deviations.ts';

/** Our agent under a host, served to an editor, which is our own client: the same bytes as over a child's pipes. */
const served: ConformanceTarget = {
  name: 'served over ACP',
  async start({ policy } = {}) {
    const agent = fromAgent(new LlmAgent({ name: 'bot', model: fixtureModel(), tools: [askUser] }));
    const host = createHost({ app: 'conformance', agents: [agent], policy: asks, warn: () => {} });
    const connect = (): AcpPipe => {
      const there = new TransformStream<Uint8Array, Uint8Array>();
      const back = new TransformStream<Uint8Array, Uint8Array>();
      const server = serveAcp(
        { open: ({ sessionId }) => host.open('bot', sessionId === undefined ? {} : { sessionId }), warn: () => {} },
        { input: there.readable, output: back.writable },
      );
      const end = async () => (await server).close();
      return { input: there.writable, output: back.readable, close: end, kill: () => void end() };
    };
    const source = fromAcp({ name: 'bot', connect });
    const context = { app: 'conformance', ...(policy ? { policy } : {}) };
    return {
      governed: policy !== undefined,
      open: (ref = {}) => source.open(ref, context),
      close: () => host.close(),
    };
  },
};

const NO_HOST_TOOLS = 'the protocol brings no tools of a host';
const NO_RESUME = 'a function in memory drives the agent: what waits does not survive its process';

const ids = (group: string, count: number) =>
  Array.from({ length: count }, (_, at) => `CX-${group}-${String(at + 1).padStart(2, '0')}`);
const listed = (which: readonly string[], why: string) => Object.fromEntries(which.map((id) => [id, why]));

describe('our agent, served over the Agent Client Protocol and driven by our client, keeps the contract', () => {
  conforms(
    () => served,
    listed(ids('ELIC', 6), 'a permission is asked in the words of the gate; those of the agent are in args.title'),
    {
      ...listed(['CX-TURN-07', ...ids('TOOL', 13), 'CX-ABORT-06', 'CX-STEER-01', 'CX-ERR-04'], NO_HOST_TOOLS),
      ...listed([...ids('RESUME', 7), 'CX-FENCE-01'], NO_RESUME),
      ...listed(ids('POLICY', 2), 'which tools the agent has is not told'),
      ...listed(ids('MODEL', 6), 'its model is scripted on its own side'),
    },
  );
});
