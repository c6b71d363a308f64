import type { ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { ToolResult } from '../../../contracts/index.ts';
import { canonicalJson } from '../../../contracts/index.ts';
import { contentOfBlocks } from './content.ts';
import { inputMembers } from './same-call.ts';

/** Where agents that show a terminal put what it has written. */
const TERMINAL = ['terminal_output', 'terminal_output_delta'];
/** Where records of a command have what it has written. */
const WRITTEN = ['formatted_output', 'aggregated_output', 'output'];

/** What a call has returned, told apart from what was told before it ran. */
export class AcpOutput {
  #content: readonly ToolCallContent[] = [];
  #raw: unknown;
  #terminal = '';

  /** Something of it has come: the call runs, or has run. */
  get isThere(): boolean {
    return this.#content.length > 0 || this.#raw !== undefined || this.#terminal !== '';
  }

  /** @param shown what was told of the call before: an agent may tell it again with its progress */
  take({ content, rawOutput, _meta }: ToolCallUpdate, shown: readonly ToolCallContent[], isOver: boolean): void {
    const known = new Set(shown.map((block) => canonicalJson(block)));
    // A change that is told again at the end has been made; words that are told again are those of the question.
    const isNew = (block: ToolCallContent) => (isOver && block.type === 'diff') || !known.has(canonicalJson(block));
    const fresh = (content ?? []).filter(isNew);
    if (fresh.length > 0) this.#content = fresh;
    if (rawOutput !== undefined && rawOutput !== null) this.#raw = rawOutput;
    for (const name of TERMINAL) {
      const data = inputMembers(_meta?.[name])?.data;
      if (typeof data === 'string') this.#terminal += data;
    }
  }

  result(isError: boolean): ToolResult {
    const { content, display } = contentOfBlocks(this.#content);
    const text = this.#terminal || writtenIn(this.#raw);
    if (content.length === 0 && text !== '') content.push({ type: 'text', text });
    const structured = inputMembers(this.#raw);
    return {
      content,
      ...(structured ? { structuredContent: structured } : {}),
      ...(display.length === 0 ? {} : { display }),
      ...(isError ? { isError: true, errorType: 'failed' } : {}),
    };
  }
}

function writtenIn(raw: unknown): string {
  const members = inputMembers(raw);
  if (!members) return raw === undefined ? '' : typeof raw === 'string' ? raw : JSON.stringify(raw);
  for (const name of WRITTEN) {
    const text = members[name];
    if (typeof text === 'string' && text !== '') return text;
  }
  const streams = [members.stdout, members.stderr].filter((text) => typeof text === 'string');
  return streams.length > 0 ? streams.join('') : JSON.stringify(raw);
}
