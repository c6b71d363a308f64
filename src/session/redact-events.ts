import { isObject } from '../base/index.ts';
import type { AgentEvent, DecisionRecord, PolicyDecisionRecord } from '../contracts/index.ts';
import { callIdOf, notesOf } from '../contracts/index.ts';
import type { Redaction, RedactionOptions } from './redact.ts';
import { hiddenTexts, obligationsOf, REDACTED, redactionOf, redactPointers, withoutTexts } from './redact.ts';

interface Call {
  tool: string;
  turnId: string;
  /** As asked for, and as they ran. */
  args: unknown[];
  records: Pick<DecisionRecord, 'by' | 'asked' | 'redact'>[];
  ended?: { isError?: boolean | undefined; errorType?: string | undefined };
  hooked: boolean;
}

/** The tool by which a model reads a result again. */
const RESULT_READER = 'read_result';

/** Members that every event keeps: where it stands, and of which agent it is. */
const placed = [
  'id',
  'type',
  'timestamp',
  'sessionId',
  'streamId',
  'turnId',
  'seq',
  'cursor',
  'agentId',
  'threadId',
  'source',
];

/** Members that say what happened without what it was about, by type. What is not named here is not shown. */
const facts: Readonly<Record<string, readonly string[]>> = {
  message: ['role', 'interrupted'],
  tool_request: ['requestId', 'name', 'handledBy', 'annotations'],
  tool_update: ['requestId', 'status', 'by', 'progress', 'total'],
  tool_response: ['requestId', 'name', 'isError', 'errorType'],
  usage: ['model', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'thoughtTokens', 'cost'],
  elicitation_request: ['requestId', 'callId', 'kind'],
  elicitation_response: ['requestId', 'action', 'by', 'byName'],
  stream_end: ['reason'],
  error: ['code', 'status', 'fatal'],
  custom: ['kind'],
};

/** What stands in place of content, so that the event is one all the same. */
const blanks: Readonly<Record<string, object>> = {
  message: { content: [{ type: 'text', text: REDACTED }] },
  tool_request: { args: {} },
  tool_response: { content: [{ type: 'text', text: REDACTED }] },
  elicitation_request: { message: REDACTED },
  error: { message: REDACTED },
};

/** The same of the data of a custom event, by its kind. */
const dataFacts: Readonly<Record<string, readonly string[]>> = {
  policy_decision: ['callId', 'outcome', 'by', 'ruleId', 'requestedBy', 'called'],
  rewound: ['through'],
};

/** An event without what was said, asked for or returned: that it happened, when, by whom, under which rule. */
export function eventFacts(event: AgentEvent): AgentEvent {
  const given = event as unknown as Record<string, unknown>;
  const kept = picked(given, [...placed, ...(facts[event.type] ?? [])]);
  const data = event.type === 'custom' ? picked(Object(event.data), dataFacts[event.kind] ?? []) : {};
  const shown = { ...kept, ...blanks[event.type], ...(event.type === 'custom' ? { data } : {}) };
  const trace = isObject(given._meta) ? picked(given._meta, ['traceparent']) : {};
  return { ...shown, _meta: { redacted: true, ...trace } } as unknown as AgentEvent;
}

/**
 * What an event says beside content stays as it is: an argument of the same words would take its type, its place or who
 * decided from it.
 */
function withFacts(shown: AgentEvent, event: AgentEvent): AgentEvent {
  const [cut, given] = [shown, event] as unknown as Record<string, unknown>[];
  if (cut === given || !cut || !given) return shown;
  const kept: Record<string, unknown> = { ...cut, ...picked(given, [...placed, ...(facts[event.type] ?? [])]) };
  for (const name of ['content', 'display']) {
    const [parts, of] = [cut[name], given[name]];
    if (Array.isArray(parts) && Array.isArray(of) && parts.length === of.length)
      kept[name] = parts.map((part, at) => (isObject(part) ? { ...part, ...picked(Object(of[at]), ['type']) } : part));
  }
  if (event.type === 'custom')
    kept.data = { ...Object(cut.data), ...picked(Object(event.data), dataFacts[event.kind] ?? []) };
  if (isObject(cut._meta) && isObject(given._meta))
    kept._meta = { ...cut._meta, ...picked(given._meta, ['messageId', 'replaces', 'part', 'traceparent']) };
  return kept as unknown as AgentEvent;
}

function picked(value: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

/** What policy hides of calls in other sessions: of the agents that this one has called, and of the one that has called it. */
export interface HiddenBeside {
  /** In the turn of an event. */
  readonly texts: readonly string[];
  /** In any turn. */
  readonly all: readonly string[];
  /** It is not known of all of them. */
  readonly isUnknown: boolean;
}

const nothingBeside: HiddenBeside = { texts: [], all: [], isUnknown: false };

/**
 * The events of a session as one viewer may see them: without what policy obliged to hide of calls, in all texts of the
 * turn too. Nothing is shown of the arguments of a call on which nothing was decided. It has to have seen all of a log
 * before it shows any of it: what is to be hidden is known when a call is decided.
 */
export class EventRedaction {
  readonly #options: RedactionOptions;
  readonly #calls = new Map<string, Call>();
  readonly #turns = new Map<string, Set<string>>();
  /** Of a turn, until one of its calls changes. */
  readonly #texts = new Map<string, readonly string[]>();
  #lastSeq = -1;
  /** Characters of the arguments that it holds, as JSON. */
  size = 0;
  /** Ids of events of a log that does not number them. */
  readonly #unnumbered = new Set<string>();

  constructor(options: RedactionOptions) {
    this.#options = options;
  }

  /** What it has not seen is not to be shown: what is to be hidden of it is not known. */
  hasSeen(event: AgentEvent): boolean {
    const { seq = Number.POSITIVE_INFINITY, id } = event;
    return seq <= this.#lastSeq || this.#unnumbered.has(id);
  }

  see(event: AgentEvent): void {
    if (event.seq === undefined) this.#unnumbered.add(event.id);
    else this.#lastSeq = Math.max(this.#lastSeq, event.seq);
    if (event.type === 'tool_request') {
      const { requestId, name: tool, args, turnId = '' } = event as typeof event & { turnId?: string };
      this.#held(args);
      this.#calls.set(requestId, { tool, turnId, args: [args], records: [], hooked: notesOf(event).hooked === true });
      const calls = this.#turns.get(turnId) ?? new Set();
      this.#turns.set(turnId, calls.add(requestId));
      this.#texts.delete(turnId);
      return;
    }
    const call = this.#calls.get(callOf(event) ?? '');
    if (!call) return;
    this.#texts.delete(call.turnId);
    if (event.type === 'tool_response') {
      const { isError, errorType } = event as { isError?: boolean; errorType?: string };
      call.ended = { isError, errorType };
    } else if (event.type === 'custom' && event.kind === 'policy_decision') {
      const record = event.data as PolicyDecisionRecord;
      call.records.push(record);
      for (const args of [record.args, record.asked?.args]) {
        if (!args) continue;
        this.#held(args);
        call.args.push(args);
      }
    }
  }

  #held(args: unknown): void {
    this.size += JSON.stringify(args)?.length ?? 0;
  }

  shown(event: AgentEvent, beside: HiddenBeside = nothingBeside): AgentEvent {
    const { turnId = '' } = event as { turnId?: string };
    const callId = callOf(event);
    const call = this.#calls.get(callId ?? '');
    // Of a call whose beginning is not in the log, nobody knows what policy has to say.
    if (callId !== undefined && !call) return eventFacts(event);
    const redaction = call && this.#redactionOf(call);
    const source = this.#sourceOf(event, call);
    if (source && (beside.isUnknown || this.#hidesResultOf(source))) return eventFacts(event);
    const texts = source ? [...this.allTexts(), ...beside.all] : [...this.textsOf(turnId), ...beside.texts];
    // A piece may begin or end within what is hidden.
    if (source && event.type === 'tool_response' && texts.length > 0) return eventFacts(event);
    let shown: AgentEvent = event;
    if (redaction && (redaction.args.length > 0 || redaction.result)) shown = withoutCall(event, redaction);
    if (texts.length === 0) return shown;
    return withFacts(withoutTexts(shown, texts), event);
  }

  /** Of which calls the event has a copy that the runtime has made: their turn may be an earlier one. */
  #sourceOf(event: AgentEvent, call: Call | undefined): 'any' | Call | undefined {
    if (event.type === 'custom' && event.kind === 'compacted') return 'any';
    if (call?.tool !== RESULT_READER || event.type !== 'tool_response') return undefined;
    const [args] = call.args;
    return (isObject(args) && this.#calls.get(String(args.call))) || 'any';
  }

  #hidesResultOf(source: 'any' | Call): boolean {
    if (source !== 'any') return this.#redactionOf(source).result;
    return [...this.#calls.values()].some((call) => this.#redactionOf(call).result);
  }

  /** The turn of a call that it has seen. */
  turnOf(callId: string): string | undefined {
    return this.#calls.get(callId)?.turnId;
  }

  /** Nothing of any call is hidden, be it since nothing was decided on it yet. */
  get hidesNothing(): boolean {
    for (const call of this.#calls.values()) {
      const { args, result } = this.#redactionOf(call);
      if (args.length > 0 || result) return false;
    }
    return true;
  }

  /** Policy hides something of what a call was asked with. */
  hidesArgsOf(callId: string): boolean {
    const call = this.#calls.get(callId);
    return call === undefined || this.#redactionOf(call).args.length > 0;
  }

  /** What is hidden of the calls of any turn. */
  allTexts(): readonly string[] {
    return [...new Set([...this.#turns.keys()].flatMap((turnId) => this.textsOf(turnId)))];
  }

  #redactionOf(call: Call): Redaction {
    const obliged = obligationsOf(call.records, call.ended, call.hooked);
    return redactionOf(call.tool, obliged, this.#options, call.ended?.errorType);
  }

  /** What is hidden of the calls of a turn, wherever it stands. */
  textsOf(turnId: string): readonly string[] {
    const known = this.#texts.get(turnId);
    if (known) return known;
    const texts = new Set<string>();
    for (const callId of this.#turns.get(turnId) ?? []) {
      const call = this.#calls.get(callId);
      if (call) for (const text of hiddenTexts(call.args, this.#redactionOf(call).args)) texts.add(text);
    }
    this.#texts.set(turnId, [...texts]);
    return [...texts];
  }
}

function callOf(event: AgentEvent): string | undefined {
  if (event.type === 'custom') return (event.data as { callId?: string } | undefined)?.callId;
  return 'requestId' in event && typeof event.requestId === 'string' ? callIdOf(event.requestId) : undefined;
}

function withoutCall(event: AgentEvent, { args, result }: Redaction): AgentEvent {
  const hide = (value: unknown) => {
    const shown = redactPointers(value, args).value;
    return isObject(shown) ? shown : {};
  };
  const mark = { _meta: { redacted: true } };
  if (event.type === 'tool_request') return { ...event, args: hide(event.args), ...mark } as AgentEvent;
  if (event.type === 'tool_response' && result) {
    const { structuredContent: _, display: __, ...rest } = event as typeof event & Record<string, unknown>;
    return { ...rest, content: [{ type: 'text', text: REDACTED }], ...mark } as unknown as AgentEvent;
  }
  if (event.type === 'custom' && event.kind === 'policy_decision') {
    const data = event.data as PolicyDecisionRecord;
    const asked = data.asked?.args ? { asked: { ...data.asked, args: hide(data.asked.args) } } : {};
    return {
      ...event,
      data: { ...data, ...(data.args ? { args: hide(data.args) } : {}), ...asked },
      ...mark,
    } as AgentEvent;
  }
  return event;
}
