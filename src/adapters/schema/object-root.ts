import type { JsonSchema } from '../../contracts/index.ts';
import { conjuncts, isSchema, MAX_DEPTH, mapSchema, namesIn, resolveRef, schemaMembers, schemasIn } from './node.ts';

/**
 * The schema with a plain object at its root, as OpenAI and Anthropic want it: unions and references at the root
 * become one object that takes what any branch takes. Everything below is left alone.
 */
export function withObjectRoot(schema: JsonSchema): JsonSchema {
  const {
    $schema: _schema,
    $id: _id,
    id: _draft4,
    $ref,
    anyOf,
    oneOf,
    allOf,
    not: _not,
    enum: _enum,
    ...rest
  } = schema;
  if ($ref === undefined && [anyOf, oneOf, allOf].every((list) => schemasIn(list).length === 0)) {
    return { ...rest, type: 'object', properties: isSchema(rest.properties) ? rest.properties : {} };
  }
  const { properties, required } = new Members(schema).of(schema);
  const { additionalProperties: _additional, required: _required, ...open } = rest;
  const flat = {
    ...open,
    type: 'object',
    properties: Object.fromEntries([...properties].map(([name, forms]) => [name, anyOfForms([...forms.values()])])),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
  // A reference into what stood at the root and is gone: any value.
  return mapSchema(flat, ({ $ref: ref, ...node }) =>
    ref !== undefined && resolveRef(ref, flat) ? { $ref: ref, ...node } : node,
  );
}

interface Taken {
  /** Distinct forms of each member, by their JSON. */
  properties: Map<string, Map<string, JsonSchema>>;
  required: Set<string>;
}

/** What objects may hold that a node takes: the members of all its branches; each node is looked at once. */
class Members {
  readonly #root: JsonSchema;
  readonly #known = new Map<JsonSchema, Taken>();

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  of(node: JsonSchema, depth = 0): Taken {
    const known = this.#known.get(node);
    if (known) return known;
    const taken: Taken = { properties: new Map(), required: new Set() };
    if (depth > MAX_DEPTH) return taken;
    this.#known.set(node, taken);
    for (const part of conjuncts(node, this.#root, new Set())) {
      for (const [name, member] of schemaMembers(part.properties)) add(taken, name, JSON.stringify(member), member);
      for (const name of namesIn(part.required)) taken.required.add(name);
      // A branch that leads back to where it stands adds nothing.
      const branches = [...schemasIn(part.anyOf), ...schemasIn(part.oneOf)].map((branch) => this.of(branch, depth + 1));
      const others = branches.filter((branch) => branch !== taken);
      for (const { properties } of others) {
        for (const [name, forms] of properties) for (const [json, form] of forms) add(taken, name, json, form);
      }
      for (const name of others[0]?.required ?? []) {
        if (others.every(({ required }) => required.has(name))) taken.required.add(name);
      }
    }
    return taken;
  }
}

function add({ properties }: Taken, name: string, json: string, form: JsonSchema): void {
  const forms = properties.get(name) ?? new Map<string, JsonSchema>();
  properties.set(name, forms.set(json, form));
}

function anyOfForms(forms: readonly JsonSchema[]): JsonSchema {
  return forms.length === 1 ? (forms[0] as JsonSchema) : { anyOf: forms };
}
