import type { AgentEvent } from 'coxswain/client';

/** What took time in a turn. */
export interface Span {
  kind: 'model' | 'tool' | 'waits';
  /** Of the tool, the model (the agent, where the log does not name its model), or who was waited for. */
  name: string;
  callId?: string;
  /** Epoch milliseconds. */
  from: number;
  /** Absent: it goes on. */
  to?: number;
  tokens?: { input: number; output: number; cached: number };
  isError?: boolean;
}

export interface Turn {
  id: string;
  /** 1 is the first. */
  number: number;
  from: number;
  to: number;
  /** As its end says; absent: it has none yet. */
  end?: string;
  spans: Span[];
}

interface Asked {
  at: number;
  name: string;
  threadId: string;
  span?: Span;
}

/** Turns and what took time in them, by the times of stored events: nothing is known of what happened between two of them. */
export class Timeline {
  readonly turns: Turn[] = [];
  readonly #byId = new Map<string, Turn>();
  readonly #calls = new Map<string, Asked>();
  /** When the newest thing of each thread was over: its model is asked from then on. */
  readonly #readyAt = new Map<string, number>();
  /** The model's newest answer of each thread: tokens are counted behind it. */
  readonly #answers = new Map<string, Span>();

  take(event: AgentEvent): void {
    const at = Date.parse(event.timestamp);
    const { turnId, threadId = '' } = event as { turnId?: string; threadId?: string };
    if (turnId === undefined || turnId === '' || Number.isNaN(at)) return;
    const turn = this.#turn(turnId, at);
    turn.to = Math.max(turn.to, at);
    switch (event.type) {
      case 'message':
        if (event.role === 'user') this.#readyAt.set(threadId, at);
        else this.#answer(turn, threadId, at, event.agentId);
        return;
      case 'usage': {
        const { model, inputTokens: input = 0, outputTokens: output = 0 } = event;
        const { cachedInputTokens: cached = 0 } = event as { cachedInputTokens?: number };
        const answer = this.#answers.get(threadId) ?? this.#answer(turn, threadId, at);
        if (model !== undefined) answer.name = model;
        answer.tokens = { input, output, cached };
        this.#answers.delete(threadId);
        return;
      }
      case 'tool_request': {
        if (!this.#answers.has(threadId)) this.#answer(turn, threadId, at, event.agentId);
        this.#calls.set(event.requestId, { at, name: event.name, threadId });
        return;
      }
      case 'elicitation_request':
        this.#waits(turn, String(event.requestId), at);
        return;
      case 'elicitation_response':
        this.#answered(turn, String(event.requestId), at, (event as { by?: string }).by);
        return;
      case 'tool_update': {
        const call = this.#calls.get(event.requestId);
        if (call && event.status === 'started' && (!call.span || call.span.to !== undefined)) {
          call.span = { kind: 'tool', name: call.name, callId: event.requestId, from: at };
          turn.spans.push(call.span);
        }
        return;
      }
      case 'tool_response':
        this.#over(turn, event.requestId, at, event.isError === true);
        return;
      case 'stream_end':
        if (event.reason !== 'input_required') turn.end = event.reason;
        return;
      default:
    }
  }

  #turn(id: string, at: number): Turn {
    const known = this.#byId.get(id);
    if (known) return known;
    const turn: Turn = { id, number: this.turns.length + 1, from: at, to: at, spans: [] };
    this.turns.push(turn);
    this.#byId.set(id, turn);
    this.#readyAt.clear();
    this.#answers.clear();
    return turn;
  }

  /** Agents of others do not say which model they ask: it stands under their name. */
  #answer(turn: Turn, threadId: string, at: number, agentId = 'unknown'): Span {
    const from = Math.max(turn.from, this.#readyAt.get(threadId) ?? this.#readyAt.get('') ?? turn.from);
    const span: Span = { kind: 'model', name: agentId, from, to: at };
    turn.spans.push(span);
    this.#answers.set(threadId, span);
    this.#readyAt.set(threadId, at);
    return span;
  }

  /** What waits for people: asked, and neither started nor answered. */
  #waits(turn: Turn, requestId: string, at: number): void {
    const callId = callOf(requestId);
    const call = this.#calls.get(callId);
    if (call?.span && call.span.to === undefined && call.span.kind === 'waits') return;
    const span: Span = { kind: 'waits', name: call?.name ?? 'a question', callId, from: at };
    turn.spans.push(span);
    if (call) call.span = span;
    else this.#calls.set(callId, { at, name: 'a question', threadId: '', span });
  }

  #answered(turn: Turn, requestId: string, at: number, by: string | undefined): void {
    const callId = callOf(requestId);
    const call = this.#calls.get(callId);
    if (!call) return;
    const span = call.span?.kind === 'waits' ? call.span : undefined;
    // A question of the host is in the log by its answer alone: it was asked with the call, or since the answer before.
    const shown = span ?? { kind: 'waits' as const, name: call.name, callId, from: call.at };
    if (!span) turn.spans.push(shown);
    shown.to = at;
    if (by !== undefined) shown.name = `${call.name}: ${by}`;
    call.at = at;
    delete call.span;
  }

  #over(turn: Turn, callId: string, at: number, isError: boolean): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    const { span } = call;
    const shown =
      span && span.to === undefined ? span : { kind: 'tool' as const, name: call.name, callId, from: call.at };
    if (shown !== span) turn.spans.push(shown);
    shown.to = at;
    if (isError) shown.isError = true;
    this.#readyAt.set(call.threadId, Math.max(at, this.#readyAt.get(call.threadId) ?? 0));
    this.#calls.delete(callId);
  }

  /** Calls of the newest turn that nobody has started: they wait, for people or for their turn. */
  waiting(): Span[] {
    const open: Span[] = [];
    for (const [callId, { at, name, span }] of this.#calls) {
      if (!span) open.push({ kind: 'waits', name, callId, from: at });
    }
    return open;
  }
}

const callOf = (requestId: string) => requestId.split('#')[0] ?? requestId;

/** Where times stand on a line from 0 to 1: waiting takes no more room than a quarter of what was done. */
export function scaleOf({ from, to, spans }: Pick<Turn, 'from' | 'to' | 'spans'>): (time: number) => number {
  const busy = spans.filter(({ kind }) => kind !== 'waits');
  const edges = [...new Set([from, to, ...spans.flatMap((span) => [span.from, span.to ?? to])])].sort((a, b) => a - b);
  const isBusy = (a: number, b: number) => busy.some((span) => span.from <= a && (span.to ?? to) >= b);
  const pieces = edges.slice(1).map((end, index) => ({ start: edges[index] ?? from, end }));
  const active = pieces.reduce((sum, { start, end }) => sum + (isBusy(start, end) ? end - start : 0), 0);
  const most = Math.max(1, active / 4);
  const places = new Map<number, number>([[edges[0] ?? from, 0]]);
  let at = 0;
  for (const { start, end } of pieces) {
    at += isBusy(start, end) ? end - start : Math.min(end - start, most);
    places.set(end, at);
  }
  const whole = Math.max(1, at);
  return (time) => (places.get(time) ?? at) / whole;
}
