import type { Content, ContentPart, FunctionCallPart, FunctionResponsePart } from '../../contracts/index.ts';
import { CoxswainError, copyJson, deepFreeze, MAX_JSON_DEPTH } from '../../contracts/index.ts';
import { normaliseReturn, toResponse } from '../../gate/index.ts';
import type { Check } from '../../session/index.ts';
import { bag, checkIs, guarded, list, listOf, object, oneOf } from '../../session/index.ts';
import type { AutoToolsOptions } from './options.ts';

/** A call by its name; the id is made where there is none. */
export interface ChatCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: Record<string, unknown>;
}

/** What a call came to. `callId` may be left out, as may the id of a `function_response`: then it answers the first open call of that name. */
export interface ChatResult {
  readonly callId?: string;
  readonly name: string;
  /** Whatever a tool may return. */
  readonly content: unknown;
  readonly isError?: boolean;
}

export type ChatTurn = string | readonly ContentPart[] | readonly ChatCall[] | readonly ChatResult[];

/** Text: what the user says. A list: the history, the user's turn last. */
export type AutoToolsInput = string | readonly Content[] | Chat;

/** A conversation that never changes: each turn makes a new one. Hands its options to whatever it is passed to. */
export class Chat {
  readonly options: Readonly<Partial<AutoToolsOptions>>;
  /** Frozen; shared with the chats that this one was made from. */
  readonly history: readonly Content[];

  private constructor(options: Readonly<Partial<AutoToolsOptions>>, history: readonly Content[]) {
    this.options = options;
    this.history = Object.freeze(history);
    Object.freeze(this);
  }

  static new(options: Partial<AutoToolsOptions> = {}, history: readonly Content[] = []): Chat {
    checkIs(options, 'Chat: options', bag);
    checkIs(history, 'Chat: history', list);
    return new Chat(
      Object.freeze({ ...options }),
      history.map((content, at) => frozen(content, at)),
    );
  }

  /**
   * The chat with one more turn: text, parts, calls (of the model) or results (of the user, for the model's calls).
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`: an empty turn, a result that answers no open call;
   *   `E_NOT_JSON`
   */
  addTurn(role: 'user' | 'model', turn: ChatTurn): Chat {
    checkIs(role, 'addTurn: role', oneOf('user', 'model'));
    if (typeof turn !== 'string') checkIs(turn, 'addTurn: turn', listOf(object));
    const parts =
      typeof turn === 'string' ? [textPart(turn)] : guarded('addTurn: turn', () => this.#partsOf(role, turn));
    if (parts.length === 0) throw bad('a turn has at least one part');
    return this.add({ role, parts });
  }

  /** The chat with one more content. */
  add(...contents: readonly Content[]): Chat {
    return new Chat(this.options, [
      ...this.history,
      ...contents.map((content, index) => frozen(content, this.history.length + index)),
    ]);
  }

  /** Calls that have no result yet. */
  get openCalls(): readonly FunctionCallPart[] {
    return openCalls(this.history);
  }

  #partsOf(role: 'user' | 'model', turn: Exclude<ChatTurn, string>): ContentPart[] {
    const open = [...this.openCalls];
    return turn.map((item: ContentPart | ChatCall | ChatResult, index): ContentPart => {
      const isPart = 'type' in item;
      if (isPart && item.type !== 'function_response') return item;
      if (role === 'model') return callPart(item as ChatCall, `call-${this.history.length}-${index}`);
      const { id: callId, name } = isPart ? item : { id: (item as ChatResult).callId, name: (item as ChatResult).name };
      const at = open.findIndex((call) => (callId ? call.id === callId : call.name === name));
      const [call] = at < 0 ? [] : open.splice(at, 1);
      if (!call) throw bad(`result ${index} (${callId || name}) answers no open call`);
      return isPart ? answering(call, item) : resultPart(call, item as ChatResult);
    });
  }
}

/** Calls of a history that nothing answers. */
export function openCalls(history: readonly Content[]): FunctionCallPart[] {
  const open = new Map<string, FunctionCallPart>();
  for (const { parts } of history) {
    for (const part of parts) {
      if (part.type === 'function_call') open.set(part.id, part);
      else if (part.type === 'function_response') open.delete(part.id);
    }
  }
  return [...open.values()];
}

const aContent: Check = {
  needs: "a content: {role: 'user' or 'model', parts: […]}",
  fits: (value) =>
    object.fits(value) &&
    oneOf('user', 'model').fits((value as Content).role) &&
    listOf(object).fits((value as Content).parts),
};

/** Calls as a provider gave them have no id yet: here they get one. */
function frozen(content: Content, at: number): Content {
  checkIs(content, `content ${at}`, aContent);
  if (Object.isFrozen(content)) return content;
  // A value of a tool may be as deep as JSON may be here, and stands some levels down in a content.
  const copy = copyJson(content, 'content', MAX_JSON_DEPTH + 16);
  for (const [index, part] of copy.parts.entries()) {
    if (part.type === 'function_call' && part.id === '') part.id = `call-${at}-${index}`;
  }
  return deepFreeze(copy);
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}

function callPart({ id, name, args }: ChatCall, made: string): FunctionCallPart {
  return { type: 'function_call', id: id ?? made, name, args: args ?? {} };
}

function resultPart(call: FunctionCallPart, { content, isError }: ChatResult): FunctionResponsePart {
  const result = normaliseReturn(content);
  return answering(call, {
    type: 'function_response',
    id: '',
    name: '',
    ...toResponse(isError ? { ...result, isError: true } : result),
    ...(isError ? { isError: true } : {}),
  });
}

/** Under the call's id and its tool's name; the provider's own id of the call goes back with it. */
function answering(call: FunctionCallPart, part: FunctionResponsePart): FunctionResponsePart {
  const provider = call._meta?.provider;
  const meta = provider === undefined ? part._meta : { ...part._meta, provider };
  return { ...part, id: call.id, name: call.name, ...(meta ? { _meta: meta } : {}) };
}

function bad(message: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', message);
}
