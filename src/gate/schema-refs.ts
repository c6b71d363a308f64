import type { JsonSchema } from '../contracts/index.ts';
import { pointerSteps, valueAt } from './coerce.ts';
import { isSchemaObject, walkSchema } from './dialect.ts';

/** What references in a document may mean; where it cannot be told which of several, all of them. */
export class SchemaRefs {
  /** The document, and the documents in it. */
  readonly #roots: JsonSchema[];
  readonly #anchors = new Map<unknown, JsonSchema[]>();
  readonly #known = new Map<string, readonly JsonSchema[]>();
  readonly exist: boolean;

  constructor(root: JsonSchema) {
    this.#roots = [root];
    let exist = false;
    walkSchema(root, (node) => {
      exist ||= node.$ref !== undefined || node.$dynamicRef !== undefined;
      if (node !== root && typeof node.$id === 'string') this.#roots.push(node);
      for (const name of [node.$anchor, node.$dynamicAnchor]) {
        if (name !== undefined) this.#anchors.set(name, [...(this.#anchors.get(name) ?? []), node]);
      }
    });
    this.exist = exist;
  }

  of(node: JsonSchema): readonly JsonSchema[] {
    const { $ref, $dynamicRef } = node;
    if ($ref === undefined && $dynamicRef === undefined) return none;
    return [$ref, $dynamicRef].flatMap((ref) => (typeof ref === 'string' ? this.#resolve(ref) : none));
  }

  #resolve(ref: string): readonly JsonSchema[] {
    let found = this.#known.get(ref);
    if (!found) {
      const fragment = decoded(ref.slice(ref.indexOf('#') + 1 || ref.length));
      const isPointer = fragment === '' || fragment.startsWith('/');
      const targets = isPointer
        ? this.#roots.map((root) => valueAt(root, pointerSteps(fragment)))
        : (this.#anchors.get(fragment) ?? none);
      found = targets.filter(isSchemaObject);
      this.#known.set(ref, found);
    }
    return found;
  }
}

const none: readonly JsonSchema[] = [];

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
