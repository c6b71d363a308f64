import type { AnswerLimits } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { EventActions, StoredEvent } from '../../runtime/index.ts';
import type { Message, RecordChange, Thought, ToolCall } from '../records/index.ts';
import { checkChange, Records, Registry } from '../records/index.ts';
import type { Tool, ToolRunOptions } from '../tools/index.ts';
import { ToolRegistry } from '../tools/index.ts';
import type { DispatchBuses } from './buses.ts';
import type { GenerationStats } from './generation-stats.ts';

/** Where a turn's writes go, and who runs its tools. */
export interface TurnBackend {
  /** Resolves when it is durable. */
  write(change: RecordChange, context: TurnContext): Promise<void>;
  run(tool: Tool, args: unknown, options: ToolRunOptions & { checksum: string }, turn: TurnContext): Promise<unknown>;
  /** A piece of a message that is being made. */
  delta?(kind: 'message' | 'thought', id: string, delta: string): void;
  /** Tokens that a generation took, and how it ended. */
  stats?(stats: GenerationStats): void;
  /** Stores an event of another framework as it is. */
  event?(init: ForeignEvent): Promise<void>;
  /** Resolves when words that have come since the last look are among the messages. */
  arrivals?(): Promise<void>;
}

/** What an adapter of another framework may say of an event; place, time and turn are filled in. */
export type ForeignEvent = Partial<
  Pick<
    StoredEvent,
    'id' | 'author' | 'branch' | 'content' | 'usage' | 'model' | 'finishReason' | 'interrupted' | 'customMetadata'
  >
> & { actions?: Partial<EventActions> };

/**
 * Stores an event that is neither message, thought nor call: another agent's words, state, usage. For adapters of
 * other frameworks.
 * @throws CoxswainError `FAILED_PRECONDITION / E_UNSUPPORTED` where the turn has no log of events
 */
export async function storeEvent(context: TurnContext, event: ForeignEvent): Promise<void> {
  const { backend } = context;
  if (!backend.event) {
    throw new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', 'this turn stores no events; run it in a session');
  }
  await backend.event(event);
}

/** How much is taken from an executor and its tools. */
export interface TurnBounds {
  /** Of what one run of the executor reports, and of what it stores. */
  answerLimits?: AnswerLimits | undefined;
  /** Bytes that a model is given of one result. Default 1 MiB. */
  maxResultBytes?: number | undefined;
}

export interface TurnInit {
  turnId: string;
  turnAbortController: AbortController;
  backend: TurnBackend;
  buses: DispatchBuses;
  systemPrompt?: string | undefined;
  standingInstructions?: readonly string[] | undefined;
  stash?: Registry | Readonly<Record<string, unknown>> | undefined;
  tools?: ToolRegistry | undefined;
  bounds?: TurnBounds | undefined;
}

/** What the turn's own pipelines see: everything of a turn except the signals of its dispatch. */
export class TurnContext {
  readonly turnId: string;
  readonly tools: ToolRegistry;
  readonly stash: Registry;
  readonly systemPrompt: string;
  readonly standingInstructions: readonly string[];
  /** For the package's own use. */
  readonly records = new Records();
  readonly backend: TurnBackend;
  readonly buses: DispatchBuses;
  readonly bounds: TurnBounds;
  readonly turnAbortController: AbortController;
  /** A dispatch keeps messages of its own. */
  onWords: (words: Message) => void = () => {};

  constructor(init: TurnInit) {
    this.turnId = init.turnId;
    this.tools = init.tools ?? new ToolRegistry();
    this.stash = init.stash instanceof Registry ? init.stash : new Registry(init.stash);
    this.systemPrompt = init.systemPrompt ?? '';
    this.standingInstructions = Object.freeze([...(init.standingInstructions ?? [])]);
    this.backend = init.backend;
    this.buses = init.buses;
    this.bounds = init.bounds ?? {};
    this.turnAbortController = init.turnAbortController;
  }

  get turnMessages(): Set<Message> {
    return this.records.message;
  }

  get turnThoughts(): Set<Thought> {
    return this.records.thought;
  }

  get turnToolCalls(): Set<ToolCall> {
    return this.records.toolCall;
  }

  /** Words for the turn that came while it was worked on. */
  hear(words: Message): void {
    this.records.message.add(words);
    this.onWords(words);
  }

  /** Fires when the turn is aborted, and when its executor fails for silence. */
  get abortSignal(): AbortSignal {
    return this.turnAbortController.signal;
  }

  get aborted(): boolean {
    return this.abortSignal.aborted;
  }

  /** Ends the turn. */
  abort(reason?: unknown): void {
    this.turnAbortController.abort(reason);
  }

  storeMessage(value: Message): Promise<void> {
    return this.change({ op: 'store', kind: 'message', value });
  }

  mutateMessage(value: Message): Promise<void> {
    return this.change({ op: 'mutate', kind: 'message', value });
  }

  deleteMessage(id: string): Promise<void> {
    return this.change({ op: 'delete', kind: 'message', id });
  }

  storeThought(value: Thought): Promise<void> {
    return this.change({ op: 'store', kind: 'thought', value });
  }

  mutateThought(value: Thought): Promise<void> {
    return this.change({ op: 'mutate', kind: 'thought', value });
  }

  deleteThought(id: string): Promise<void> {
    return this.change({ op: 'delete', kind: 'thought', id });
  }

  storeToolCall(value: ToolCall): Promise<void> {
    return this.change({ op: 'store', kind: 'toolCall', value });
  }

  mutateToolCall(value: ToolCall): Promise<void> {
    return this.change({ op: 'mutate', kind: 'toolCall', value });
  }

  deleteToolCall(id: string): Promise<void> {
    return this.change({ op: 'delete', kind: 'toolCall', id });
  }

  /** Durable first, then seen. */
  protected async change(change: RecordChange): Promise<void> {
    checkChange(change);
    await this.backend.write(change, this);
    this.records.apply(change);
  }
}
