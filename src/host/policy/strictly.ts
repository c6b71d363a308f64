import { isObject } from '../../base/index.ts';

type Schema = Record<string, unknown>;

const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'],
  object: [
    'properties',
    'required',
    'patternProperties',
    'additionalProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'dependencies',
    'dependentRequired',
    'dependentSchemas',
    'unevaluatedProperties',
  ],
};

const lists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependencies', 'dependentSchemas'];
const single = ['items', 'contains', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
const branches = ['then', 'else'];

/**
 * The schema as a condition that lets something run is read: what has a keyword is of the keyword's type, and a member
 * that is spoken about is there. What is in a `not` is left as it is: what is asked of less is excluded more; a `not` in
 * a `not` asks again. An `if` is both: what fits it must be of its types, what does not must not fit it as it is.
 */
export function strictly(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const result = withParts(schema, strictly, excluding);
  if (schema.not !== undefined) result.not = excluding(schema.not);
  const types = impliedTypes(schema);
  if (types.length > 0) result.type = commonTypes(schema.type, types);
  if (isObject(schema.properties)) {
    const named = Object.entries(schema.properties).flatMap(([name, member]) => (asksNothing(member) ? [] : [name]));
    const required = Array.isArray(schema.required) ? schema.required : [];
    result.required = [...new Set([...required, ...named])];
  }
  if (Array.isArray(schema.prefixItems)) {
    result.minItems = Math.max(Number(schema.minItems ?? 0), schema.prefixItems.length);
  }
  // Types that exclude one another: nothing fits.
  return Array.isArray(result.type) && result.type.length === 0 ? false : result;
}

/** What must not fit, with what it excludes in turn. */
function excluding(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const result = withParts(schema, excluding, strictly);
  if (schema.not !== undefined) result.not = strictly(schema.not);
  return result;
}

type Reading = (part: unknown) => unknown;

function withParts(schema: Schema, change: Reading, opposite: Reading): Schema {
  const { if: condition, then = true, else: otherwise = true, ...result }: Schema = schema;
  for (const key of lists) if (Array.isArray(schema[key])) result[key] = schema[key].map(change);
  for (const key of maps) {
    const members = schema[key];
    if (!isObject(members)) continue;
    result[key] = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
  }
  for (const key of single) if (schema[key] !== undefined) result[key] = change(schema[key]);
  if (condition !== undefined) {
    const fits = { allOf: [change(condition), change(then)] };
    const fitsNot = { allOf: [{ not: opposite(condition) }, change(otherwise)] };
    result.allOf = [...(Array.isArray(result.allOf) ? result.allOf : []), { anyOf: [fits, fitsNot] }];
  }
  return result;
}

const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated', '$comment']);

/** Of a member: it may be anything, or must not be there. */
const asksNothing = (schema: unknown): boolean =>
  !isObject(schema) || Object.keys(schema).every((key) => annotations.has(key));

/** Types of which a schema says nothing but that they are allowed, beside others of which it says more. */
export function unspokenTypes(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  const types = impliedTypes(schema);
  const named = typesIn(schema.type);
  const silent = named?.filter((type) => !types.includes(type === 'integer' ? 'number' : type)) ?? [];
  if (types.length > 0 && silent.length > 0) return `allows the types ${silent.join(', ')} and says nothing of them`;
  if (schema.if !== undefined && schema.else === undefined)
    return 'has an "if" without "else": it allows whatever does not fit it; say "else": true where that is meant';
  if (types.length > 1 && !named) return `has keywords of several types (${types.join(', ')}) and no "type"`;
  for (const [key, member] of Object.entries(schema)) {
    const isOne = single.includes(key) || branches.includes(key);
    const inner = lists.includes(key) && Array.isArray(member) ? member : isOne ? [member] : undefined;
    const parts = inner ?? (maps.includes(key) && isObject(member) ? Object.values(member) : []);
    const found = parts.map(unspokenTypes).find((fault) => fault !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function impliedTypes(schema: Schema): string[] {
  return Object.entries(keywordsOf).flatMap(([type, keywords]) =>
    keywords.some((keyword) => Object.hasOwn(schema, keyword)) ? [type] : [],
  );
}

const typesIn = (type: unknown): string[] | undefined =>
  type === undefined ? undefined : [type].flat().filter((item): item is string => typeof item === 'string');

function commonTypes(type: unknown, implied: readonly string[]): string[] {
  const named = typesIn(type);
  return named ? named.filter((item) => implied.includes(item === 'integer' ? 'number' : item)) : [...implied];
}
