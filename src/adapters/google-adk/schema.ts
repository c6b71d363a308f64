import { isObject } from '../../base/index.ts';
import type { JsonSchema } from '../../contracts/index.ts';
import type { AdkTool } from './types.ts';

const KEPT = ['title', 'description', 'enum', 'format', 'default', 'pattern', 'minimum', 'maximum', 'required'];
/** Of these Google's dialect has text where JSON Schema has a number. */
const NUMBERS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];

/** What a tool takes, as JSON Schema; anything, where it does not say. */
export function parametersOf(tool: AdkTool): JsonSchema {
  const declared = tool._getDeclaration();
  const given = declared?.parametersJsonSchema ?? declared?.parameters;
  const schema = isObject(given) ? jsonSchemaOf(given) : {};
  return { ...schema, type: 'object' };
}

/** A schema of Google's dialect (types in capitals, `nullable`) as JSON Schema; JSON Schema stays what it is. */
export function jsonSchemaOf(schema: Record<string, unknown>): JsonSchema {
  if (!isDialect(schema)) return schema;
  const result: Record<string, unknown> = {};
  for (const key of KEPT) if (schema[key] !== undefined) result[key] = schema[key];
  for (const key of NUMBERS) if (schema[key] !== undefined) result[key] = Number(schema[key]);
  const { type, nullable, properties, items, anyOf } = schema;
  if (typeof type === 'string' && type !== 'TYPE_UNSPECIFIED') {
    result.type = nullable ? [type.toLowerCase(), 'null'] : type.toLowerCase();
  }
  if (isObject(properties)) {
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, isObject(value) ? jsonSchemaOf(value) : true]),
    );
  }
  if (isObject(items)) result.items = jsonSchemaOf(items);
  if (Array.isArray(anyOf)) result.anyOf = anyOf.map((one) => (isObject(one) ? jsonSchemaOf(one) : true));
  return result;
}

function isDialect({ type, anyOf }: Record<string, unknown>): boolean {
  return (typeof type === 'string' && type === type.toUpperCase()) || (type === undefined && Array.isArray(anyOf));
}
