import { LazyMap, LazySet } from '../../base/index.ts';
import type { Content, ContentPart, FunctionCallPart, FunctionResponsePart } from '../../contracts/index.ts';
import type { StoredEvent } from './event.ts';

/** Whose history: an agent sees its branch line and, as a tool, its own activation only. */
export interface Viewer {
  agent: string;
  branch: string | undefined;
  /** Path of the agent-as-tool activation; '' for none. */
  iso: string;
  /** Events before this seq are left out (`includeContents: 'none'`). */
  from?: number;
}

interface Slot {
  part: FunctionResponsePart;
  content: Content;
  index: number;
  /** Place of its content in the history. */
  at: number;
  longRunning: boolean;
}

/** Branches see each other along the line to the root; peers do not. */
export function sees(viewer: string | undefined, other: string | undefined): boolean {
  if (!viewer || !other || viewer === other) return true;
  return viewer.startsWith(`${other}.`) || other.startsWith(`${viewer}.`);
}

const waiting: Record<string, unknown> = Object.freeze({ status: 'pending', message: 'No result yet.' });

/**
 * The contents that one agent is shown, extended by new events and never rebuilt: the work of a step does not grow
 * with the session.
 *
 * Each content with calls is followed by one content with all their responses in call order; places are held until
 * the responses come, so that a history always has an answer to every call. A response that comes after the model
 * has spoken on becomes a note at the end.
 */
export class History {
  readonly contents: Content[] = [];
  readonly #viewer: Viewer;
  readonly #slots = new LazyMap<string, Slot>();
  /** Place of the newest own model content. */
  #spoken = -1;
  #upto = 0;
  /** The turn that runs; '' between two. */
  #turn = '';
  /** Long-running calls of all places: what they come to in the end is news for whoever is asked then. */
  readonly #longRunning = new LazySet<string>();

  /** `longRunning`: calls that are open where the log that is given begins. */
  constructor(viewer: Viewer) {
    this.#viewer = viewer;
  }

  /**
   * Takes in what the log has gained, or the first `most` events of that; `byId` finds steers that are delivered later
   * than they were written.
   */
  extend(
    log: readonly StoredEvent[],
    byId: (id: string) => StoredEvent | undefined,
    most = Number.POSITIVE_INFINITY,
  ): readonly Content[] {
    const end = Math.min(log.length, this.#upto + most);
    for (; this.#upto < end; this.#upto++) {
      const event = log[this.#upto];
      if (event) this.#take(event, byId);
    }
    return this.contents;
  }

  /** How many events of the log are not taken in. */
  lacks(log: readonly StoredEvent[]): number {
    return log.length - this.#upto;
  }

  #take(event: StoredEvent, byId: (id: string) => StoredEvent | undefined): void {
    for (const id of event.longRunningToolIds) this.#longRunning.add(id);
    if (event.actions.turn) this.#turn = event.turnId;
    if (event.actions.end) this.#turn = '';
    if (this.#viewer.from !== undefined && event.seq < this.#viewer.from) return;
    if ((event.iso ?? '') !== this.#viewer.iso || !sees(this.#viewer.branch, event.branch)) {
      this.#late(event);
      return;
    }
    for (const id of event.actions.delivered ?? []) {
      const steer = byId(id)?.content;
      if (steer) this.contents.push(steer);
    }
    if (event.actions.interim) {
      for (const [callId, interim] of Object.entries(event.actions.interim)) {
        const slot = this.#slots.get(callId);
        if (slot) this.#fill(slot, { ...slot.part, response: interim });
      }
    }
    const content = event.content;
    if (!content || event.partial || event.actions.steer || content.parts.length === 0) return;
    if (event.author !== 'user' && event.author !== this.#viewer.agent) this.#foreign(event, content);
    else if (content.role === 'model') this.#model(event, content);
    else this.#user(content);
  }

  /** Whoever made the call is not there any more, or will not be asked: those who are asked are told. */
  #late(event: StoredEvent): void {
    if (this.#viewer.iso !== '' || event.turnId === this.#turn) return;
    for (const part of event.content?.parts ?? []) {
      if (part.type !== 'function_response' || !this.#longRunning.has(part.id)) continue;
      if (part.errorType !== 'interrupted' && part.errorType !== 'cancelled') this.contents.push(note(part));
    }
  }

  #model(event: StoredEvent, content: Content): void {
    this.#spoken = this.contents.length;
    this.contents.push(content);
    const calls = content.parts.filter((part): part is FunctionCallPart => part.type === 'function_call');
    if (calls.length === 0) return;
    const at = this.contents.length;
    const held: Content = { role: 'user', parts: [] };
    for (const [index, call] of calls.entries()) {
      const part: FunctionResponsePart = {
        type: 'function_response',
        id: call.id,
        name: call.name,
        response: waiting,
        // The provider's own id of the call goes back with its response.
        ...(call._meta?.provider === undefined ? {} : { _meta: { provider: call._meta.provider } }),
      };
      held.parts.push(part);
      const longRunning = event.longRunningToolIds.includes(call.id);
      this.#slots.set(call.id, { part, content: held, index, at, longRunning });
    }
    this.contents.push(held);
  }

  #user(content: Content): void {
    const others: ContentPart[] = [];
    for (const part of content.parts) {
      const slot = part.type === 'function_response' ? this.#slots.get(part.id) : undefined;
      if (part.type !== 'function_response' || !slot) {
        if (part.type !== 'function_response') others.push(part);
        // Its call is older than what this viewer is shown.
        else if (this.#viewer.from !== undefined) this.contents.push(note(part));
        continue;
      }
      if (slot.longRunning || slot.at < this.#spoken) this.contents.push(note(part));
      else this.#fill(slot, part);
      this.#slots.delete(part.id);
    }
    if (others.length === content.parts.length) this.contents.push(content);
    else if (others.length > 0) this.contents.push({ role: content.role, parts: others });
  }

  #fill(slot: Slot, part: FunctionResponsePart): void {
    const provider = slot.part._meta?.provider;
    const filled = provider === undefined ? part : { ...part, _meta: { ...part._meta, provider } };
    slot.part = filled;
    slot.content.parts[slot.index] = filled;
  }

  /** Another agent's words are context, not this agent's own speech. */
  #foreign(event: StoredEvent, content: Content): void {
    const lines: string[] = [];
    const media: ContentPart[] = [];
    for (const part of content.parts) {
      if (part.type === 'text') lines.push(`[${event.author}] ${part.text}`);
      else if (part.type === 'function_call') {
        lines.push(`[${event.author}] called tool ${part.name} with ${JSON.stringify(part.args)}`);
      } else if (part.type === 'function_response') {
        lines.push(`[${event.author}] tool ${part.name} returned ${JSON.stringify(part.response)}`);
      } else if (part.type === 'media' || part.type === 'reference') media.push(part);
    }
    const parts: ContentPart[] = lines.length > 0 ? [{ type: 'text', text: lines.join('\n') }, ...media] : media;
    if (parts.length > 0) this.contents.push({ role: 'user', parts });
  }
}

function note(part: FunctionResponsePart): Content {
  const text = `The result of the earlier call ${part.id} to tool ${part.name} has come: ${JSON.stringify(part.response)}`;
  return { role: 'user', parts: [{ type: 'text', text }, ...(part.content ?? [])] };
}

/** Joins neighbours of one role: for providers that insist on alternation. */
export function mergeAdjacent(contents: readonly Content[]): Content[] {
  const merged: Content[] = [];
  for (const content of contents) {
    const last = merged.at(-1);
    if (last?.role === content.role) last.parts.push(...content.parts);
    else merged.push({ role: content.role, parts: [...content.parts] });
  }
  return merged;
}
