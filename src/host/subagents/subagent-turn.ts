import type { AgentEvent, JsonSchema, PendingRequest, PriceTable, ToolResult, Usage } from '../../contracts/index.ts';
import { errorResult, readOutput } from '../../gate/index.ts';
import { AnswerWords, addUsage } from '../../session/index.ts';
import { costOf } from '../terms/index.ts';

/** What a sub-agent's turn has come to, by its events. */
export class SubagentTurn {
  /** It was asked. */
  isOpen = false;
  ended: string | undefined;
  usage: Usage = {};
  /** What its last stream has ended with, open. */
  asked: readonly PendingRequest[] = [];
  readonly #threadId: string;
  readonly #prices: PriceTable | undefined;
  readonly #words: AnswerWords;
  #error: string | undefined;
  #isCut = false;

  constructor(threadId: string, prices: PriceTable | undefined) {
    this.#threadId = threadId;
    this.#words = new AnswerWords(threadId);
    this.#prices = prices;
  }

  see(event: AgentEvent): void {
    this.#words.see(event);
    switch (event.type) {
      case 'message':
        if (event.role !== 'agent' && event.threadId === this.#threadId) this.isOpen = true;
        break;
      case 'usage': {
        const usd = costOf(event, this.#prices);
        this.usage = addUsage(this.usage, usd === undefined ? event : { ...event, cost: { usd } });
        break;
      }
      case 'error':
        this.#error = event.message;
        break;
      case 'stream_end':
        this.asked = event.data.pending ?? [];
        this.#isCut = event.data.truncated === true;
        if (event.reason !== 'input_required' && event.data.transfer === undefined) this.ended = event.reason;
        break;
      default:
    }
  }

  /** The tool's result: the agent's last words, as a value where it promises one. */
  result(name: string, outputSchema: JsonSchema | undefined): ToolResult {
    if (this.ended === 'aborted') return errorResult('interrupted', `agent ${name} was aborted`);
    if (this.ended !== 'completed') {
      const why = this.#error ?? this.#words.text;
      return errorResult('failed', `agent ${name} ended ${this.ended}${why === '' ? '' : `: ${why}`}`);
    }
    const content = [{ type: 'text' as const, text: this.#words.text }];
    // Its caller would take half an answer for all of it.
    if (this.#isCut) content.push({ type: 'text', text: "(The answer was cut at the model's output limit.)" });
    if (!outputSchema) return { content };
    const read = readOutput(outputSchema, this.#words.text);
    if (!read.ok)
      return errorResult('failed', `the answer of agent ${name} does not fit its output schema: ${read.message}`);
    return { content, structuredContent: read.value };
  }
}
