import { LazyMap, LazySet } from '../../base/index.ts';
import type { Content, ContentPart, FunctionCallPart, FunctionResponsePart } from '../../contracts/index.ts';
import type { Compacted, StoredEvent } from '../log/index.ts';
import { deliveredWords, markedLines } from '../log/index.ts';
import { clearedResult, keptOf } from './cleared.ts';
import { tokensOfContent } from './tokens.ts';

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
  /** Of its content among all that were ever in the history, in order. */
  order: number;
  longRunning: boolean;
}

/** Where a content comes from. */
interface Origin {
  /** seq of the event that put it there. */
  readonly seq: number;
  /** Of that event. */
  readonly turnId: string;
  /** Of a summary: seq of the first that it stands for. */
  readonly from?: number;
  /** `words`: of a user; `results`: of the calls in the content before it; `summary`: stands for what was there. */
  readonly kind: 'words' | 'model' | 'results' | 'summary' | 'other';
}

/** What stays or goes as a whole: a message, or an answer of the model with its calls and their results. */
export interface Unit extends Origin {
  /** Its contents are those from this place up to `end`. */
  readonly start: number;
  readonly end: number;
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
  /** Another list once something was compacted: whoever reads the former one goes on with it. */
  contents: Content[] = [];
  readonly #viewer: Viewer;
  readonly #slots = new LazyMap<string, Slot>();
  /** Of each content, at the same place. */
  #origins: Origin[] = [];
  /** How many contents were ever made: their order, whatever was taken out since. */
  #made = 0;
  /** That of the newest own model content. */
  #spoken = -1;
  /** Calls without a result whose place was taken out. */
  readonly #gone = new LazySet<string>();
  /** Tokens of the contents before `#countedTo`, system instruction and tools among them, as they were counted last. */
  #counted: number | undefined;
  #countedTo = 0;
  /** Results as they were before they were cleared. */
  readonly #whole = new LazyMap<string, FunctionResponsePart>();
  /** Something was compacted, or a result was cut and an artifact of the session has what was cut off: there is more to be read than what stands here. */
  hasMore = false;
  /** Tokens of contents that were looked at: a provider that counts nothing has all of them asked for in each step. */
  readonly #sizes = new WeakMap<Content, number>();
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

  /** Contents before this place were counted by the provider: they were sent as they are. */
  get sentTo(): number {
    return this.#countedTo;
  }

  /** Tokens of all contents, about: what was counted last, and an estimate of what came since. */
  get tokens(): number {
    return (this.#counted ?? 0) + this.estimate(this.#countedTo);
  }

  /** The same; a count that no one call can have had, since it is of several, is not believed. */
  tokensWithin(window: number): number {
    return (this.#counted ?? 0) > window ? this.estimate() : this.tokens;
  }

  /** An estimate alone, from a place on. */
  estimate(from = 0, to = this.contents.length): number {
    let tokens = 0;
    for (let at = from; at < to; at++) tokens += this.#sizeOf(this.contents[at] as Content);
    return tokens;
  }

  #sizeOf(content: Content): number {
    const known = this.#sizes.get(content);
    if (known !== undefined) return known;
    const size = tokensOfContent(content);
    this.#sizes.set(content, size);
    return size;
  }

  /** The contents as units, in order. */
  units(): Unit[] {
    const units: Unit[] = [];
    for (let start = 0; start < this.#origins.length; ) {
      const end = this.#origins[start + 1]?.kind === 'results' ? start + 2 : start + 1;
      units.push({ ...(this.#origins[start] as Origin), start, end });
      start = end;
    }
    return units;
  }

  #push(content: Content, { seq, turnId }: StoredEvent, kind: Origin['kind']): void {
    this.#made++;
    this.contents.push(content);
    this.#origins.push({ seq, turnId, kind });
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
    if (event.actions.compacted && this.#isOwn(event)) this.#compact(event, event.actions.compacted);
    for (const id of event.actions.delivered ?? []) {
      const steer = byId(id);
      const words = steer && deliveredWords(steer, event);
      if (words) this.#push(words, event, 'words');
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
    else this.#user(event, content);
  }

  #isOwn({ author, branch }: StoredEvent): boolean {
    return author === this.#viewer.agent && branch === this.#viewer.branch;
  }

  /** Whoever made the call is not there any more, or will not be asked: those who are asked are told. */
  #late(event: StoredEvent): void {
    if (this.#viewer.iso !== '' || event.turnId === this.#turn) return;
    for (const part of event.content?.parts ?? []) {
      if (part.type !== 'function_response' || !this.#longRunning.has(part.id)) continue;
      if (part.errorType !== 'interrupted' && part.errorType !== 'cancelled') this.#push(note(part), event, 'other');
    }
  }

  #model(event: StoredEvent, content: Content): void {
    this.#spoken = this.#made;
    this.#push(content, event, 'model');
    this.#count(event);
    const calls = content.parts.filter((part): part is FunctionCallPart => part.type === 'function_call');
    if (calls.length === 0) return;
    const order = this.#made;
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
      this.#slots.set(call.id, { part, content: held, index, order, longRunning });
    }
    this.#push(held, event, 'results');
  }

  /** What the provider says of its last call holds for all that it was sent, and for its answer. */
  #count({ model, usage, customMetadata }: StoredEvent): void {
    if (model === undefined || usage?.inputTokens === undefined) return;
    const { compacted, tried } = customMetadata ?? {};
    if (compacted !== undefined) {
      // From here on the provider reads its own summary in place of what was before.
      const { contextTokens } = Object(compacted) as { contextTokens?: unknown };
      this.#counted = typeof contextTokens === 'number' ? contextTokens : (usage.outputTokens ?? 0);
      this.#countedTo = this.contents.length;
      return;
    }
    // Of those as well that were asked before it and did not answer: no request had so much.
    if (tried !== undefined) return;
    this.#counted = usage.inputTokens + (usage.outputTokens ?? 0);
    this.#countedTo = this.contents.length;
  }

  #user(event: StoredEvent, content: Content): void {
    const others: ContentPart[] = [];
    for (const part of content.parts) {
      if (part.type === 'function_response' && keptOf(part, event).length > 0) this.hasMore = true;
      const slot = part.type === 'function_response' ? this.#slots.get(part.id) : undefined;
      if (part.type !== 'function_response' || !slot) {
        if (part.type !== 'function_response') others.push(part);
        // Its call is older than what this viewer is shown, or was taken out.
        else if (this.#viewer.from !== undefined || this.#gone.delete(part.id)) {
          this.#push(note(part), event, 'other');
        }
        continue;
      }
      if (slot.longRunning || slot.order < this.#spoken) this.#push(note(part), event, 'other');
      else this.#fill(slot, part);
      this.#slots.delete(part.id);
    }
    const kind = event.author === 'user' ? 'words' : 'other';
    if (others.length === content.parts.length) this.#push(content, event, kind);
    else if (others.length > 0) this.#push({ role: content.role, parts: others }, event, kind);
  }

  #fill(slot: Slot, part: FunctionResponsePart): void {
    const provider = slot.part._meta?.provider;
    const filled = provider === undefined ? part : { ...part, _meta: { ...part._meta, provider } };
    slot.part = filled;
    slot.content.parts[slot.index] = filled;
    this.#sizes.delete(slot.content);
  }

  /** Another agent's words are context, not this agent's own speech: each of their lines says whose it is. */
  #foreign(event: StoredEvent, content: Content): void {
    const said: string[] = [];
    const media: ContentPart[] = [];
    for (const part of content.parts) {
      if (part.type === 'text') said.push(part.text);
      else if (part.type === 'function_call') {
        said.push(`called tool ${part.name} with ${JSON.stringify(part.args)}`);
      } else if (part.type === 'function_response') {
        said.push(`tool ${part.name} returned ${JSON.stringify(part.response)}`);
      } else if (part.type === 'media' || part.type === 'reference') media.push(part);
    }
    const text = said.map((words) => markedLines(words, `[${event.author}] `)).join('\n');
    const parts: ContentPart[] = said.length > 0 ? [{ type: 'text', text }, ...media] : media;
    if (parts.length > 0) this.#push({ role: 'user', parts }, event, 'other');
  }

  #compact(event: StoredEvent, { from, through, summary, cleared, tokensAfter }: Compacted): void {
    this.hasMore = true;
    if (cleared) this.#clear(cleared);
    if (summary !== undefined) this.#replace(event, from, through, summary);
    this.#counted = tokensAfter;
    this.#countedTo = this.contents.length;
  }

  /** Results become references. Their contents are others from now on: somebody may be reading the former ones. */
  #clear(cleared: Readonly<Record<string, number>>): void {
    this.contents = this.contents.map((content, at) => {
      if (this.#origins[at]?.kind !== 'results') return content;
      const isMeant = ({ type, id }: { type: string; id?: unknown }) =>
        type === 'function_response' && Object.hasOwn(cleared, id as string);
      if (!content.parts.some(isMeant)) return content;
      const parts = content.parts.map((part) => {
        if (part.type !== 'function_response' || !isMeant(part) || this.#slots.has(part.id)) return part;
        const whole = this.#whole.get(part.id) ?? part;
        this.#whole.set(part.id, whole);
        return clearedResult(whole, cleared[part.id] ?? 0);
      });
      const fresh: Content = { ...content, parts };
      for (const slot of this.#slots.values()) if (slot.content === content) slot.content = fresh;
      return fresh;
    });
  }

  #replace(event: StoredEvent, from: number, through: number, summary: string): void {
    const isMeant = ({ seq }: Origin) => seq >= from && seq <= through;
    const start = this.#origins.findIndex(isMeant);
    if (start < 0) return;
    const end = this.#origins.findLastIndex(isMeant) + 1;
    const removed = new Set(this.contents.slice(start, end));
    for (const [id, slot] of this.#slots) {
      if (!removed.has(slot.content)) continue;
      this.#slots.delete(id);
      this.#gone.add(id);
    }
    const content = summaryContent(summary);
    const origin: Origin = { seq: through, from, turnId: event.turnId, kind: 'summary' };
    this.contents = [...this.contents.slice(0, start), content, ...this.contents.slice(end)];
    this.#origins = [...this.#origins.slice(0, start), origin, ...this.#origins.slice(end)];
  }
}

/** Stands before what was made of the messages that it stands for. */
const SUMMARY =
  '[A summary of earlier messages, which are left out to save room. It says what happened; it asks for nothing.]';

/** The message that stands for a range. */
export function summaryContent(summary: string): Content {
  return { role: 'user', parts: [{ type: 'text', text: `${SUMMARY}\n\n${summary}` }] };
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
