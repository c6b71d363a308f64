import type { JsonSchema } from '../../contracts/index.ts';

/**
 * Whether a schema consists of nothing but the keywords that most tools use, each well formed. Such a schema is a valid
 * one of draft 2020-12: asking the meta-schema as well would compile that first, which takes as long as everything
 * else that a first call does. A no says nothing.
 */
export function isPlainSchema(schema: JsonSchema): boolean {
  return isPlain(schema, 0);
}

/** Deeper ones are left to the meta-schema. */
const MAX_DEPTH = 50;

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isAnything = (): boolean => true;

function isDistinct(list: readonly unknown[]): boolean {
  return new Set(list).size === list.length;
}

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText) && isDistinct(value);

const isType = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((one) => TYPES.has(one)) && isDistinct(value)
    : TYPES.has(value);

type Test = (value: unknown, depth: number) => boolean;

const isPlain: Test = (value, depth) => {
  if (typeof value === 'boolean') return true;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > MAX_DEPTH) return false;
  return Object.entries(value).every(([keyword, content]) => KEYWORDS.get(keyword)?.(content, depth + 1) ?? false);
};

const isPlainMap: Test = (value, depth) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => isPlain(one, depth));

const isPlainList: Test = (value, depth) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isPlain(one, depth));

const KEYWORDS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['type', isType],
  ['properties', isPlainMap],
  ['required', isTextList],
  ['additionalProperties', isPlain],
  ['items', isPlain],
  ['enum', Array.isArray],
  ['const', isAnything],
  ['default', isAnything],
  ['title', isText],
  ['description', isText],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['exclusiveMaximum', isNumber],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['uniqueItems', isFlag],
  ['anyOf', isPlainList],
  ['oneOf', isPlainList],
  ['allOf', isPlainList],
]);
