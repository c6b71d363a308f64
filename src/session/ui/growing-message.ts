import type { UiMessage, UiMessageChunk, UiPart, UiToolPart } from './chunk.ts';

type ToolState = UiToolPart extends infer P
  ? P extends unknown
    ? Omit<P, 'type' | 'toolCallId' | 'input'>
    : never
  : never;

/** A message that chunks are added to, as a page does. */
export class GrowingMessage {
  readonly message: UiMessage;
  /** Where the part of each call, and of data under each id, stands: one turn may have thousands. */
  readonly #calls = new Map<string, number>();
  readonly #data = new Map<string, number>();

  constructor(id: string, role: UiMessage['role']) {
    this.message = { id, role, parts: [] };
  }

  add(chunk: UiMessageChunk): void {
    const { parts } = this.message;
    switch (chunk.type) {
      case 'start-step':
        parts.push({ type: 'step-start' });
        return;
      case 'text-start':
      case 'reasoning-start': {
        const { type, id, ...told } = chunk;
        parts.push({ type: type === 'text-start' ? 'text' : 'reasoning', text: '', state: 'done', ...told } as UiPart);
        return;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = parts.at(-1);
        if (part?.type === 'text' || part?.type === 'reasoning') part.text += chunk.delta;
        return;
      }
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = chunk;
        // What a question is about may be other than what was asked for.
        this.#put(this.#calls, toolCallId, { type: `tool-${toolName}`, toolCallId, state: 'input-available', input });
        return;
      }
      case 'tool-approval-request': {
        const { toolCallId, approvalId: id, approvalDescriptor: descriptor } = chunk;
        this.#change(toolCallId, { state: 'approval-requested', approval: { id, descriptor } });
        return;
      }
      case 'tool-output-available': {
        const { toolCallId, output, preliminary } = chunk;
        this.#change(toolCallId, { state: 'output-available', output, ...(preliminary ? { preliminary } : {}) });
        return;
      }
      case 'tool-output-error':
        this.#change(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
        return;
      case 'tool-output-denied': {
        const { toolCallId: id } = chunk;
        this.#change(id, { state: 'output-denied', approval: { id, approved: false } });
        return;
      }
      case 'finish':
        this.message.metadata = chunk.messageMetadata;
        return;
      case 'source-url':
      case 'file':
        parts.push(chunk);
        return;
      default:
        if ('data' in chunk && !chunk.transient) this.#setData(chunk);
    }
  }

  #change(id: string, state: ToolState): void {
    const at = this.#calls.get(id);
    const part = at === undefined ? undefined : this.message.parts[at];
    if (!part || !('toolCallId' in part)) return;
    const { type, toolCallId, input } = part;
    this.#put(this.#calls, id, { type, toolCallId, input, ...state } as UiToolPart);
  }

  /** Data of one id is one part, which is changed. */
  #setData({ type, id, data }: { type: `data-${string}`; id?: string; data: unknown }): void {
    if (id === undefined) this.message.parts.push({ type, data });
    else this.#put(this.#data, `${type} ${id}`, { type, id, data });
  }

  /** In the place that it has, or at the end. */
  #put(places: Map<string, number>, name: string, part: UiPart): void {
    const { parts } = this.message;
    const at = places.get(name) ?? parts.length;
    places.set(name, at);
    parts[at] = part;
  }
}
