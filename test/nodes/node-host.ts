import pg from 'pg';
import type { Bus, Dispatcher } from '../../src/contracts/index.ts';
import type { AgentHost } from '../../src/index.ts';
import { createHost, defineTool, LlmAgent } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { randomFrom } from '../adapters/kill.ts';

// One host for all nodes of a test: a turn notes, pays if somebody allows it, and ends. What it does to the world, and
// where it stands, is told in tables beside the store's.

export const worldTables = `
  CREATE TABLE effects (n serial, call_id text NOT NULL, tool text NOT NULL, pid integer NOT NULL, was_finished boolean NOT NULL,
    holds boolean);
  CREATE TABLE frozen (pid integer PRIMARY KEY);
  CREATE UNLOGGED TABLE phases (session_id text PRIMARY KEY, phase text NOT NULL, pid integer NOT NULL);
`;

/** What the tools of each turn answer. */
export const results = ['note done', 'pay done'];

/** Where the turn stands, told by the words that it has been given. */
class OrderModel extends ScriptedModel {
  readonly #at: (phase: string, session: string) => Promise<void>;
  readonly #random: (below: number) => number;

  constructor(at: (phase: string, session: string) => Promise<void>, random: (below: number) => number) {
    super([]);
    this.#at = at;
    this.#random = random;
  }

  override async *generate(...[request, options]: Parameters<ScriptedModel['generate']>) {
    const parts = request.contents.flatMap((content) => content.parts);
    const asked = parts.findLastIndex(({ type }) => type === 'text');
    const results = parts.slice(asked).filter(({ type }) => type === 'function_response').length;
    const words = parts.findLast((part) => part.type === 'text');
    const session = words?.type === 'text' ? (/of (\S+)/.exec(words.text)?.[1] ?? '') : '';
    await this.#at('model', session);
    await pause(30 + this.#random(150));
    const script = [{ calls: [['note', { session }]] }, { calls: [['pay', { session }]] }, 'Your order is paid.'][
      results
    ];
    yield* new ScriptedModel([script as 'done']).generate(request, options);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface World {
  at(phase: string, session: string): Promise<void>;
  begin(callId: string, tool: string, session: string): Promise<void>;
  end(): Promise<void>;
}

export async function openWorld(url: string): Promise<World> {
  const pool = new pg.Pool({ connectionString: url, max: 2, application_name: 'world' });
  pool.on('error', () => {});
  return {
    async at(phase, session) {
      await pool.query(
        `INSERT INTO phases VALUES ($1, $2, $3)
          ON CONFLICT (session_id) DO UPDATE SET phase = excluded.phase, pid = excluded.pid`,
        [session, phase, process.pid],
      );
    },
    async begin(callId, tool, session) {
      // Whether its result is in the log already: it is run again then. And whether this program holds the session: one that
      // was frozen in between begins what it was about to do when it thaws, and nothing outside of the tool can keep it from that.
      await pool.query(
        `INSERT INTO effects (call_id, tool, pid, was_finished, holds)
          SELECT $1, $2, $3, EXISTS (SELECT 1 FROM adk_events WHERE strpos(content, 'function_response') > 0 AND strpos(content, $1) > 0),
            (SELECT owner LIKE $5 FROM adk_sessions WHERE id = $4)`,
        [callId, tool, process.pid, session, `%"pid":${process.pid},%`],
      );
    },
    end: () => pool.end(),
  };
}

export function nodeHost(
  store: SessionService,
  { at, begin }: World,
  parts: {
    dispatcher?: Dispatcher;
    bus?: Bus;
    seed?: number;
    version?: string;
    onAgentChanged?: 'go' | 'ask' | 'hold';
    warn?: (message: string, error?: unknown) => void;
  },
): AgentHost {
  const { seed = 1, version, ...rest } = parts;
  const random = randomFrom(seed);
  const work = (name: string, extra: object) =>
    defineTool({
      name,
      description: `${name}s an order.`,
      inputSchema: { type: 'object', properties: { session: { type: 'string' } } } as const,
      ...extra,
      async execute({ session }, { callId }) {
        await begin(callId, name, session ?? '');
        await at('tool', session ?? '');
        await pause(30 + random(150));
        return `${name} done`;
      },
    });
  return createHost({
    app: 'shop',
    agents: [new LlmAgent({ name: 'clerk', model: new OrderModel(at, random) })],
    ...(version === undefined ? {} : { agentOptions: { version } }),
    tools: [work('note', { annotations: { idempotent: true } }), work('pay', {})],
    policy: { evaluate: ({ action }) => ({ outcome: action === 'note' ? 'allow' : 'ask' }) },
    approvers: { roles: ['boss'] },
    store,
    followPollMs: 250,
    approvalPollMs: 250,
    ...rest,
  });
}
