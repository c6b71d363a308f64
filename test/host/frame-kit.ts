import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import type { FrameHost, SessionOwnership, SharedStanding } from '../../src/host/frame/hosted-frame.ts';
import { HostedFrame } from '../../src/host/frame/hosted-frame.ts';
import type { HostedSession } from '../../src/host/hosted/hosted-session.ts';
import { Confirmations } from '../../src/host/questions/confirmation.ts';
import { RunTimeQuestions } from '../../src/host/questions/run-time-questions.ts';
import { Entrance } from '../../src/host/terms/admission.ts';
import type { HostOptions } from '../../src/host/terms/options.ts';
import { RememberedRules } from '../../src/host/terms/remembered.ts';
import { LazyMap } from '../../src/session/index.ts';
import { hosted } from './judge-kit.ts';
import { policyOf, tool } from './kit.ts';

export const ann = { id: 'ann', roles: ['clerk'] };

/** A frame of Ann's session `s` of agent `bot`. */
export function frameOf({
  options = {},
  place = {},
  inner = {},
  tools = [hosted(tool('pay', () => 1)), hosted(tool('look'))],
  base = policyOf({}),
}: {
  options?: Partial<HostOptions>;
  place?: Partial<SessionOwnership>;
  inner?: object;
  tools?: ReturnType<typeof hosted>[];
  base?: HostOptions['policy'];
} = {}) {
  const told: unknown[][] = [];
  const host: FrameHost = {
    options: { app: 'shop', agents: [], ...options },
    base: base ?? policyOf({}),
    remembered: new RememberedRules(),
    entrance: new Entrance(),
    confirmations: new Confirmations(),
    runTimeQuestions: new RunTimeQuestions(),
    warn: () => {},
    announce: (...said) => void told.push(['announce', ...said]),
    answered: (...said) => void told.push(['answered', ...said]),
    rested: (...said) => void told.push(['rested', ...said]),
    forget: (...said) => void told.push(['forget', ...said]),
    openSubagent: async (...said) => {
      told.push(['open', ...said]);
      return {} as HostedSession;
    },
  };
  const shared: SharedStanding = {
    handles: new Set(),
    present: new LazyMap(),
    begun: undefined,
    journals: new LazyMap(),
  };
  const where: SessionOwnership = {
    ...{ userId: 'ann', principal: ann, ephemeral: undefined, root: 's', rootAgent: 'bot' },
    ...place,
  };
  const made = new HostedFrame(host, where, {
    ...{
      isForeign: false,
      agent: 'bot',
      name: 'ann/s',
      shared,
      descriptors: tools.map(({ descriptor }) => descriptor),
    },
    inner: {
      ...{ id: 's', descriptor: { capabilities: ['resume'] } },
      async *events() {
        yield { id: 'first' } as AgentEvent;
      },
      ...inner,
    } as unknown as AgentSession,
    tools: new Map(tools.map((one) => [one.tool.name, one])),
  });
  return { made, host, shared, told, where };
}
