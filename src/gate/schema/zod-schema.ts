import { createRequire } from 'node:module';
import type { JsonSchema } from '../../contracts/index.ts';
import { isSchemaObject, toCommonZodForm, toDraft2020 } from './dialect.ts';

const require = createRequire(import.meta.url);

interface Zod4Shape {
  readonly _zod: unknown;
  toJSONSchema?(options: { io: 'input' }): JsonSchema;
  meta?(): Record<string, unknown> | undefined;
}

// Two copies of zod in one program are ordinary, so that instanceof would say no to half of the schemas.
const isZod4 = (schema: object): schema is Zod4Shape => '_zod' in schema;
const isZod3 = (schema: object): schema is { _def: { typeName: string } } =>
  !isZod4(schema) && '_def' in schema && isSchemaObject(schema._def) && typeof schema._def.typeName === 'string';

interface StandardJsonSchema {
  input(options: { target: 'draft-2020-12'; libraryOptions?: Record<string, unknown> | undefined }): JsonSchema;
}

const refuse = ({ code }: { code: string }) => {
  throw new Error(`a type of the sort ${JSON.stringify(code)} cannot be represented in JSON Schema`);
};

/**
 * Options that make two libraries do as the others: a rule that JSON Schema has no words for is left out of what a model
 * is shown, and the schema's own check holds the call to it; a type that JSON cannot hold is refused.
 */
const LIBRARY_OPTIONS: Readonly<Record<string, Record<string, unknown>>> = {
  valibot: { overrideAction: ({ jsonSchema }: { jsonSchema: object }) => jsonSchema },
  arktype: { fallback: { date: refuse, domain: refuse, proto: refuse, symbolKey: refuse, unit: refuse } },
};

/**
 * JSON Schema (2020-12) of what a zod schema, or another one that follows Standard JSON Schema, takes as input.
 * `undefined`: it is none of these.
 * @throws whatever the conversion throws, among others for types that JSON has no word for
 */
export function schemaLibraryToJson(schema: object): JsonSchema | undefined {
  const result = isZod4(schema) ? fromZod4(schema) : isZod3(schema) ? fromZod3(schema) : fromStandard(schema);
  if (result === undefined) return undefined;
  delete result['~standard'];
  toDraft2020(result);
  toCommonZodForm(result);
  return result;
}

function fromZod4(schema: Zod4Shape): JsonSchema {
  // The schema's own copy of zod knows its types and its registry of descriptions best.
  if (typeof schema.toJSONSchema === 'function') return plain(schema.toJSONSchema({ io: 'input' }));
  const standard = fromStandard(schema);
  if (standard) return standard;
  const { toJSONSchema } = require('zod') as typeof import('zod');
  // Early versions keep descriptions in a registry of their own, which only the instance can read.
  const metadata = { get: (node: Zod4Shape) => node.meta?.() };
  const options = { io: 'input', metadata } as unknown as Parameters<typeof toJSONSchema>[1];
  return plain((toJSONSchema as (node: unknown, options: unknown) => object)(schema, options));
}

function fromStandard(schema: object): JsonSchema | undefined {
  const standard = (schema as { '~standard'?: { vendor?: unknown; jsonSchema?: StandardJsonSchema } })['~standard'];
  if (typeof standard?.jsonSchema?.input !== 'function') return undefined;
  const vendor = String(standard.vendor);
  const libraryOptions = Object.hasOwn(LIBRARY_OPTIONS, vendor) ? LIBRARY_OPTIONS[vendor] : undefined;
  return plain(standard.jsonSchema.input({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) }));
}

const plain = (value: object): JsonSchema => JSON.parse(JSON.stringify(value)) as JsonSchema;

/** Types of zod 3 that its converter would turn into something else without a word. */
const inexpressible = new Set(
  ['Date', 'BigInt', 'Map', 'Set', 'Symbol', 'Function', 'Promise', 'Undefined', 'Void', 'NaN'].map((t) => `Zod${t}`),
);

function fromZod3(schema: object): JsonSchema {
  const { zodToJsonSchema, ignoreOverride } = require('zod-to-json-schema') as typeof import('zod-to-json-schema');
  const options: Parameters<typeof zodToJsonSchema>[1] & object = {
    effectStrategy: 'input',
    pipeStrategy: 'input',
    removeAdditionalStrategy: 'strict',
    allowedAdditionalProperties: undefined,
    override(def) {
      const { typeName } = def as unknown as { typeName: string };
      if (inexpressible.has(typeName)) throw new Error(`${typeName.slice(3)} cannot be represented in JSON Schema`);
      return ignoreOverride as never;
    },
  };
  const root = plain(zodToJsonSchema(schema as Parameters<typeof zodToJsonSchema>[0], options));
  return inlineRefs(root, root, [], []) as JsonSchema;
}

/** Replaces references to schemas used twice by copies; those of recursive schemas stay. */
function inlineRefs(node: unknown, root: JsonSchema, path: readonly string[], open: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((item, index) => inlineRefs(item, root, [...path, String(index)], open));
  if (!isSchemaObject(node)) return node;
  const ref = node.$ref;
  if (typeof ref === 'string' && (ref === '#' || ref.startsWith('#/'))) {
    const target = ref.split('/').slice(1);
    const isRecursive = open.includes(ref) || target.every((step, index) => path[index] === step);
    const found = isRecursive ? undefined : resolvePointer(root, target);
    if (found === undefined) return node;
    const { $ref: _, ...beside } = node;
    return { ...(inlineRefs(found, root, target, [...open, ref]) as JsonSchema), ...beside };
  }
  return Object.fromEntries(
    Object.entries(node).map(([key, member]) => [key, inlineRefs(member, root, [...path, key], open)]),
  );
}

function resolvePointer(root: JsonSchema, steps: readonly string[]): unknown {
  let at: unknown = root;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}
