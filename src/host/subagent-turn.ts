import type { AgentEvent, JsonSchema, PriceTable, ToolResult, Usage } from '../contracts/index.ts';
import { textOfParts } from '../contracts/index.ts';
import { errorResult, readOutput } from '../gate/index.ts';
import { addUsage, LastWords } from '../session/index.ts';
import { costOf } from './price.ts';

/** What a sub-agent's turn has come to, by its events. */
export class SubagentTurn {
  /** It was asked. */
  isOpen = false;
  ended: string | undefined;
  usage: Usage = {};
  readonly #threadId: string;
  readonly #prices: PriceTable | undefined;
  readonly #words = new LastWords();
  readonly #threads: string[] = [];
  #error: string | undefined;

  constructor(threadId: string, prices: PriceTable | undefined) {
    this.#threadId = threadId;
    this.#prices = prices;
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case 'message':
        if (event.partial) return;
        if (event.role === 'agent') this.#say(event.threadId ?? '', textOfParts(event.content));
        else if (event.threadId === this.#threadId) this.isOpen = true;
        break;
      case 'usage': {
        const usd = costOf(event, this.#prices);
        this.usage = addUsage(this.usage, usd === undefined ? event : { ...event, cost: { usd } });
        break;
      }
      case 'custom':
        if (event.kind === 'agent_started' && event.threadId) this.#place(event.threadId);
        break;
      case 'error':
        this.#error = event.message;
        break;
      case 'stream_end':
        if (event.reason !== 'input_required' && event.data.transfer === undefined) this.ended = event.reason;
        break;
      default:
    }
  }

  /** Its own words and those of its branches; agents that work for it are not heard. */
  #say(thread: string, text: string): void {
    const below = thread.slice(this.#threadId.length);
    if (!thread.startsWith(this.#threadId) || !/^(\.[^/]*)?$/.test(below)) return;
    this.#words.say(thread, text, String(this.#place(thread)));
  }

  /** Branches are told to begin in the order of the tree. */
  #place(thread: string): number {
    const known = this.#threads.indexOf(thread);
    return known >= 0 ? known : this.#threads.push(thread) - 1;
  }

  /** The tool's result: the agent's last words, as a value where it promises one. */
  result(name: string, outputSchema: JsonSchema | undefined): ToolResult {
    if (this.ended === 'aborted') return errorResult('interrupted', `agent ${name} was aborted`);
    if (this.ended !== 'completed') {
      const why = this.#error ?? this.#words.text;
      return errorResult('failed', `agent ${name} ended ${this.ended}${why === '' ? '' : `: ${why}`}`);
    }
    const content = [{ type: 'text' as const, text: this.#words.text }];
    if (!outputSchema) return { content };
    const read = readOutput(outputSchema, this.#words.text);
    if (!read.ok)
      return errorResult('failed', `the answer of agent ${name} does not fit its output schema: ${read.message}`);
    return { content, structuredContent: read.value };
  }
}

/** What a sub-agent has used, as its caller's log says: it stands with the decision on its call. */
export function usageOfSubagent(event: AgentEvent): { callId: string; usage: Usage } | undefined {
  if (event.type !== 'custom' || event.kind !== 'policy_decision') return undefined;
  const { callId, usage } = event.data as { callId: string; usage?: Usage };
  return usage && { callId, usage };
}
