import type { JsonSchema } from '../contracts/index.ts';
import { isSchemaObject, walkSchema } from './dialect.ts';
import { SchemaRefs } from './schema-refs.ts';

/** Comparisons of items with one another that cost as much as one keyword. */
const COMPARISONS = 8;
const scalars = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

/** Those that a validator finds in a table instead of comparing each with each. */
function areScalars(items: unknown): boolean {
  return isSchemaObject(items) && scalars.has(items.type);
}

/** Characters that cost as much as one keyword. */
const CHARACTERS = 64;
/** Pairs of a schema and a value that are counted one by one where there are references. */
const MAX_COUNTED = 100_000;

const sameValue = ['allOf', 'anyOf', 'oneOf'] as const;
const sameValueOnce = ['not', 'if', 'then', 'else'] as const;
const sameValueNamed = ['dependentSchemas', 'dependencies'] as const;
const everyItem = ['items', 'contains', 'unevaluatedItems'] as const;
const everyMember = ['additionalProperties', 'unevaluatedProperties', 'propertyNames'] as const;

/**
 * How many keywords a validator looks at for a value, at most, counted without evaluating them: unions and references
 * may make it look at one value more often than the value is long.
 */
export class SchemaEffort {
  readonly #root: JsonSchema;
  readonly #refs: SchemaRefs;
  readonly #weights = new Map<JsonSchema, number>();
  /** Every schema at every value; Infinity for schemas that contain themselves. */
  readonly #whole: number;
  #comparesItems = false;
  #keepsMembers = false;

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#refs = new SchemaRefs(root);
    walkSchema(root, (node) => {
      this.#weights.set(node, weightOf(node));
      this.#comparesItems ||= node.uniqueItems === true;
      this.#keepsMembers ||= node.unevaluatedProperties !== undefined || node.unevaluatedItems !== undefined;
    });
    this.#whole = this.#expanded(root, new Map());
  }

  /** Keywords and their members in all. */
  get size(): number {
    let size = 0;
    for (const weight of this.#weights.values()) size += weight;
    return size;
  }

  /** At most so many; `enough`: what need not be known more exactly. */
  of(value: unknown, enough: number): number {
    const rough = this.#whole * sizeOf(value) ** (this.#comparesItems || this.#keepsMembers ? 2 : 1);
    return rough <= enough ? rough : new Count(this.#refs, this.#weights, this.#keepsMembers).of(this.#root, value);
  }

  #expanded(node: JsonSchema, known: Map<JsonSchema, number>): number {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, Infinity);
    let sum = this.#weights.get(node) ?? weightOf(node);
    for (const part of [...partsOf(node), ...this.#refs.of(node)]) sum += this.#expanded(part, known);
    known.set(node, sum);
    return sum;
  }
}

/** Counts for one value; what has been counted once is not counted again. */
class Count {
  readonly #refs: SchemaRefs;
  readonly #weights: ReadonlyMap<JsonSchema, number>;
  readonly #keepsMembers: boolean;
  readonly #known = new Map<JsonSchema, Map<unknown, number>>();
  #counted = 0;

  constructor(refs: SchemaRefs, weights: ReadonlyMap<JsonSchema, number>, keepsMembers: boolean) {
    this.#refs = refs;
    this.#weights = weights;
    this.#keepsMembers = keepsMembers;
  }

  of(schema: unknown, value: unknown): number {
    if (!isSchemaObject(schema)) return 1;
    // Without references a schema is met once at a value.
    if (!this.#refs.exist) return this.#at(schema, value);
    let known = this.#known.get(schema);
    if (!known) {
      known = new Map();
      this.#known.set(schema, known);
    }
    const before = known.get(value);
    if (before !== undefined) return before;
    if (++this.#counted > MAX_COUNTED) return Infinity;
    // Whoever asks for it meanwhile is a schema that applies itself to the same value.
    known.set(value, Infinity);
    const sum = this.#at(schema, value);
    known.set(value, sum);
    return sum;
  }

  #at(schema: JsonSchema, value: unknown): number {
    let sum = this.#weights.get(schema) ?? weightOf(schema);
    for (const key of sameValue) for (const part of listOf(schema[key])) sum += this.of(part, value);
    for (const key of sameValueOnce) if (schema[key] !== undefined) sum += this.of(schema[key], value);
    for (const key of sameValueNamed) for (const part of membersOf(schema[key])) sum += this.of(part, value);
    for (const target of this.#refs.of(schema)) sum += this.of(target, value);
    if (typeof value === 'string') sum += value.length / CHARACTERS;
    else if (Array.isArray(value)) sum += this.#items(schema, value);
    else if (typeof value === 'object' && value !== null) sum += this.#members(schema, value as JsonSchema);
    return sum;
  }

  #items(schema: JsonSchema, value: readonly unknown[]): number {
    let sum = this.#keepsMembers ? value.length : 0;
    if (schema.uniqueItems === true) {
      sum += value.length * (areScalars(schema.items) ? 1 : sizeOf(value) / COMPARISONS);
    }
    const fixed = listOf(schema.prefixItems);
    const each = everyItem.flatMap((key) => (isSchemaObject(schema[key]) ? [schema[key]] : []));
    if (fixed.length === 0 && each.length === 0) return sum;
    for (const [index, item] of value.entries()) {
      if (index < fixed.length) sum += this.of(fixed[index], item);
      for (const part of each) sum += this.of(part, item);
      if (sum === Infinity) return sum;
    }
    return sum;
  }

  #members(schema: JsonSchema, value: JsonSchema): number {
    const names = Object.keys(value);
    let sum = this.#keepsMembers ? names.length : 0;
    const properties = isSchemaObject(schema.properties) ? schema.properties : undefined;
    const each = [
      ...everyMember.flatMap((key) => (isSchemaObject(schema[key]) ? [schema[key]] : [])),
      ...membersOf(schema.patternProperties),
    ];
    for (const name of names) {
      sum += 1 + name.length / CHARACTERS;
      if (properties && Object.hasOwn(properties, name)) sum += this.of(properties[name], value[name]);
      for (const part of each) sum += this.of(part, value[name]);
      if (sum === Infinity) return sum;
    }
    return sum;
  }
}

/** Of one schema without those in it: its keywords, and what they list. */
function weightOf(node: JsonSchema): number {
  let weight = 1;
  for (const [key, member] of Object.entries(node)) {
    weight++;
    if (key === 'enum' || key === 'const') weight += sizeOf(member);
    else if (Array.isArray(member)) weight += member.length;
    else if (isSchemaObject(member) && key !== 'default') weight += Object.keys(member).length;
  }
  return weight;
}

/** Values in a value, long texts for several. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else {
    for (const key of Object.keys(value)) {
      size += 1 + key.length / CHARACTERS + sizeOf((value as Record<string, unknown>)[key]);
    }
  }
  return size;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const membersOf = (value: unknown): unknown[] => (isSchemaObject(value) ? Object.values(value) : []);

/** Schemas directly in one. */
function partsOf(node: JsonSchema): JsonSchema[] {
  const parts: unknown[] = [];
  for (const key of [...sameValue, 'prefixItems'] as const) parts.push(...listOf(node[key]));
  for (const key of [...sameValueOnce, ...everyItem, ...everyMember]) parts.push(node[key]);
  for (const key of [...sameValueNamed, 'properties', 'patternProperties']) parts.push(...membersOf(node[key]));
  return parts.filter(isSchemaObject);
}
