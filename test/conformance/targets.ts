import type { ConformanceTarget } from '../../src/conformance/index.ts';
import { targetOfSource } from '../../src/conformance/index.ts';
import type { AnyTool } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent } from '../../src/index.ts';
import { fixtureModel } from './fixture-model.ts';

/** The agent's own way to ask its user. */
const askUser: AnyTool = {
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
