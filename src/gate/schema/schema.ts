import { checkOptions, flag } from '../../base/index.ts';
import type { AnyAgentTool, JsonSchema, SchemaLike, ToolDescriptor } from '../../contracts/index.ts';
import { CoxswainError, copyJson, deepFreeze, messageOf } from '../../contracts/index.ts';
import { checkTool } from './check-tool.ts';
import { isSchemaObject, toDraft2020 } from './dialect.ts';
import { isSchemaValue, saysNoJsonSchema } from './library-schema.ts';
import { schemaLibraryToJson } from './zod-schema.ts';

const NO_ARGUMENTS: JsonSchema = deepFreeze({ type: 'object', properties: {} });

const converted = new WeakMap<object, JsonSchema>();
const rooted = new WeakMap<object, JsonSchema>();

export interface ToJsonSchemaOptions {
  /** Accept schemas of values other than objects (outputs). Default false. */
  anyRoot?: boolean;
}

/**
 * The JSON Schema (2020-12, without `$schema`, frozen) of a zod 3, zod 4, Standard JSON Schema or JSON Schema
 * value: descriptions, enums, records, arrays, defaults and optional members come out the same from either zod. It
 * describes the input, before transforms. `undefined` takes no arguments. Converted once for each schema object;
 * defaults that are functions are evaluated then.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA` for types that JSON cannot hold, values that are no schema,
 *   and roots other than an object
 */
export function toJsonSchema(schema: SchemaLike | undefined, options: ToJsonSchemaOptions = {}): JsonSchema {
  if (schema === undefined) return NO_ARGUMENTS;
  checkOptions<ToJsonSchemaOptions>(options, 'toJsonSchema: options', { anyRoot: flag });
  if (!isSchemaValue(schema) || isList(schema)) {
    throw schemaError('a schema is a zod schema, another Standard Schema or a JSON Schema object');
  }
  const cached = (options.anyRoot ? converted : rooted).get(schema);
  if (cached) return cached;
  const result = converted.get(schema) ?? deepFreeze(convert(schema));
  converted.set(schema, result);
  if (options.anyRoot) return result;
  const objectSchema = withObjectRoot(result);
  rooted.set(schema, objectSchema);
  return objectSchema;
}

/** A proxy that was revoked is no schema either. */
function isList(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return true;
  }
}

function convert(schema: object): JsonSchema {
  try {
    const fromLibrary = schemaLibraryToJson(schema);
    if (fromLibrary) return fromLibrary;
    if ('~standard' in schema) throw schemaError(saysNoJsonSchema(schema));
    if (typeof schema === 'function') throw schemaError('this function is no schema');
    const copy = copyJson(schema, 'schema') as JsonSchema;
    toDraft2020(copy);
    return Object.keys(copy).length === 0 ? NO_ARGUMENTS : copy;
  } catch (error) {
    throw schemaError(messageOf(error), error);
  }
}

function withObjectRoot(schema: JsonSchema): JsonSchema {
  if (schema.type === 'object') return schema;
  if (!acceptsObjects(schema, schema)) {
    throw schemaError(`the root must be an object, not ${JSON.stringify(schema.type ?? 'anything')}`);
  }
  return deepFreeze({ ...schema, type: 'object' });
}

const objectKeywords = ['properties', 'patternProperties', 'additionalProperties', 'required', 'propertyNames'];

function acceptsObjects(schema: unknown, root: JsonSchema, seen = new Set<unknown>()): boolean {
  if (!isSchemaObject(schema) || seen.has(schema)) return false;
  seen.add(schema);
  if (Array.isArray(schema.type)) return schema.type.includes('object');
  if (schema.type !== undefined) return schema.type === 'object';
  if (objectKeywords.some((key) => key in schema)) return true;
  const branches = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (Array.isArray(branches)) return branches.some((branch) => acceptsObjects(branch, root, seen));
  const definition = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(schema.$ref ?? ''));
  if (!definition) return schema.$ref === '#';
  const definitions = root[definition[1] ?? ''];
  const target = isSchemaObject(definitions) ? definitions[definition[2] ?? ''] : undefined;
  return target !== schema && isSchemaObject(target) && target.$ref === undefined && acceptsObjects(target, root, seen);
}

function schemaError(message: string, cause?: unknown): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_SCHEMA', message, { cause });
}

const described = new WeakMap<AnyAgentTool, ToolDescriptor>();

/**
 * What a tool is, without what it does: JSON-serialisable, frozen, made once for each tool. `parametersSchema` is
 * read as the older name of `inputSchema`.
 * @throws CoxswainError `INVALID_ARGUMENT / E_SCHEMA | E_BAD_INPUT`, naming the tool
 */
export function describeTool(tool: AnyAgentTool): ToolDescriptor {
  const cached = described.get(tool);
  if (cached) return cached;
  checkTool(tool);
  const descriptor: ToolDescriptor = {
    name: tool.name,
    description: tool.description,
    inputSchema: schemaOf(tool, 'inputSchema', tool.inputSchema ?? tool.parametersSchema),
  };
  if (tool.displayName !== undefined) descriptor.displayName = tool.displayName;
  if (tool.outputSchema !== undefined) {
    descriptor.outputSchema = schemaOf(tool, 'outputSchema', tool.outputSchema, { anyRoot: true });
  }
  if (tool.kind !== undefined) descriptor.kind = tool.kind;
  if (tool.annotations !== undefined) descriptor.annotations = copyJson(tool.annotations, 'annotations');
  if (tool._meta !== undefined) descriptor._meta = copyJson(tool._meta, '_meta');
  deepFreeze(descriptor);
  described.set(tool, descriptor);
  return descriptor;
}

function schemaOf(tool: AnyAgentTool, field: string, schema: SchemaLike | undefined, options?: ToJsonSchemaOptions) {
  try {
    return toJsonSchema(schema, options);
  } catch (error) {
    throw schemaError(`tool "${tool.name}": ${field}: ${messageOf(error)}`, error);
  }
}
