import type { CedarValueJson, Type } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject } from '../../base/index.ts';
import type { JsonSchema } from '../../contracts/index.ts';

/** How values of one JSON Schema look to Cedar, which has no null, no floating point and no lists. */
export interface CedarShape {
  readonly type: Type<string>;
  /** null counts as absent. */
  readonly nullable: boolean;
  /** @throws Misfit where the value cannot be said exactly */
  encode(value: unknown, at: string): CedarValueJson;
}

/** A value that Cedar cannot be told: a policy that cannot see it must not be passed by. */
export class Misfit extends Error {}

const MAX_DEPTH = 8;
// Cedar reads objects with these members as something else than records.
const reserved = new Set(['__entity', '__extn', '__expr']);

/** `undefined`: the schema leaves open what comes, so that no policy can speak about it. */
export function shapeOf(schema: unknown, root: JsonSchema, depth = 0): CedarShape | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  if (typeof schema.$ref === 'string') return shapeOf(resolve(schema.$ref, root), root, depth + 1);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return nullableOf(branches, root, depth);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? typeOfValues(schema)];
  const others = types.filter((type) => type !== 'null');
  if (others.length !== 1) return undefined;
  const shape = plainShape(others[0], schema, root, depth);
  return shape && types.length > 1 ? { ...shape, nullable: true } : shape;
}

function nullableOf(branches: readonly unknown[], root: JsonSchema, depth: number): CedarShape | undefined {
  const others = branches.filter((branch) => !isObject(branch) || branch.type !== 'null');
  if (others.length !== 1 || others.length === branches.length) return undefined;
  const shape = shapeOf(others[0], root, depth + 1);
  return shape && { ...shape, nullable: true };
}

/** Enumerations often come without a type. */
function typeOfValues({ enum: values, const: value }: Record<string, unknown>): string | undefined {
  const all = Array.isArray(values) ? values : [value];
  return all.length > 0 && all.every((item) => typeof item === 'string') ? 'string' : undefined;
}

function plainShape(
  type: unknown,
  schema: Record<string, unknown>,
  root: JsonSchema,
  depth: number,
): CedarShape | undefined {
  switch (type) {
    case 'string':
      return leaf({ type: 'String' }, (value) => (typeof value === 'string' ? value : undefined));
    case 'boolean':
      return leaf({ type: 'Boolean' }, (value) => (typeof value === 'boolean' ? value : undefined));
    case 'integer':
      return leaf({ type: 'Long' }, (value) => (Number.isSafeInteger(value) ? (value as number) : undefined));
    case 'number':
      return leaf({ type: 'Extension', name: 'decimal' }, decimalOf);
    case 'array':
      return setOf(schema, root, depth);
    case 'object':
      return cedarRecord(schema, root, depth);
    default:
      return undefined;
  }
}

function leaf(type: Type<string>, encode: (value: unknown) => CedarValueJson | undefined): CedarShape {
  return {
    type,
    nullable: false,
    encode(value, at) {
      const encoded = encode(value);
      if (encoded === undefined) throw new Misfit(`${at} is no ${nameOf(type)} that Cedar can hold`);
      return encoded;
    },
  };
}

const nameOf = (type: Type<string>): string => ('name' in type ? type.name : type.type);

/** Four digits behind the point, no more: a rounded number could slip under a limit. */
export function decimalOf(value: unknown): CedarValueJson | undefined {
  if (typeof value !== 'number' || Math.abs(value) > 900_000_000_000_000) return undefined;
  const text = String(value === 0 ? 0 : value);
  if (!/^-?\d+(\.\d{1,4})?$/.test(text)) return undefined;
  return { __extn: { fn: 'decimal', arg: text.includes('.') ? text : `${text}.0` } };
}

function setOf({ items }: Record<string, unknown>, root: JsonSchema, depth: number): CedarShape | undefined {
  const element = shapeOf(items, root, depth + 1);
  if (!element || element.nullable) return undefined;
  return {
    type: { type: 'Set', element: element.type },
    nullable: false,
    encode(value, at) {
      if (!Array.isArray(value)) throw new Misfit(`${at} is no list`);
      return value.map((item, index) => element.encode(item, `${at}/${index}`));
    },
  };
}

/** Only declared members of a known type: nothing else can be said about a call, or be mistaken for an entity. */
export function cedarRecord(schema: Record<string, unknown>, root: JsonSchema, depth = 0): CedarShape {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, member]) => {
    const shape = reserved.has(name) ? undefined : shapeOf(member, root, depth + 1);
    return shape ? [{ name, shape, required: required.has(name) && !shape.nullable }] : [];
  });
  return {
    type: {
      type: 'Record',
      attributes: Object.fromEntries(
        members.map(({ name, shape, required: isRequired }) => [name, { ...shape.type, required: isRequired }]),
      ),
    },
    nullable: false,
    encode(value, at) {
      if (!isObject(value)) throw new Misfit(`${at} is no object`);
      const record: [string, CedarValueJson][] = [];
      for (const { name, shape, required: isRequired } of members) {
        const member = Object.hasOwn(value, name) ? value[name] : undefined;
        if (member === undefined || (member === null && shape.nullable)) {
          if (isRequired) throw new Misfit(`${at}/${name} is missing`);
        } else record.push([name, shape.encode(member, `${at}/${name}`)]);
      }
      return Object.fromEntries(record);
    },
  };
}

function resolve(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}
