import type { JsonSchema } from '../../contracts/index.ts';
import { bag, checkIs } from '../../session/index.ts';
import type { NameRules } from './names.ts';
import { conjuncts, describe, isSchema, namesIn, resolveRef, schemaMembers, schemasIn, typesOf } from './node.ts';

export const geminiNames: NameRules = {
  legal: /^[a-zA-Z_][a-zA-Z0-9_-]*$/,
  maxLength: 64,
  start: { legal: /^[a-zA-Z_]/, prefix: '_' },
};

const formats: Record<string, readonly string[]> = {
  STRING: ['date-time', 'enum'],
  INTEGER: ['int32', 'int64'],
  NUMBER: ['float', 'double'],
};
/** What a schema without a type may stand for; Gemini wants one named. */
const anyValue: readonly JsonSchema[] = [
  { type: 'STRING' },
  { type: 'NUMBER' },
  { type: 'BOOLEAN' },
  { type: 'OBJECT' },
];
const MAX_DEPTH = 64;
/** Beyond it a schema is cut: references to the same thing, written out each time, can grow without end. */
const MAX_NODES = 5000;

/**
 * The schema in Gemini's subset of OpenAPI: one type a node, `nullable`, string enums, `anyOf`. References are
 * written out, recursive ones and what is too large end in open values. What cannot be said is left out or put into the
 * description; the result takes everything that the original takes. Undefined for a tool that takes no arguments.
 */
export function toGeminiSchema(schema: JsonSchema): JsonSchema | undefined {
  checkIs(schema, 'toGeminiSchema: schema', bag);
  const converted = convert(schema, {
    root: schema,
    open: new Set(['#']),
    depth: 0,
    budget: { nodes: MAX_NODES },
  });
  const hasMembers = isSchema(converted.properties) && Object.keys(converted.properties).length > 0;
  if (converted.type === 'OBJECT' && hasMembers) return converted;
  if (!converted.anyOf) return undefined;
  // A union at the root: Gemini wants an object there.
  return objectOf(schemasIn(converted.anyOf), converted);
}

interface Work {
  root: JsonSchema;
  /** References being written out. */
  open: ReadonlySet<unknown>;
  depth: number;
  /** Shared by the whole schema: nodes that may still be written out. */
  budget: { nodes: number };
}

function convert(node: JsonSchema, outer: Work): JsonSchema {
  const work = { ...outer, depth: outer.depth + 1 };
  if (work.depth > MAX_DEPTH || --work.budget.nodes < 0) return leaf(node, work.root);
  if (node.$ref !== undefined || schemasIn(node.allOf).length > 0) {
    const refs = new Set(work.open);
    const whole = merged(conjuncts(node, work.root, refs));
    // Nothing but what is being written out already, or is nowhere.
    if (Object.keys(whole).every((key) => key === 'description')) return leaf({ ...node, ...whole }, work.root);
    return convert(whole, { ...work, open: refs });
  }
  const branches = [...schemasIn(node.anyOf), ...schemasIn(node.oneOf)];
  return branches.length > 0 ? union(node, branches, work) : plain(node, work);
}

/** A node of which no more is said than what type of value it takes; without a word of that, an object. */
function leaf(node: JsonSchema, root: JsonSchema): JsonSchema {
  let at = node;
  for (let step = 0; step < 8 && typesOf(at).length === 0; step++) {
    const next = resolveRef(at.$ref, root) ?? (Array.isArray(at.allOf) ? at.allOf[0] : undefined);
    if (!isSchema(next)) break;
    at = next;
  }
  const types = typesOf(at).filter((type) => type !== 'null');
  const description = describe(node, []);
  const words = description === undefined ? {} : { description };
  const isAny = types.length > 1 || (types.length === 0 && !at.properties && (at.anyOf || at.oneOf));
  if (isAny) return { ...anyOf(anyValue), ...words };
  const type = (types[0] ?? 'object').toUpperCase();
  return { type, ...(type === 'ARRAY' ? { items: anyOf(anyValue) } : {}), ...words };
}

/** What all of them say; members and required names add up. */
function merged(parts: readonly JsonSchema[]): JsonSchema {
  const required = new Set(parts.flatMap((part) => namesIn(part.required)));
  const properties = Object.fromEntries(parts.flatMap((part) => schemaMembers(part.properties)));
  const result: JsonSchema = Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  if (required.size > 0) result.required = [...required];
  if (Object.keys(properties).length > 0) result.properties = properties;
  return result;
}

function union(node: JsonSchema, branches: readonly JsonSchema[], work: Work): JsonSchema {
  const { anyOf: _any, oneOf: _one, description: _description, ...shared } = node;
  const taken = branches.filter((branch) => !isNull(branch));
  const nullable = taken.length < branches.length || typesOf(node).includes('null');
  const members = taken.map((branch) =>
    // What stands beside the union holds for each branch.
    convert(schemaMembers(shared.properties).length > 0 ? { allOf: [shared, branch] } : branch, work),
  );
  const description = describe(node, []);
  const [first, ...others] = members;
  if (!first) return { ...anyOf(anyValue), nullable: true };
  const base = others.length === 0 ? first : anyOf(members.flatMap((member) => schemasIn(member.anyOf ?? [member])));
  return {
    ...base,
    ...(description === undefined ? {} : { description }),
    ...(nullable || members.some((member) => member.nullable) ? { nullable: true } : {}),
  };
}

function isNull(node: JsonSchema): boolean {
  return node.type === 'null' || node.const === null;
}

function anyOf(members: readonly JsonSchema[]): JsonSchema {
  const seen = new Map(members.map(({ nullable: _nullable, ...member }) => [JSON.stringify(member), member]));
  const distinct = [...seen.values()];
  return distinct.length === 1 ? { ...distinct[0] } : { anyOf: distinct };
}

function plain(node: JsonSchema, work: Work): JsonSchema {
  const values = node.const === undefined ? node.enum : [node.const];
  let types = typesOf(node);
  if (types.length === 0) types = implied(node, values);
  const nullable = types.includes('null') || node.nullable === true || (Array.isArray(values) && values.includes(null));
  const named = types.filter((type) => type !== 'null');
  const nulls = nullable ? { nullable: true } : {};
  const description = describe(node, []);
  const words = description === undefined ? {} : { description };
  if (named.length === 0) return { ...anyOf(anyValue), ...words, ...nulls };
  if (named.length === 1) return { ...typed(node, named[0] as string, values, work), ...nulls };
  return { ...anyOf(named.map((type) => typed({ ...node, description: '' }, type, values, work))), ...words, ...nulls };
}

function implied(node: JsonSchema, values: unknown): string[] {
  if (Array.isArray(values)) {
    return [
      ...new Set(values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value))),
    ];
  }
  if (node.properties || node.additionalProperties || node.required) return ['object'];
  return node.items || node.prefixItems ? ['array'] : [];
}

function typed(node: JsonSchema, type: string, values: unknown, work: Work): JsonSchema {
  const out: JsonSchema = { type: type.toUpperCase() };
  const hints: string[] = [];
  if (type === 'object') {
    // The SDK loses a member of this name, and a required one that is not there spoils the request.
    const members = schemaMembers(node.properties).filter(([name]) => name !== '__proto__');
    if (members.length > 0) {
      out.properties = Object.fromEntries(members.map(([name, member]) => [name, convert(member, work)]));
      const required = namesIn(node.required).filter((name) => members.some(([known]) => known === name));
      if (required.length > 0) out.required = required;
    }
  } else if (type === 'array') {
    out.items = itemsOf(node, work);
    for (const key of ['minItems', 'maxItems']) if (typeof node[key] === 'number') out[key] = String(node[key]);
  } else if (type === 'string') {
    const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
    // An enum may not hold the empty string; leaving it out would forbid it.
    if (texts.length > 0 && !texts.includes('')) {
      out.enum = texts;
      out.format = 'enum';
    } else if (texts.length > 0) hints.push(`one of ${JSON.stringify(texts)}`);
    if (typeof node.pattern === 'string') hints.push(`pattern ${node.pattern}`);
  } else {
    const numbers = Array.isArray(values) ? values.filter((value) => typeof value === type || type === 'integer') : [];
    if (numbers.length > 0) hints.push(`one of ${JSON.stringify(numbers)}`);
    if (typeof node.minimum === 'number') out.minimum = node.minimum;
    if (typeof node.maximum === 'number') out.maximum = node.maximum;
    if (typeof node.exclusiveMinimum === 'number') {
      out.minimum ??= node.exclusiveMinimum;
      hints.push(`more than ${node.exclusiveMinimum}`);
    }
    if (typeof node.exclusiveMaximum === 'number') {
      out.maximum ??= node.exclusiveMaximum;
      hints.push(`less than ${node.exclusiveMaximum}`);
    }
  }
  const { format } = node;
  if (typeof format === 'string' && out.format === undefined) {
    if (formats[out.type as string]?.includes(format)) out.format = format;
    else hints.push(`format ${format}`);
  }
  const description = describe(node, hints);
  if (description !== undefined) out.description = description;
  return out;
}

function itemsOf(node: JsonSchema, work: Work): JsonSchema {
  if (isSchema(node.items)) return convert(node.items, work);
  const members = schemasIn(node.prefixItems).map((item) => convert(item, work));
  return anyOf(members.length > 0 ? members.flatMap((member) => schemasIn(member.anyOf ?? [member])) : anyValue);
}

function objectOf(branches: readonly JsonSchema[], node: JsonSchema): JsonSchema | undefined {
  const members = new Map<string, JsonSchema>();
  for (const branch of branches) {
    for (const [name, member] of schemaMembers(branch.properties)) {
      const present = members.get(name);
      members.set(name, present ? anyOf([present, member].flatMap((each) => schemasIn(each.anyOf ?? [each]))) : member);
    }
  }
  if (members.size === 0) return undefined;
  const required = namesIn(branches[0]?.required).filter((name) =>
    branches.every((branch) => namesIn(branch.required).includes(name)),
  );
  return {
    type: 'OBJECT',
    properties: Object.fromEntries(members),
    ...(required.length > 0 ? { required } : {}),
    ...(node.description === undefined ? {} : { description: node.description }),
  };
}
