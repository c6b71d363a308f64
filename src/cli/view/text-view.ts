import type {
  AgentEvent,
  CompactionRecord,
  ContentPart,
  PolicyDecisionRecord,
  ToolResponseEvent,
} from '../../contracts/index.ts';
import { notesOf, textOfParts } from '../../contracts/index.ts';
import type { Screen } from '../terminal/index.ts';
import { argsLine, clean, lineWidth, oneLine, paint } from '../terminal/index.ts';
import type { View } from './view.ts';

/** A run for people: words as they come, each tool call in one line when it is over. */
export class TextView implements View {
  readonly #screen: Screen;
  readonly #showsUser: boolean;
  readonly #calls = new Map<string, { name: string; args: Record<string, unknown> }>();
  readonly #streamed = new Set<unknown>();
  #last: 'nobody' | 'person' | 'agent' = 'nobody';

  /** `showsUser`: also what people said, for a session that is shown afterwards. */
  constructor(screen: Screen, options: { showsUser?: boolean } = {}) {
    this.#screen = screen;
    this.#showsUser = options.showsUser ?? false;
  }

  event(event: AgentEvent): void {
    switch (event.type) {
      case 'message':
        if (event.role === 'agent') this.#agent(event);
        else if (this.#showsUser) this.#person(textOfParts(event.content));
        break;
      case 'tool_request':
        this.#calls.set(event.requestId, { name: event.name, args: event.args });
        this.#spin();
        break;
      case 'tool_update':
        if (event.status === 'started' || event.progress !== undefined) this.#spin(progressOf(event));
        break;
      case 'tool_response':
        this.#response(event);
        break;
      case 'custom':
        if (event.kind === 'policy_decision') this.#decided(event.data);
        else if (event.kind === 'compacted') this.#compacted(event.data);
        break;
      case 'error':
        this.#screen.line(`${paint('red', 'coxswain:')} ${event.code} ${clean(event.message)}`);
        break;
      case 'stream_end':
        this.#screen.still();
        this.#screen.endWords();
        break;
      default:
    }
  }

  #person(text: string): void {
    this.#screen.endWords();
    this.#screen.words(`${this.#last === 'nobody' ? '' : '\n'}> ${text.replaceAll('\n', '\n> ')}\n`);
    this.#last = 'person';
  }

  #agent(event: Extract<AgentEvent, { type: 'message' }>): void {
    const messageId = notesOf(event).messageId ?? event.id;
    const text = wordsOf(event.content);
    // Other threads are the work of helpers: their words are not the answer.
    if (event.threadId !== undefined) {
      if (!event.partial && text !== '') this.#helper(event.agentId ?? event.threadId, text);
      return;
    }
    if (event.partial) {
      if (text === '') return;
      if (!this.#streamed.has(messageId)) this.#begin();
      this.#streamed.add(messageId);
      this.#screen.words(text);
      return;
    }
    if (!this.#streamed.has(messageId) && text !== '') {
      this.#begin();
      this.#screen.words(text);
    }
    if (text !== '') this.#screen.endWords();
    if (event.interrupted) this.#screen.line(paint('dim', '(interrupted)'));
  }

  #begin(): void {
    this.#screen.endWords();
    if (this.#last === 'agent') this.#screen.words('\n');
    this.#last = 'agent';
  }

  #helper(who: string, text: string): void {
    this.#screen.line(paint('dim', `  ${clean(who)}: ${oneLine(text, lineWidth() - who.length - 6)}`));
  }

  #response(event: ToolResponseEvent): void {
    const call = this.#calls.get(event.requestId);
    this.#calls.delete(event.requestId);
    const isHelper = event.threadId === undefined ? '' : '  ';
    const mark = event.isError ? paint('red', '✗') : paint('green', '✓');
    const name = clean(event.name);
    const said = summaryOf(event);
    const room = lineWidth() - name.length - 8;
    const args = argsLine(call?.args, Math.max(20, room - Math.min(said.length, 50)));
    const tail = oneLine(said, Math.max(20, room - args.length));
    this.#screen.line(`${isHelper}${mark} ${name}${args ? ` ${paint('dim', args)}` : ''}${tail ? ` · ${tail}` : ''}`);
    this.#spin();
  }

  /** Somebody may have changed the arguments: those that run are shown. */
  #decided(decision: unknown): void {
    const { callId, args } = decision as Partial<PolicyDecisionRecord>;
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (call && args) call.args = args;
  }

  /** Results that became references are no news to people. */
  #compacted(record: unknown): void {
    const { summary, tokensBefore, tokensAfter } = record as Partial<CompactionRecord>;
    if (summary === undefined) return;
    this.#screen.endWords();
    this.#screen.line(
      `older messages were summed up: about ${Number(tokensAfter)} tokens instead of ${Number(tokensBefore)}`,
    );
  }

  #spin(label?: string): void {
    const names = [...this.#calls.values()].map(({ name }) => clean(name));
    this.#screen.spin(label ?? (names.length > 0 ? names.join(', ') : 'thinking'));
  }
}

function wordsOf(parts: readonly ContentPart[]): string {
  return parts
    .map((part) => (part.type === 'text' || part.type === 'refusal' ? (part as { text: string }).text : ''))
    .join('');
}

function summaryOf({ content, isError, errorType }: ToolResponseEvent): string {
  const text = textOfParts(content).trim();
  const lines = text.split('\n');
  const said = lines.length > 1 && !isError ? `${lines.length} lines` : text;
  return isError && errorType !== undefined && !text.startsWith(errorType) ? `${errorType}: ${said}` : said;
}

function progressOf(event: Extract<AgentEvent, { type: 'tool_update' }>): string | undefined {
  if (event.progress === undefined) return undefined;
  return `${event.progress}${event.total === undefined ? '' : ` of ${event.total}`}`;
}
