import { createHash } from 'node:crypto';
import type { Content, ContentPart, FunctionResponsePart, MediaPart } from '../../../contracts/index.ts';
import { mergeAdjacent } from '../../../runtime/index.ts';

const GO_ON = 'Continue with what your instructions ask for.';

/** The history in turns: roles alternate, no turn is empty, a user's is first and last, as most providers insist. */
export function turnsOf(contents: readonly Content[]): Content[] {
  const turns = mergeAdjacent(contents.filter((content) => content.parts.length > 0));
  const nudge = (): Content => ({ role: 'user', parts: [{ type: 'text', text: GO_ON }] });
  if (turns[0]?.role !== 'user') turns.unshift(nudge());
  if (turns.at(-1)?.role !== 'user') turns.push(nudge());
  return turns;
}

/** What a part says in words; undefined for parts that are no text. */
export function textOfPart(part: ContentPart): string | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'reference':
      return part.uri === undefined ? part.text : `[${part.uri}]\n${part.text}`;
    case 'code':
      return `\`\`\`${part.language}\n${part.code}\n\`\`\``;
    case 'code_result':
      return `\`\`\`\n${part.output}\n\`\`\``;
    default:
      return undefined;
  }
}

/** A tool's outcome as text: a bare string as it is, everything else as JSON. */
export function outcomeText(part: FunctionResponsePart): string {
  const { response, beside } = toolOutcome(part);
  const names = Object.keys(response);
  const value = names.length === 1 && names[0] === 'content' ? response.content : response;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
  return [text, ...beside].join('\n');
}

/** A tool's outcome as its value and the words beside it: bytes that go as media are not said again as text. */
export function toolOutcome({ response, content = [] }: FunctionResponsePart): {
  response: Record<string, unknown>;
  beside: string[];
} {
  const words = content.flatMap((item) => textOfPart(item) ?? []);
  const media = content.filter(isLarge);
  if (media.length === 0) return { response, beside: words };
  const once = (text: string): string =>
    media.reduce((left, { data, mimeType }) => left.replaceAll(data, `[${mimeType}: a part of its own]`), text);
  return { response: mapTexts(response, once) as Record<string, unknown>, beside: words.map(once) };
}

/** Less is hardly worth a note, and may stand in a text by chance. */
const MIN_REPEATED = 64;

function isLarge(item: ContentPart): item is MediaPart & { data: string } {
  return item.type === 'media' && item.data !== undefined && item.data.length >= MIN_REPEATED;
}

/** The same JSON with each text changed; names of members stay. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapTexts(member, change)]));
}

export function mediaOf(part: FunctionResponsePart): MediaPart[] {
  return (part.content ?? []).filter((item) => item.type === 'media');
}

/** For media that a provider does not take. */
export function mediaNote(part: { mimeType: string; uri?: string | undefined }): string {
  return `[${part.mimeType}${part.uri === undefined ? '' : ` at ${part.uri}`}: not shown, this model cannot read it]`;
}

export function decodeText(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** What providers take as the id of a call: OpenAI no more than 40 characters, Mistral nothing else than nine. */
const anywhere = /^[a-zA-Z0-9_-]{1,40}$/;
const nine = /^[a-zA-Z0-9]{9}$/;
const wantsNine = /(mi|mini|dev|magi|code)stral|mixtral|pixtral/i;

/**
 * The provider's ids of calls: its own, as it is, where it made the call, else the runtime's, in a form that it takes
 * and that stays the same from request to request. Responses are looked up by the runtime's id, so that each finds its
 * call whatever the parts carry.
 */
export class CallIds {
  readonly #legal: RegExp;
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(model: string) {
    this.#legal = wantsNine.test(model) ? nine : anywhere;
  }

  /** `own`: the id that this provider gave. */
  add(callId: string, own: string | undefined): string {
    // One server may serve many models: what one of them made, Mistral's may refuse.
    const given = own !== undefined && this.#legal !== nine ? own : this.#fit(own ?? callId);
    // Some servers begin to count anew in each answer: ids are distinct in the whole conversation, or it is refused.
    const wireId = this.#taken.has(given) ? this.#fit(callId) : given;
    this.#taken.add(wireId);
    this.#ids.set(callId, wireId);
    return wireId;
  }

  /** Undefined for a call that is not there. */
  find(callId: string): string | undefined {
    return this.#ids.get(callId);
  }

  of(callId: string): string {
    return this.find(callId) ?? this.#fit(callId);
  }

  #fit(id: string): string {
    if (this.#legal.test(id)) return id;
    return createHash('sha256').update(id).digest('base64').replaceAll(/[+/=]/g, '').slice(0, 9);
  }
}
