import type { AgentEvent, JsonSchema, PriceTable, ReportedRequest, ToolResult, Usage } from '../../contracts/index.ts';
import { costOf } from '../../contracts/index.ts';
import { errorResult, readOutput } from '../../gate/index.ts';
import { addUsage, StreamSummary } from '../../session/index.ts';

/** What a sub-agent's turn has come to, by its events. */
export class SubagentTurn {
  /** It was asked. */
  isOpen = false;
  ended: string | undefined;
  usage: Usage = {};
  /** What its last stream has ended with, open. */
  asked: readonly ReportedRequest[] = [];
  readonly #threadId: string;
  readonly #prices: PriceTable | undefined;
  readonly #summary: StreamSummary;

  constructor(threadId: string, prices: PriceTable | undefined) {
    this.#threadId = threadId;
    this.#summary = new StreamSummary({ thread: threadId });
    this.#prices = prices;
  }

  see(event: AgentEvent): void {
    this.#summary.see(event);
    switch (event.type) {
      case 'message':
        if (event.role !== 'agent' && event.threadId === this.#threadId) this.isOpen = true;
        break;
      case 'usage': {
        const usd = costOf(event, this.#prices);
        this.usage = addUsage(this.usage, usd === undefined ? event : { ...event, cost: { usd } });
        break;
      }
      case 'stream_end':
        this.asked = this.#summary.pending;
        if (!this.#summary.isPaused) this.ended = event.reason;
        break;
      default:
    }
  }

  /** The tool's result: the agent's last words, as a value where it promises one. */
  result(name: string, outputSchema: JsonSchema | undefined): ToolResult {
    const { words, error, truncated } = this.#summary;
    if (this.ended === 'aborted') return errorResult('interrupted', `agent ${name} was aborted`);
    if (this.ended !== 'completed') {
      const why = error?.message ?? words;
      return errorResult('failed', `agent ${name} ended ${this.ended}${why === '' ? '' : `: ${why}`}`);
    }
    const content = [{ type: 'text' as const, text: words }];
    // Its caller would take half an answer for all of it.
    if (truncated) content.push({ type: 'text', text: "(The answer was cut at the model's output limit.)" });
    if (!outputSchema) return { content };
    const read = readOutput(outputSchema, words);
    if (!read.ok)
      return errorResult('failed', `the answer of agent ${name} does not fit its output schema: ${read.message}`);
    return { content, structuredContent: read.value };
  }
}
