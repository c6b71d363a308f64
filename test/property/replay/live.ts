import { AdkSession, describeAgent, fromAgent } from '../../../src/adapters/adk/index.ts';
import type {
  AgentEvent,
  ElicitationAction,
  Session as HostSession,
  ReportedRequest,
  StreamEndEvent,
} from '../../../src/contracts/index.ts';
import { createGrammarChecker } from '../../../src/contracts/index.ts';
import { createHost, subagentTool } from '../../../src/host/index.ts';
import type { Agent, Plugin, SessionService, StoredEvent } from '../../../src/runtime/index.ts';
import { createEngine, LiveSession } from '../../../src/runtime/index.ts';
import { elsewhere } from '../../runtime/elsewhere.ts';
import type { Death, ProcessOptions } from './process.ts';
import { key, MortalService } from './process.ts';
import type { Random } from './random.ts';
import { below, hash, pause } from './random.ts';
import { inputSchema, policy } from './tools.ts';
import type { Parts, Trees } from './tree.ts';
import { grow } from './tree.ts';
import { World } from './world.ts';

/** One turn to live through: which tree, how it is replayed and how the world treats it. */
export interface Case {
  seed: number;
  /** 0 is the reference: nobody dies. */
  variant: number;
  way: Way;
}

/** A session by itself that reads `completed` records, or finds every outcome out again; or one under a host. */
export const ways = ['with completed records', 'without completed records', 'under a host'] as const;

export type Way = (typeof ways)[number];

export interface Trial {
  parts: Parts;
  writes?: ProcessOptions['writes'];
}

/** What a turn came to. */
export interface Life {
  /** Of all sessions. */
  log: readonly StoredEvent[];
  /** By session: the turn's own and those of sub-agents. */
  logs: ReadonlyMap<string, readonly StoredEvent[]>;
  world: World;
  reason: string;
  deaths: number;
  answers: number;
  /** Trees of the last process, to know their shape. */
  trees: Trees;
  state: Readonly<Record<string, unknown>>;
}

type Session = AdkSession | HostSession;

const MAX_PROCESSES = 8;
const MAX_STREAMS = 500;

/** What a person says to a question about a call, the same in every life; a lost outcome is anybody's guess. */
function answerTo(request: ReportedRequest, random: Random): ElicitationAction {
  if (request.kind === 'rerun_unknown') return random() < 0.5 ? 'accept' : random() < 0.8 ? 'decline' : 'cancel';
  const roll = hash(`answer ${String(request.args?.k)}`) % 10;
  return roll < 7 ? 'accept' : roll < 9 ? 'decline' : 'cancel';
}

/** Lives through a turn; `nextDeath` says when the next process dies, if it does. */
export async function live(
  trial: Trial,
  { seed, way }: Case,
  random: Random,
  nextDeath: (length: number, process: number) => Death | undefined,
): Promise<Life> {
  const world = new World();
  let logs: ReadonlyMap<string, readonly StoredEvent[]> = new Map();
  let log: readonly StoredEvent[] = [];
  let answers = 0;
  for (let process = 0; process < MAX_PROCESSES; process++) {
    const death = process === MAX_PROCESSES - 1 ? undefined : nextDeath(log.length, process);
    const slowness = random() < 0.3 ? random : undefined;
    const service = await MortalService.over(logs, { death, slowness, writes: trial.writes });
    world.log = service.log;
    const run = new Process(service, grow(seed, world, trial.parts, way === 'under a host'), world, random, way);
    const reason = await Promise.race([run.toTheEnd(), service.died]);
    answers += run.answers;
    ({ log, logs } = service);
    const stored = logs.get(key.id)?.findLast((event) => event.actions.end)?.actions.end?.reason;
    if (reason === undefined && stored === undefined) continue;
    const records = await Promise.all([...logs.keys()].map((id) => service.get({ ...key, id })));
    const state = Object.assign({}, ...records.map((record) => record?.state)) as Record<string, unknown>;
    return { log, logs, world, reason: reason ?? stored ?? '', deaths: process, answers, trees: run.trees, state };
  }
  throw new Error('the last process died');
}

class Process {
  answers = 0;
  readonly trees: Trees;
  readonly #service: MortalService;
  readonly #world: World;
  readonly #random: Random;
  readonly #way: Way;
  #openRequests: Iterable<string> = [];
  #initialized = false;

  constructor(service: MortalService, trees: Trees, world: World, random: Random, way: Way) {
    this.#service = service;
    this.trees = trees;
    this.#world = world;
    this.#random = random;
    this.#way = way;
  }

  async toTheEnd(): Promise<string> {
    const session = await this.#open(this.#service);
    this.#openRequests = await openRequests(session);
    const isNew = this.#service.log.length === 0;
    let end = await this.#stream(session, isNew ? 'go' : { kind: 'continue' });
    for (let streams = 0; end.reason === 'input_required'; streams++) {
      if (streams > MAX_STREAMS) throw new Error('the turn does not end');
      end = await this.#answerSome(session, end);
    }
    return end.reason;
  }

  /** Answers one or all of what is open: with the next stream, before it, or as another process. */
  async #answerSome(session: Session, end: StreamEndEvent): Promise<StreamEndEvent> {
    // A call that has had its answer and waits to be run is nobody's to answer.
    const pending = (await session.pending()).filter(({ kind }) => kind !== 'tool');
    const listed = end.data.pending ?? [];
    if (pending.length === 0 && listed.length === 0) this.#world.fault('the turn waits and nothing is pending');
    const one = pending[below(this.#random, pending.length)];
    const chosen = one && this.#random() < 0.5 ? [one] : pending;
    this.answers += chosen.length;
    const roll = this.#random();
    if (roll < 0.6 && chosen.length > 0) {
      return this.#stream(
        session,
        chosen.map((request) => ({
          kind: 'elicitation_response' as const,
          requestId: request.requestId,
          response: { action: answerTo(request, this.#random) },
        })),
      );
    }
    const answering = roll < 0.8 ? session : await this.#open(elsewhere(this.#service));
    for (const request of chosen) {
      const action = answerTo(request, this.#random);
      await answering.respond(request.requestId, { kind: 'elicitation', action });
    }
    return this.#stream(session, { kind: 'continue' });
  }

  async #open(service: SessionService): Promise<Session> {
    const warn = (message: string, error?: unknown) => this.#world.fault(`warned: ${message} ${String(error)}`);
    const plugins = this.#random() < 0.3 ? [slow] : [];
    const toolConcurrency = this.#random() < 0.2 ? 1 : 64;
    const { root, helper } = this.trees;
    if (helper) {
      const sourceOf = (agent: Agent) => fromAgent(agent, { plugins, toolConcurrency, warn });
      const host = createHost({
        app: key.app,
        userId: key.userId,
        agents: [sourceOf(root)],
        tools: [subagentTool(sourceOf(helper.agent), { name: helper.name, inputSchema, maxDepth: 2 })],
        store: service,
        policy,
        toolConcurrency,
        // Those who die would leave their timers behind.
        toolTimeoutMs: 0,
        policyTimeoutMs: 0,
        warn,
      });
      return host.open(root.name, { sessionId: key.id });
    }
    const record = await this.#service.get(key);
    if (!record) throw new Error('the session is gone');
    const engine = createEngine(
      {
        agent: root,
        policy,
        plugins,
        toolConcurrency,
        warn,
      },
      key,
    );
    return new AdkSession({
      live: LiveSession.of(service, record),
      engine: { ...engine, ignoreCompleted: this.#way === 'without completed records' },
      descriptor: describeAgent(root),
    });
  }

  async #stream(session: Session, input: Parameters<Session['stream']>[0]): Promise<StreamEndEvent> {
    const random = this.#random;
    const checker = createGrammarChecker({
      openRequests: this.#openRequests,
      initialized: this.#initialized,
      immutability: random() < 0.05,
    });
    const answersAtOnce = random() < 0.3;
    const isSlow = random() < 0.2;
    const answering: Promise<unknown>[] = [];
    let end: StreamEndEvent | undefined;
    const report = (violations: ReturnType<typeof checker.end>) => {
      for (const { rule, message } of violations) this.#world.fault(`grammar ${rule}: ${message}`);
    };
    for await (const event of session.stream(input)) {
      report(checker.push(event));
      if (event.type === 'stream_end') end = event;
      if (answersAtOnce && event.type === 'elicitation_request' && random() < 0.5) {
        const refused = (error: unknown) => this.#world.fault(`an answer was refused: ${String(error)}`);
        answering.push(this.#answerNow(session, event.requestId).catch(refused));
      }
      if (isSlow) await pause(random);
    }
    report(checker.end());
    this.#openRequests = checker.openRequests;
    this.#initialized = checker.initialized;
    await Promise.all(answering);
    if (!end) throw new Error('a stream without an end');
    return end;
  }

  /** While the stream runs, from this process or from another. */
  async #answerNow(session: Session, requestId: string): Promise<void> {
    const random = this.#random;
    const answering = random() < 0.7 ? session : await this.#open(elsewhere(this.#service));
    await pause(random);
    const request = (await answering.pending()).find((candidate) => candidate.requestId === requestId);
    if (!request) return;
    this.answers++;
    await answering.respond(requestId, { kind: 'elicitation', action: answerTo(request, random) });
  }
}

/** Looks at every event and changes none: whatever is stored passes through one more await. */
const slow: Plugin = { name: 'slow', onEvent: async () => undefined };

/** What a host that reads the log finds open. */
async function openRequests(session: Session): Promise<Set<string>> {
  const open = new Set<string>();
  for await (const event of 'history' in session ? session.history() : session.events()) settle(open, event);
  return open;
}

function settle(open: Set<string>, event: AgentEvent): void {
  if (event.type === 'tool_request' || event.type === 'elicitation_request') open.add(event.requestId);
  else if (event.type === 'elicitation_response') open.delete(event.requestId);
  else if (event.type === 'tool_response') {
    open.delete(event.requestId);
    for (const id of open) if (id.startsWith(`${event.requestId}#`)) open.delete(id);
  }
}
