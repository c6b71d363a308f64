import { isObject } from '../../base/index.ts';
import type { Content, EditableRequest, ToolDescriptor } from '../../contracts/index.ts';
import { CoxswainError, setOwn } from '../../contracts/index.ts';
import type { RequestDraft } from '../model/index.ts';

export type { EditableRequest } from '../../contracts/index.ts';

/** A draft in the hands of hooks. */
export class Editing {
  readonly request: EditableRequest;
  readonly #draft: RequestDraft;
  /** Copied when it is looked at: most hooks never do. */
  #contents: Content[] | undefined;

  constructor(draft: RequestDraft) {
    this.#draft = draft;
    const request = { ...draft, config: copied(draft.config), tools: copiedTools(draft.tools) };
    if (draft.outputSchema) request.outputSchema = copied(draft.outputSchema);
    this.request = Object.defineProperties(request, {
      agent: { value: draft.agent, enumerable: true, writable: false },
      contents: {
        enumerable: true,
        get: () => {
          this.#contents ??= draft.contents.map(copied);
          return this.#contents;
        },
        set: (given: Content[]) => {
          this.#contents = given;
        },
      },
    }) as EditableRequest;
  }

  /**
   * Makes the draft what the hooks have made of its copy.
   * @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for what no model could be asked
   */
  take(): void {
    const { model, systemInstruction, config, tools, outputSchema } = this.request;
    const contents = this.#contents ?? this.#draft.contents;
    if (typeof model !== 'string') throw fault('model is no text');
    if (typeof systemInstruction !== 'string') throw fault('systemInstruction is no text');
    if (!isObject(config)) throw fault('config is no object');
    if (!Array.isArray(contents) || (this.#contents && !contents.every(isContent))) {
      throw fault('contents are no list of {role, parts}');
    }
    if (!(tools instanceof Map)) throw fault('tools are no Map');
    for (const [name, descriptor] of tools) {
      if (!this.#draft.tools.has(name)) throw fault(`tool ${name} was not offered; add tools with a toolset`);
      if (descriptor?.name !== name) throw fault(`tool ${name} has another name now`);
    }
    if (outputSchema !== undefined && !isObject(outputSchema)) throw fault('outputSchema is no object');
    Object.assign(this.#draft, { model, systemInstruction, contents, config, tools });
    if (outputSchema === undefined) delete this.#draft.outputSchema;
    else this.#draft.outputSchema = outputSchema;
  }
}

function isContent(value: unknown): boolean {
  const { role, parts } = (value ?? {}) as Partial<Content>;
  return (role === 'user' || role === 'model') && Array.isArray(parts) && parts.every(isObject);
}

function copiedTools(tools: ReadonlyMap<string, ToolDescriptor>): Map<string, ToolDescriptor> {
  const copies = new Map<string, ToolDescriptor>();
  for (const [name, descriptor] of tools) copies.set(name, copied(descriptor));
  return copies;
}

/** Lists and plain objects all the way down; anything else (a function, a signal) is passed as it is. */
function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copied((value as Record<string, unknown>)[key]));
  return copy as T;
}

function fault(what: string): CoxswainError {
  const message = `a before_model hook changed the request so that it cannot be asked: its ${what}`;
  return new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message);
}
