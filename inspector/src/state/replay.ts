import type { AgentEvent, SessionView } from 'coxswain/client';
import { createView } from 'coxswain/client';
import { AgentsFold } from './agents.ts';
import { StateFold } from './fold-state.ts';

interface Decision {
  by: string;
  outcome: string;
  ruleId?: string;
  reason?: string;
  at: string;
  args?: unknown;
  /** Of a call of an agent: the session in which that works. */
  called?: { agent: string; sessionId: string };
}

/** What one call came to, by the log alone. */
export interface CallFacts {
  decisions: Decision[];
  answers: { by?: string; action: string; reason?: string; at: string }[];
}

export interface Artifact {
  name: string;
  versions: { version: number; at: string; seq: number; eventId: string }[];
}

/** What the events of a session come to, up to one of them. */
export class Replay {
  readonly view: SessionView = createView();
  readonly calls = new Map<string, CallFacts>();
  readonly state = new StateFold();
  readonly agents = new AgentsFold();
  readonly artifacts = new Map<string, Artifact>();
  /** What went wrong in the newest turn, as its log says. */
  failure: { code: string; message: string } | undefined;
  /** Permission modes that the session was given, with where they stand; `null`: none any more. */
  #modes: { seq: number; mode: string | null }[] = [];
  usage = { input: 0, output: 0, cached: 0, usd: 0, isPriced: false };

  /** Somebody is asked by an agent that it has called: by the word of the server, as that is in another log. */
  asksBelow = false;

  /** An event of the log, or what streams. */
  see(event: AgentEvent): void {
    // Whether that has been answered is known when it is asked for again.
    this.asksBelow = false;
    this.view.apply(event);
  }

  /** What the session itself may do at most; undefined: what policy lets it. */
  get mode(): string | undefined {
    return this.#modes.at(-1)?.mode ?? undefined;
  }

  /** A stored event, once. */
  take(event: AgentEvent): void {
    this.state.take(event);
    this.agents.take(event);
    switch (event.type) {
      case 'custom':
        this.#custom(event);
        return;
      case 'elicitation_response':
        this.#answer(event);
        return;
      case 'error': {
        const { code, message } = event;
        this.failure = { code, message };
        return;
      }
      case 'message':
        if (event.role === 'user') this.failure = undefined;
        return;
      case 'usage':
        this.#use(event);
        return;
      case 'session_update': {
        const mode = event.config?.permissionMode;
        if (typeof mode === 'string' || mode === null) this.#modes.push({ seq: event.seq ?? 0, mode });
        return;
      }
      default:
    }
  }

  /** As the view says; a log that waits says no end of its turn: what it waits for is a call that nobody has started. */
  status(): string {
    const { view } = this;
    if (view.status !== 'running') return view.status;
    const calls = [...view.toolCalls.values()];
    const started = calls.filter(({ status }) => status === 'started');
    const isBusy = started.length > 0 || view.messages.some(({ streaming }) => streaming);
    if (this.asksBelow && started.every(({ id }) => this.#calls(id))) return 'input_required';
    return !isBusy && calls.some(({ status }) => status === 'requested') ? 'input_required' : 'running';
  }

  /** It runs an agent that has a session of its own. */
  #calls(callId: string): boolean {
    return this.calls.get(callId)?.decisions.some(({ called }) => called !== undefined) === true;
  }

  #custom(event: Extract<AgentEvent, { type: 'custom' }>): void {
    if (event.kind === 'policy_decision') {
      const data = event.data as Decision & { callId: string; usage?: object; tailCalls?: object };
      const { decisions } = this.#factsOf(data.callId);
      // With its result the same comes again where the run has something to add to it.
      const isAgain = (data.usage ?? data.tailCalls) !== undefined && isSame(decisions.at(-1), data);
      if (!isAgain) decisions.push({ ...data, at: event.timestamp });
    } else if (event.kind === 'ext:approval_vote') {
      const { requestId, by } = event.data as { requestId: string; by?: string };
      const { answers } = this.#factsOf(requestId.split('#')[0] ?? '');
      answers.push({ action: 'accept', at: event.timestamp, ...(by === undefined ? {} : { by }) });
    } else if (event.kind === 'rewound') {
      const { through } = event.data as { through: number };
      this.#modes = this.#modes.filter(({ seq }) => seq <= through);
    } else if (event.kind === 'artifact_delta') {
      for (const [name, version] of Object.entries(event.data as Record<string, number>)) {
        const known = this.artifacts.get(name) ?? { name, versions: [] };
        known.versions.push({ version, at: event.timestamp, seq: event.seq ?? 0, eventId: event.id });
        this.artifacts.set(name, known);
      }
    }
  }

  #answer(event: AgentEvent): void {
    const { requestId = '', action = '', by, reason } = event as unknown as Record<string, string>;
    this.#factsOf(requestId.split('#')[0] ?? '').answers.push({
      action,
      at: event.timestamp,
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  #use(event: AgentEvent): void {
    const used = event as {
      inputTokens?: number;
      outputTokens?: number;
      cachedInputTokens?: number;
      cost?: { usd: number };
    };
    const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cost } = used;
    const { input, output, cached, usd, isPriced } = this.usage;
    this.usage = {
      input: input + inputTokens,
      output: output + outputTokens,
      cached: cached + cachedInputTokens,
      usd: usd + (cost?.usd ?? 0),
      isPriced: isPriced || cost !== undefined,
    };
  }

  #factsOf(callId: string): CallFacts {
    const known = this.calls.get(callId) ?? { decisions: [], answers: [] };
    this.calls.set(callId, known);
    return known;
  }
}

function isSame(last: Decision | undefined, now: Decision): boolean {
  const words = ({ by, outcome, ruleId, reason, args }: Decision) =>
    JSON.stringify([by, outcome, ruleId, reason, args]);
  return last !== undefined && words(last) === words(now);
}

/** As it stood after the first so many of these events. */
export function replayed(events: readonly AgentEvent[], count: number): Replay {
  const replay = new Replay();
  for (let at = 0; at < count; at++) {
    const event = events[at];
    if (!event) break;
    replay.see(event);
    replay.take(event);
  }
  return replay;
}
