import type {
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { CoxswainError, canonicalJson, isCoxswainError, messageOf } from '../../../contracts/index.ts';
import type { DispatchContext, DispatchExecutorHelpers, ToolRunOptions } from '../../../dispatch/index.ts';
import { storeEvent, Tool } from '../../../dispatch/index.ts';
import { errorResult } from '../../../gate/index.ts';
import type { ToldOfCall } from '../calls/index.ts';
import { AcpCall } from '../calls/index.ts';
import type { AcpFiles, AcpListener } from './client.ts';
import type { ReadRequest, WriteRequest } from './host-files.ts';
import { fileRefused, readFile, textOfFile, writeFile } from './host-files.ts';
import { promptUsage, stopped } from './prompt-end.ts';
import { AcpSpeech } from './speech.ts';

export interface AcpTurnOptions {
  name: string;
  files: AcpFiles;
  /** Kinds of calls that the agent may begin without asking. */
  unasked: ReadonlySet<string>;
  /** Members of a call's raw input that may differ between the question and the call. */
  volatile: ReadonlySet<string>;
  /** Milliseconds after which a call that was announced as begun, and not asked about, was begun without asking. */
  askWithinMs: number;
  /** Asks the agent to stop. */
  cancel(): void;
  /** USD that the agent's session has cost when it was last told. */
  spent: { usd: number };
}

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/** What one prompt brings: words go to the log, calls through the gate. */
export class AcpTurn implements AcpListener {
  readonly #ctx: DispatchContext;
  readonly #options: AcpTurnOptions;
  readonly #speech: AcpSpeech;
  readonly #calls = new Map<string, AcpCall>();
  readonly #granted = new Set<AcpCall>();
  readonly #running = new Set<Promise<unknown>>();
  /** Calls that were announced as begun, and may still be asked about. */
  readonly #held = new Map<AcpCall, NodeJS.Timeout>();
  /** Fires when nothing is asked, and nothing begun, for the agent any more: it was stopped, or has ended. */
  readonly #over = new AbortController();
  #denied = false;
  #ended = false;
  #failure: CoxswainError | undefined;

  constructor(ctx: DispatchContext, helpers: DispatchExecutorHelpers, options: AcpTurnOptions) {
    this.#ctx = ctx;
    this.#options = options;
    this.#speech = new AcpSpeech(ctx, helpers);
  }

  /** Runs the prompt to its end. @throws CoxswainError for whatever kept it from its good end */
  async run(prompt: () => Promise<PromptResponse>): Promise<void> {
    let answer: PromptResponse | undefined;
    let thrown: unknown;
    try {
      answer = await prompt();
    } catch (error) {
      thrown = error;
    }
    this.#ended = true;
    for (const call of [...this.#held.keys()]) this.#unasked(call);
    this.#over.abort(cancelled('the agent ended without waiting for the answer'));
    const unknown = errorResult('interrupted', 'the agent ended without saying how this call ended');
    for (const call of this.#calls.values()) call.settle(unknown);
    this.#speech.end();
    await Promise.allSettled(this.#running);
    this.#tellEnd(answer);
    await this.#speech.stored();
    // Some agents end their turn, as if it were cancelled, after a no.
    const isOver = answer?.stopReason === 'cancelled' && this.#denied && !this.#ctx.aborted;
    const failure = this.#failure ?? thrown ?? (isOver ? undefined : stopped(answer?.stopReason, this.#options.name));
    if (failure) throw failure;
  }

  /** What an answer to a prompt says of the words before it. */
  #tellEnd(answer: PromptResponse | undefined): void {
    const usage = promptUsage(answer);
    const isCut = answer?.stopReason === 'max_tokens';
    if (this.#ctx.aborted || (!usage && !isCut)) return;
    const told = { ...(usage ? { usage } : {}), ...(isCut ? { finishReason: 'length' } : {}) };
    void this.#speech.after(() => storeEvent(this.#ctx, told));
  }

  update(update: SessionUpdate): void {
    if (this.#ctx.aborted || this.#failure) return;
    this.#within(() => this.#take(update));
  }

  /** Takes what the agent sends. One that says more than it may is asked to stop, and nothing is begun for it any more. */
  #within(take: () => void): void {
    try {
      take();
    } catch (error) {
      if (!isCoxswainError(error)) throw error;
      this.#failure ??= error;
      this.#over.abort(error);
      this.#options.cancel();
    }
  }

  /** Whether something is done for a request that the agent has sent: as with updates, it is counted what it says. */
  #admits(request: unknown): boolean {
    if (!this.#isOver) this.#within(() => this.#speech.count(request));
    return !this.#isOver;
  }

  #take(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.#speech.say('message', update.content, update.messageId);
        break;
      case 'agent_thought_chunk':
        this.#speech.say('thought', update.content, update.messageId);
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#speech.count(update);
        this.#toolCall(this.#known(update));
        break;
      case 'plan':
        this.#speech.count(update);
        void this.#speech.after(() => storeEvent(this.#ctx, { customMetadata: { acp: { plan: update.entries } } }));
        break;
      case 'usage_update':
        this.#speech.count(update);
        if (update.cost?.currency === 'USD') this.#cost(update.cost.amount);
        break;
      default:
    }
  }

  async permission({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    if (!this.#admits({ toolCall, options })) return CANCELLED;
    const call = this.#asked(toolCall);
    if (this.#isOver) return CANCELLED;
    call.recorded = true;
    const pick = (kind: string) => options.find((option) => option.kind === kind)?.optionId;
    const no = pick('reject_once') ?? pick('reject_always');
    const yes = pick('allow_once');
    const selected = (optionId: string | undefined): RequestPermissionResponse =>
      optionId === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId } };
    const answer = Promise.withResolvers<RequestPermissionResponse>();
    const over = this.#over.signal;
    const cancel = () => answer.resolve(CANCELLED);
    over.addEventListener('abort', cancel, { once: true });
    const asked = call.args;
    const tool = this.#tool(call, true, async (args) => {
      if (over.aborted) return errorResult('cancelled', `${messageOf(over.reason)}; it never ran`);
      const why = yes === undefined ? FOREVER : canonicalJson(args) === canonicalJson(asked) ? undefined : EDITED;
      if (why !== undefined) {
        this.#denied = true;
        answer.resolve(selected(no));
        return errorResult('denied', why);
      }
      call.allow();
      this.#granted.add(call);
      answer.resolve(selected(yes));
      const result = await call.final;
      this.#granted.delete(call);
      return result;
    });
    this.#run(tool, asked, { signal: over, elsewhere: true }).then(() => {
      this.#denied ||= !call.isAllowed;
      answer.resolve(selected(no));
    }, cancel);
    try {
      return await answer.promise;
    } finally {
      over.removeEventListener('abort', cancel);
    }
  }

  async readFile(request: ReadRequest): Promise<string> {
    if (!this.#admits(request)) throw fileRefused(request.path);
    const { signal } = this.#over;
    return readFile(request, this.#options.files, signal, (tool, args) => this.#run(tool, args, { signal }));
  }

  async writeFile(request: WriteRequest): Promise<void> {
    if (!this.#admits(request)) throw fileRefused(request.path);
    const { signal } = this.#over;
    const { files } = this.#options;
    const showing = [...this.#granted].filter((call) => call.hasShown(request.path));
    const current = showing.length > 0 ? await textOfFile(request.path, files, signal) : undefined;
    // What a person has said yes to is this change, not any of the file.
    const isShown = showing.some((call) => this.#granted.has(call) && call.takeWrite(request, current));
    return writeFile(request, files, isShown, signal, (tool, args) => this.#run(tool, args, { signal }));
  }

  #known(update: ToldOfCall): AcpCall {
    let call = this.#calls.get(update.toolCallId);
    // An id that is used again is another call: what was said of the first is no word on it.
    const beginsAnew = update.status === 'pending' || update.status === 'in_progress';
    if (!call || (call.isOver && beginsAnew)) call = this.#new(update.toolCallId);
    call.merge(update);
    return call;
  }

  /** The call that a question is about: one that was announced, the same once more, or a new one. */
  #asked(question: ToolCallUpdate): AcpCall {
    let call = this.#calls.get(question.toolCallId);
    if (!call || call.isOver) call = this.#new(question.toolCallId);
    else if (call.recorded) {
      // Its record would wait for the end of a call that waits for this answer.
      call.settle(errorResult('interrupted', 'the agent asks about this call once more: see the next one'));
      call = call.again();
      this.#calls.set(call.id, call);
    }
    this.#release(call);
    if (!call.ask(question)) this.#stop(`${call.name} (${call.title}) was begun, and asked about as another call`);
    return call;
  }

  #new(id: string): AcpCall {
    const call = new AcpCall(id, this.#options.volatile);
    this.#calls.set(id, call);
    return call;
  }

  /** A call that has begun, or ended. */
  #toolCall(call: AcpCall): void {
    if (!call.hasBegun) return;
    if (call.asked) {
      if (call.breach !== undefined) this.#stop(`${call.name} (${call.title}) ${call.breach}`);
    } else if (call.recorded) this.#checkKind(call);
    else if (call.hasRun) this.#unasked(call);
    // Some agents announce a call as begun, and ask about it in the same breath.
    else if (!this.#held.has(call)) this.#hold(call);
  }

  #hold(call: AcpCall): void {
    this.#held.set(
      call,
      setTimeout(() => this.#unasked(call), this.#options.askWithinMs),
    );
  }

  #release(call: AcpCall): void {
    clearTimeout(this.#held.get(call));
    this.#held.delete(call);
  }

  /** A call that was begun and not asked about. */
  #unasked(call: AcpCall): void {
    this.#release(call);
    if (this.#ctx.aborted) return;
    call.recorded = true;
    if (!this.#checkKind(call)) return;
    let allowed = false;
    const tool = this.#tool(call, false, () => {
      allowed = true;
      return call.final;
    });
    this.#run(tool, call.args, { elsewhere: true }).then(
      () => allowed || this.#stop(`${call.name} (${call.title}) was begun without asking, and it is denied here`),
      () => {},
    );
  }

  /** Also when it says later that it is of another kind. */
  #checkKind(call: AcpCall): boolean {
    if (call.status === 'failed' || this.#options.unasked.has(call.acpKind)) return true;
    this.#stop(`${call.name} (${call.title}) was begun without asking`);
    return false;
  }

  #tool(call: AcpCall, asks: boolean, handler: (args: Record<string, unknown>) => unknown): Tool {
    return new Tool({
      name: call.name,
      description: call.title,
      kind: call.kind,
      // It is the agent that runs it: an approval lets it do so, and gives it no other arguments.
      annotations: { fixedArgs: true, ...(asks ? {} : { readOnly: true }) },
      ...(asks ? { needsApproval: true } : {}),
      handler,
    });
  }

  /** Through the gate; behind the words that came before it. @throws CoxswainError where too many wait or run already */
  async #run(tool: Tool, args: Record<string, unknown>, options: ToolRunOptions): Promise<unknown> {
    let ended: (() => void) | undefined;
    this.#within(() => {
      ended = this.#speech.begun();
    });
    if (!ended) throw this.#failure;
    const run = this.#speech.after(() => {}).then(() => tool.executor(this.#ctx, options)(args));
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
      ended();
    }
  }

  #cost(usd: number): void {
    const { spent } = this.#options;
    const delta = usd - spent.usd;
    if (delta <= 0) return;
    spent.usd = usd;
    void this.#speech.after(() => storeEvent(this.#ctx, { usage: { cost: { usd: delta } } }));
  }

  #stop(why: string): void {
    this.#failure ??= new CoxswainError(
      'PERMISSION_DENIED',
      'E_AGENT_UNASKED',
      `agent ${this.#options.name} was stopped: ${why}; make it ask, or name the kind in \`unasked\``,
    );
    this.#over.abort(cancelled('the agent was stopped'));
    if (!this.#ended) this.#options.cancel();
  }

  get #isOver(): boolean {
    return this.#ctx.aborted || this.#over.signal.aborted;
  }
}

function cancelled(why: string): CoxswainError {
  return new CoxswainError('ABORTED', 'E_ABORTED', why);
}

const EDITED = 'an agent of this kind runs its own arguments: they cannot be edited, only allowed or denied';
const FOREVER = 'the agent offers no way to allow this call alone';
