import { messageOf } from '../../contracts/index.ts';
import type { Message, RecordChange, Thought, ToolCall } from '../records/index.ts';
import { checkChange, toolCallChecksum } from '../records/index.ts';
import type { Tool, ToolRunner, ToolRunOptions } from '../tools/index.ts';
import { runToolKey } from '../tools/index.ts';
import type { DispatchState } from './dispatch-state.ts';
import { TurnContext } from './turn-context.ts';

/** What one run of the executor, and the pipelines around it, are given. */
export class DispatchContext extends TurnContext implements ToolRunner {
  /** How often the executor has run in this turn before. */
  readonly iteration: number;
  readonly #state: DispatchState;

  constructor(state: DispatchState) {
    const { turn } = state;
    super({
      turnId: turn.turnId,
      tools: turn.tools,
      systemPrompt: turn.systemPrompt,
      standingInstructions: turn.standingInstructions,
      backend: turn.backend,
      buses: turn.buses,
      bounds: turn.bounds,
      stash: turn.stash,
      turnAbortController: turn.turnAbortController,
    });
    this.#state = state;
    this.iteration = state.iteration;
  }

  get dispatchId(): string {
    return this.#state.dispatchId;
  }

  override get turnMessages(): Set<Message> {
    return this.#state.records.message;
  }

  override get turnThoughts(): Set<Thought> {
    return this.#state.records.thought;
  }

  override get turnToolCalls(): Set<ToolCall> {
    return this.#state.records.toolCall;
  }

  get isSignalled(): boolean {
    return this.isAcked || this.isNacked;
  }

  get isAcked(): boolean {
    return this.#state.terminal()?.kind === 'ack';
  }

  get isNacked(): boolean {
    return this.#state.terminal()?.kind === 'nack';
  }

  get nackError(): Error | undefined {
    const terminal = this.#state.terminal();
    return terminal?.kind === 'nack' ? terminal.error : undefined;
  }

  /** Called at once when the dispatch is acknowledged; what it throws is dropped. */
  onAck(handler: () => void): () => void {
    this.#state.ackHandlers.add(handler);
    return () => this.#state.ackHandlers.delete(handler);
  }

  /**
   * The turn's work is done.
   * @throws CoxswainError `FAILED_PRECONDITION / E_LLM_EXECUTION_ALREADY_SIGNALLED | E_LLM_EXECUTION_SUPERSEDED`
   */
  ack(): void {
    this.#state.signal(this.iteration, 'ack');
  }

  /**
   * The turn has failed.
   * @throws CoxswainError `FAILED_PRECONDITION / E_LLM_EXECUTION_ALREADY_SIGNALLED | E_LLM_EXECUTION_SUPERSEDED`
   */
  nack(error?: unknown): void {
    this.#state.signal(this.iteration, 'nack', error);
  }

  /** How many calls with this checksum are stored in this turn, those it began with included. */
  toolCallCount(checksum: string): number {
    let count = 0;
    for (const call of this.turnToolCalls) if (call.checksum === checksum) count++;
    return count;
  }

  [runToolKey](tool: Tool, args: unknown, options: ToolRunOptions): Promise<unknown> {
    return this.#watched(`tool ${tool.name}`, this.#run(tool, args, options));
  }

  protected override change(change: RecordChange): Promise<void> {
    return this.#watched(`${change.op} ${change.kind}`, this.#write(change));
  }

  async #run(tool: Tool, args: unknown, options: ToolRunOptions): Promise<unknown> {
    const state = this.#state;
    state.assertPresent(this.iteration, 'tool', `tool ${tool.name}`);
    const checksum = toolCallChecksum(tool.name, args);
    state.toolsRunning++;
    state.toolCalls++;
    try {
      return await this.backend.run(tool, args, { ...options, checksum }, this);
    } finally {
      state.toolsRunning--;
      state.touch();
    }
  }

  async #write(change: RecordChange): Promise<void> {
    checkChange(change);
    this.#state.assertPresent(this.iteration, 'store', `${change.op} ${change.kind}`);
    await this.#state.write(change, this);
  }

  /** What nobody awaits may fail without ending the process; it is logged. */
  #watched<T>(what: string, work: Promise<T>): Promise<T> {
    work.catch((error: unknown) => this.#state.log('debug', 'operation-failed', `${what}: ${messageOf(error)}`));
    return work;
  }
}
