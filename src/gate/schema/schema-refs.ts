import type { JsonSchema } from '../../contracts/index.ts';
import { pointerSteps, valueAt } from './coerce.ts';
import { everyObject, isSchemaObject } from './dialect.ts';

/** What references in a document may mean; where it cannot be told which of several, all of them. */
export class SchemaRefs {
  /** The document, and the documents in it. */
  readonly #roots: JsonSchema[];
  readonly #anchors = new Map<unknown, JsonSchema[]>();
  readonly #known = new Map<string, readonly unknown[]>();
  readonly exist: boolean;

  constructor(root: JsonSchema) {
    this.#roots = [root];
    let exist = false;
    // A validator finds names below keywords that it does not know, too.
    everyObject(root, (node) => {
      exist ||= refKeys.some((key) => typeof node[key] === 'string');
      if (node !== root && typeof node.$id === 'string') this.#roots.push(node);
      for (const name of [node.$anchor, node.$dynamicAnchor]) {
        if (name !== undefined) this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), node]);
      }
    });
    this.exist = exist;
  }

  /** Undefined: something that cannot be found here. */
  of(node: JsonSchema): readonly JsonSchema[] | undefined {
    if (!this.exist) return none;
    const found: JsonSchema[] = [];
    for (const key of refKeys) {
      const ref = node[key];
      if (typeof ref !== 'string') continue;
      const targets = this.#resolve(ref);
      if (targets.length === 0) return undefined;
      found.push(...targets.filter(isSchemaObject));
    }
    return found;
  }

  #resolve(ref: string): readonly unknown[] {
    let found = this.#known.get(ref);
    if (!found) {
      const fragment = ref.slice(ref.indexOf('#') + 1 || ref.length);
      const isPointer = fragment === '' || fragment.startsWith('/');
      const targets = isPointer
        ? this.#roots.map((root) => valueAt(root, pointerSteps(fragment).map(decoded)))
        : (this.#anchors.get(decoded(fragment)) ?? none);
      found = targets.filter((target) => target !== undefined);
      this.#known.set(ref, found);
    }
    return found;
  }
}

const refKeys = ['$ref', '$dynamicRef', '$recursiveRef'] as const;
const none: readonly JsonSchema[] = [];

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
