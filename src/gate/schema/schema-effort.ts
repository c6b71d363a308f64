import type { JsonSchema } from '../../contracts/index.ts';
import { charge } from '../pattern/index.ts';
import { isSchemaObject } from './dialect.ts';
import { SchemaDefaults } from './schema-defaults.ts';
import { SchemaRefs } from './schema-refs.ts';
import { CHARACTERS, valueSize } from './value-size.ts';

/** Comparisons of items with one another that cost as much as one keyword. */
const COMPARISONS = 8;
const scalars = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

/** Those that a validator finds in a table instead of comparing each with each. */
function areScalars(items: unknown): boolean {
  return isSchemaObject(items) && scalars.has(items.type);
}

/** Pairs of a schema and a value that are counted one by one; with references each is looked up. */
const MAX_COUNTED = 500_000;
const MAX_LOOKED_UP = 100_000;
/** References and parts below one another at one value or in it; the evaluation needs a stack as deep. */
const MAX_PATH = 1000;
/** Steps that counting one pair costs. */
const STEPS_OF_PAIR = 5;

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
  readonly #counting: Counting;
  /** Every schema at every value; Infinity for schemas that contain themselves. */
  readonly #whole: number;
  #comparesItems = false;

  constructor(root: JsonSchema) {
    this.#root = root;
    const refs = new SchemaRefs(root);
    this.#counting = { refs, weights: new Map(), defaults: new SchemaDefaults(root), keepsMembers: false };
    this.#whole = this.#expanded(root);
  }

  /** Keywords and their members in all. */
  get size(): number {
    let size = 0;
    for (const weight of this.#counting.weights.values()) size += weight;
    return size;
  }

  /** At most so many; `enough`: what need not be known more exactly. */
  of(value: unknown, enough: number): number {
    const { keepsMembers, defaults } = this.#counting;
    const size = valueSize(value) * (1 + defaults.size);
    const rough = this.#whole * size ** (this.#comparesItems || keepsMembers ? 2 : 1);
    if (rough <= enough) return rough;
    const count = new Count(this.#counting);
    const steps = count.of(this.#root, value);
    charge(count.counted * STEPS_OF_PAIR);
    return steps;
  }

  /** Visits what can be reached from the root: nothing else is evaluated. References may make a path of any length. */
  #expanded(root: JsonSchema): number {
    const known = new Map<JsonSchema, number>();
    const path: Visited[] = [this.#visited(root, known)];
    for (;;) {
      const at = path.at(-1) as Visited;
      const part = at.parts.pop();
      const before = part === undefined ? undefined : known.get(part);
      if (before !== undefined) at.sum += before;
      else if (part !== undefined) path.push(this.#visited(part, known));
      else {
        path.pop();
        known.set(at.node, at.sum);
        const above = path.at(-1);
        if (!above) return at.sum;
        above.sum += at.sum;
      }
    }
  }

  #visited(node: JsonSchema, known: Map<JsonSchema, number>): Visited {
    // Whoever meets it on the way is a schema that contains itself.
    known.set(node, Infinity);
    const weight = weightOf(node);
    this.#counting.weights.set(node, weight);
    this.#comparesItems ||= node.uniqueItems === true;
    this.#counting.keepsMembers ||= node.unevaluatedProperties !== undefined || node.unevaluatedItems !== undefined;
    const targets = this.#counting.refs.of(node);
    return { node, parts: [...partsOf(node), ...(targets ?? [])], sum: targets ? weight : Infinity };
  }
}

/** A schema on the way, what of it is not visited yet, and what it has come to. */
interface Visited {
  readonly node: JsonSchema;
  readonly parts: JsonSchema[];
  sum: number;
}

interface Counting {
  readonly refs: SchemaRefs;
  readonly weights: Map<JsonSchema, number>;
  readonly defaults: SchemaDefaults;
  keepsMembers: boolean;
}

/** Counts for one value; what has been counted once is not counted again. */
class Count {
  readonly #all: Counting;
  readonly #known = new Map<JsonSchema, Map<unknown, number>>();
  counted = 0;
  /** Of the pair at hand. */
  #path = 0;

  constructor(all: Counting) {
    this.#all = all;
  }

  of(schema: unknown, value: unknown): number {
    if (!isSchemaObject(schema)) return 1;
    if (this.#path >= MAX_PATH) return Infinity;
    this.#path++;
    const sum = this.#counted(schema, value);
    this.#path--;
    return sum;
  }

  #counted(schema: JsonSchema, value: unknown): number {
    // Without references a schema is met once at a value.
    if (!this.#all.refs.exist) return ++this.counted > MAX_COUNTED ? Infinity : this.#at(schema, value);
    let known = this.#known.get(schema);
    if (!known) {
      known = new Map();
      this.#known.set(schema, known);
    }
    const before = known.get(value);
    if (before !== undefined) return before;
    if (++this.counted > MAX_LOOKED_UP) return Infinity;
    // Whoever asks for it meanwhile is a schema that applies itself to the same value.
    known.set(value, Infinity);
    const sum = this.#at(schema, value);
    known.set(value, sum);
    return sum;
  }

  #at(schema: JsonSchema, value: unknown): number {
    let sum = this.#all.weights.get(schema) ?? weightOf(schema);
    for (const key of sameValue) for (const part of listOf(schema[key])) sum += this.of(part, value);
    for (const key of sameValueOnce) if (schema[key] !== undefined) sum += this.of(schema[key], value);
    for (const key of sameValueNamed) for (const part of membersOf(schema[key])) sum += this.of(part, value);
    const targets = this.#all.refs.of(schema);
    if (!targets) return Infinity;
    for (const target of targets) sum += this.of(target, value);
    if (typeof value === 'string') sum += value.length / CHARACTERS;
    else if (Array.isArray(value)) sum += this.#items(schema, value);
    else if (typeof value === 'object' && value !== null) sum += this.#members(schema, value as JsonSchema);
    return sum;
  }

  #items(schema: JsonSchema, value: readonly unknown[]): number {
    const { defaults, keepsMembers } = this.#all;
    let sum = keepsMembers ? value.length : 0;
    if (schema.uniqueItems === true) {
      sum += value.length * (areScalars(schema.items) ? 1 : (valueSize(value) * (1 + defaults.size)) / COMPARISONS);
    }
    const fixed = listOf(schema.prefixItems);
    const each = everyItem.flatMap((key) => (isSchemaObject(schema[key]) ? [schema[key]] : []));
    if (fixed.length === 0 && each.length === 0) return sum;
    for (const [index, given] of defaults.itemsAfter(value.length)) {
      sum += this.of(fixed[index], given);
      for (const part of each) sum += this.of(part, given);
    }
    for (const [index, item] of value.entries()) {
      if (index < fixed.length) sum += this.of(fixed[index], item);
      for (const part of each) sum += this.of(part, item);
      if (sum === Infinity) return sum;
    }
    return sum;
  }

  #members(schema: JsonSchema, value: JsonSchema): number {
    const names = Object.keys(value);
    let sum = this.#all.keepsMembers ? names.length : 0;
    const properties = isSchemaObject(schema.properties) ? schema.properties : undefined;
    const byPattern = membersOf(schema.patternProperties);
    const each = [...everyMember.flatMap((key) => (isSchemaObject(schema[key]) ? [schema[key]] : [])), ...byPattern];
    for (const [name, given] of this.#all.defaults.membersBeside(value)) {
      const own = properties && Object.hasOwn(properties, name);
      if (own) sum += this.of(properties[name], given);
      for (const part of own ? byPattern : each) sum += this.of(part, given);
    }
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
    if (key === 'enum' || key === 'const') weight += valueSize(member);
    else if (key === 'dependentRequired' || key === 'dependencies') weight += namesIn(member);
    else if (Array.isArray(member)) weight += member.length;
    else if (isSchemaObject(member) && key !== 'default') weight += Object.keys(member).length;
  }
  return weight;
}

/** Members that other members require. */
function namesIn(member: unknown): number {
  return membersOf(member).reduce<number>((sum, names) => sum + 1 + listOf(names).length, 0);
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
