import { badInput, guarded, isObject } from '../base/index.ts';
import type {
  AgentEvent,
  ContentPart,
  DisplayContent,
  ElicitationRequestEvent,
  PolicyDecisionRecord,
  ReportedRequest,
  StreamEndReason,
} from '../contracts/index.ts';
import { callIdOf, canonicalJson, notesOf } from '../contracts/index.ts';

export interface ViewMessage {
  /** `_meta.messageId` of its events, which the parts of a message that grows have in common; else the event's id. */
  id: string;
  role: string;
  agentId?: string;
  content: ContentPart[];
  /** Still growing. */
  streaming: boolean;
  interrupted?: boolean;
}

export interface ViewToolCall {
  id: string;
  name: string;
  /** As they were asked for. */
  args: Record<string, unknown>;
  /** What a yes to its open question lets run, where that differs: a page that asks shows `argsAsked ?? args`. */
  argsAsked?: Record<string, unknown>;
  /** As they are approved to run, where they differ. */
  argsRun?: Record<string, unknown>;
  agentId?: string;
  threadId?: string;
  status: 'requested' | 'started' | 'done' | 'failed';
  progress?: { progress: number; total?: number };
  content?: ContentPart[];
  display?: DisplayContent[];
  errorType?: string;
}

export interface ViewThread {
  /** '' is the root. */
  id: string;
  messages: ViewMessage[];
}

/** A message or a call, where it stands in the conversation. `threadId` is absent for the root thread. */
export type ViewItem =
  | { readonly type: 'message'; readonly message: ViewMessage; readonly threadId?: string }
  | { readonly type: 'tool_call'; readonly call: ViewToolCall; readonly threadId?: string };

/** What a user interface shows of a session: derived from its events, live or replayed. */
export interface SessionView {
  readonly threads: ReadonlyMap<string, ViewThread>;
  /** Of the root thread. */
  readonly messages: readonly ViewMessage[];
  readonly toolCalls: ReadonlyMap<string, ViewToolCall>;
  /** Messages and calls of all threads in the order in which they began: the same objects as above. */
  readonly items: readonly ViewItem[];
  /** Questions without an answer, by request id. */
  readonly approvals: ReadonlyMap<string, ElicitationRequestEvent>;
  readonly status: 'idle' | 'running' | StreamEndReason;
  /**
   * Takes one event; one that was seen before changes nothing.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no event; nothing has changed then
   */
  apply(event: AgentEvent): void;
  /**
   * Takes what is open, as `session.pending()` has it, after history that was replayed: stored events do not say what a
   * question of the host is about (`argsAsked` of its call).
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for what is no list of questions
   */
  ask(open: readonly AskedAbout[]): void;
}

type AskedAbout = Pick<ReportedRequest, 'requestId'> & Partial<Pick<ReportedRequest, 'callId' | 'args' | 'approval'>>;

/**
 * @example
 * ```ts
 * import { createView } from 'coxswain';
 * import { connect } from 'coxswain/client';
 *
 * const session = await (await connect('ws://127.0.0.1:4747', { token: 'secret' })).open('clerk');
 * const view = createView();
 * for await (const event of session.stream('Hello.')) {
 *   view.apply(event);
 *   console.log(view);
 * }
 * ```
 */
export function createView(): SessionView {
  return new View();
}

/** What the view reads of an event: nothing is done with half of one. */
function faultOf(event: AgentEvent): string | undefined {
  if (typeof event !== 'object' || event === null) return 'the event is no object';
  const { id, type } = event;
  if (typeof id !== 'string' || typeof type !== 'string') return 'the event has no id or no type';
  const read = event as { requestId?: unknown; content?: unknown; data?: unknown };
  if (asksOrAnswers.has(type) && typeof read.requestId !== 'string') return `${type} ${id} has no requestId`;
  if (says.has(type) && !Array.isArray(read.content)) return `${type} ${id} has no list as content`;
  if (type === 'custom' && event.kind === 'rewound' && typeof event.data?.through !== 'number')
    return `custom ${id} does not say through which event`;
  return undefined;
}

const leavesStatus: ReadonlySet<string> = new Set(['stream_end', 'initialize', 'session_update']);
const says: ReadonlySet<string> = new Set(['message', 'tool_response']);
const asksOrAnswers: ReadonlySet<string> = new Set([
  'tool_request',
  'tool_response',
  'elicitation_request',
  'elicitation_response',
]);

class View implements SessionView {
  readonly threads = new Map<string, ViewThread>([['', { id: '', messages: [] }]]);
  readonly toolCalls = new Map<string, ViewToolCall>();
  readonly approvals = new Map<string, ElicitationRequestEvent>();
  items: ViewItem[] = [];
  status: SessionView['status'] = 'idle';
  readonly #seen = new Set<string>();
  /** Ids of the deltas of messages that grow, by message id. */
  readonly #deltas = new Map<string, Set<string>>();
  /** Ids of messages that no longer count. */
  readonly #rewound = new Set<string>();
  readonly #byMessageId = new Map<string, ViewMessage>();
  /** seq of what a message, call or question came from. */
  readonly #places = new WeakMap<object, number>();
  /** Id of the question that a call's `argsAsked` are of. */
  readonly #askedBy = new WeakMap<ViewToolCall, string>();
  /** What a call or question became, by seq: a rewind may open it again. */
  #settled: { seq: number; reopen: () => void }[] = [];
  /** The highest seq that anything here came from; infinite where something came without one. */
  #newest = 0;

  get messages(): readonly ViewMessage[] {
    return this.threads.get('')?.messages ?? [];
  }

  apply(event: AgentEvent): void {
    const fault = guarded('apply: the event', () => faultOf(event));
    if (fault !== undefined) throw badInput(`apply: ${fault}`);
    if (this.#isKnown(event)) return;
    // A session may be updated between two turns.
    if (!leavesStatus.has(event.type)) this.status = 'running';
    if (event.type !== 'custom' || event.kind !== 'rewound')
      this.#newest = Math.max(this.#newest, event.seq ?? Number.POSITIVE_INFINITY);
    switch (event.type) {
      case 'message':
        this.#message(event);
        break;
      case 'tool_request': {
        const call: ViewToolCall = {
          id: event.requestId,
          name: event.name,
          args: event.args,
          ...(event.agentId === undefined ? {} : { agentId: event.agentId }),
          ...(event.threadId === undefined ? {} : { threadId: event.threadId }),
          status: 'requested',
        };
        this.toolCalls.set(call.id, call);
        this.items.push({ type: 'tool_call', call, ...inThread(event.threadId) });
        this.#places.set(call, event.seq ?? 0);
        break;
      }
      case 'tool_update': {
        const call = this.toolCalls.get(event.requestId);
        if (!call) break;
        if (event.status === 'started') call.status = 'started';
        if (event.progress !== undefined) {
          call.progress = { progress: event.progress, ...(event.total === undefined ? {} : { total: event.total }) };
        }
        break;
      }
      case 'tool_response': {
        for (const id of this.approvals.keys()) if (id.startsWith(`${event.requestId}#`)) this.#answered(id, event.seq);
        const call = this.toolCalls.get(event.requestId);
        if (!call) break;
        this.#unasked(call, event.seq);
        this.#reopenable(event.seq, () => {
          call.status = 'requested';
          for (const key of ['content', 'display', 'errorType'] as const) delete call[key];
        });
        call.status = event.isError ? 'failed' : 'done';
        call.content = event.content;
        if (event.display) call.display = event.display;
        if (event.errorType !== undefined) call.errorType = event.errorType;
        break;
      }
      case 'elicitation_request':
        this.approvals.set(event.requestId, event);
        this.#asks(event);
        break;
      case 'elicitation_response':
        this.#answered(event.requestId, event.seq);
        break;
      case 'custom':
        if (event.kind === 'rewound') this.#rewind(event.data.through);
        else if (event.kind === 'policy_decision')
          this.#decided(event.data as Partial<PolicyDecisionRecord>, event.seq);
        break;
      case 'stream_end':
        this.status = event.reason;
        // Servers of earlier versions say there alone what a question is about.
        this.ask(event.data?.pending ?? []);
        break;
      default:
    }
  }

  /** Ids of deltas are kept while their message grows: a page that stays open for days would gather them. */
  #isKnown(event: AgentEvent): boolean {
    let seen = this.#seen;
    if (event.type === 'message' && event.partial) {
      const messageId = messageIdOf(event);
      const message = this.#messageOf(event);
      // Of one that is whole: where history is read beside what happens, a delta may come behind it.
      if (this.#rewound.has(messageId) || (message && !message.streaming)) return true;
      seen = this.#deltas.get(messageId) ?? new Set();
      this.#deltas.set(messageId, seen);
    }
    if (seen.has(event.id)) return true;
    seen.add(event.id);
    return false;
  }

  ask(open: readonly AskedAbout[]): void {
    if (!Array.isArray(open)) throw badInput('ask: open is no list of questions');
    guarded('ask: a question', () => {
      for (const question of open) if (question) this.#asks(question);
    });
  }

  /** What a yes lets run may be other than what was asked for: a hook or a person has changed it. */
  #asks({ requestId, callId, approval, args }: AskedAbout): void {
    const call = callId === undefined ? undefined : this.toolCalls.get(callId);
    if (!call || !approval || !isObject(args)) return;
    this.#askedBy.set(call, requestId);
    const now = canonicalJson(args);
    // The same object, where it says the same: a page draws anew what has changed alone.
    if (now === canonicalJson(call.argsAsked ?? call.args)) return;
    if (now === canonicalJson(call.args)) delete call.argsAsked;
    else call.argsAsked = args;
  }

  #unasked(call: ViewToolCall, seq: number | undefined): void {
    const { argsAsked } = call;
    if (!argsAsked) return;
    this.#reopenable(seq, () => {
      call.argsAsked = argsAsked;
    });
    delete call.argsAsked;
  }

  /** What was asked for may not be what ran. */
  #decided({ callId, outcome, args }: Partial<PolicyDecisionRecord>, seq: number | undefined): void {
    const call = callId === undefined ? undefined : this.toolCalls.get(callId);
    if (!call || outcome !== 'approved' || !args) return;
    const { argsRun: before } = call;
    this.#reopenable(seq, () => {
      if (before) call.argsRun = before;
      else delete call.argsRun;
    });
    call.argsRun = args;
  }

  #answered(requestId: string, seq: number | undefined): void {
    const question = this.approvals.get(requestId);
    this.approvals.delete(requestId);
    if (question) this.#reopenable(seq, () => this.approvals.set(requestId, question));
    const call = this.toolCalls.get(callIdOf(requestId));
    if (call && this.#askedBy.get(call) === requestId) this.#unasked(call, seq);
  }

  #reopenable(seq: number | undefined, reopen: () => void): void {
    if (seq !== undefined) this.#settled.push({ seq, reopen });
  }

  /** What came after `through` no longer counts. */
  #rewind(through: number): void {
    this.status = 'idle';
    // A history that is read leaves out what was cut: there is nothing to look through.
    if (this.#newest <= through) return;
    this.#newest = through;
    for (const { seq, reopen } of this.#settled) if (seq > through) reopen();
    this.#settled = this.#settled.filter(({ seq }) => seq <= through);
    const stays = (item: object) => (this.#places.get(item) ?? Number.POSITIVE_INFINITY) <= through;
    for (const thread of this.threads.values()) thread.messages = thread.messages.filter(stays);
    this.items = this.items.filter((item) => stays(item.type === 'message' ? item.message : item.call));
    for (const [id, message] of this.#byMessageId) {
      if (stays(message)) continue;
      this.#byMessageId.delete(id);
      this.#deltas.delete(id);
      this.#rewound.add(id);
    }
    for (const [id, call] of this.toolCalls) if (!stays(call)) this.toolCalls.delete(id);
    // A host's own question stands where its call does.
    for (const [id, { seq, callId }] of this.approvals) {
      const place = seq ?? this.#places.get(this.toolCalls.get(callId ?? '') ?? {});
      if (place === undefined || place > through) this.approvals.delete(id);
    }
  }

  #message(event: MessageOf): void {
    const messageId = messageIdOf(event);
    let message = this.#messageOf(event);
    if (!message) {
      message = { id: messageId, role: event.role, content: [], streaming: true };
      if (event.agentId !== undefined) message.agentId = event.agentId;
      this.#thread(event.threadId ?? '').messages.push(message);
      this.items.push({ type: 'message', message, ...inThread(event.threadId) });
    }
    this.#byMessageId.set(messageId, message);
    if (event.partial) {
      appendDelta(message.content, Number(notesOf(event).part ?? 0), event.content[0]);
      return;
    }
    this.#deltas.delete(messageId);
    this.#deltas.delete(String(notesOf(event).replaces));
    this.#places.set(message, event.seq ?? 0);
    message.content = [...event.content];
    message.streaming = false;
    if (event.interrupted) message.interrupted = true;
  }

  #messageOf(event: MessageOf): ViewMessage | undefined {
    return this.#byMessageId.get(messageIdOf(event)) ?? this.#byMessageId.get(String(notesOf(event).replaces));
  }

  #thread(id: string): ViewThread {
    let thread = this.threads.get(id);
    if (!thread) {
      thread = { id, messages: [] };
      this.threads.set(id, thread);
    }
    return thread;
  }
}

type MessageOf = Extract<AgentEvent, { type: 'message' }>;

function messageIdOf(event: MessageOf): string {
  return String(notesOf(event).messageId ?? event.id);
}

function inThread(threadId: string | undefined): { threadId?: string } {
  return threadId === undefined ? {} : { threadId };
}

function appendDelta(content: ContentPart[], index: number, delta: ContentPart | undefined): void {
  if (!delta) return;
  const known = content[index];
  if (known?.type === 'text' && delta.type === 'text') content[index] = { ...known, text: known.text + delta.text };
  else if (known?.type === 'thought' && delta.type === 'thought') {
    content[index] = { ...known, thought: known.thought + delta.thought };
  } else content[index] = delta;
}
